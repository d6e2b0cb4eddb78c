package handlers

import "time"

// exhaustion is a time in which the global limit of a realm denies.
type exhaustion struct{ began, last time.Time }

// exhaustionQuiet is how long nobody must have been denied for an exhaustion
// to be over. The limit gives a token back every few seconds, which the next
// stranger uses up: that is no end.
const exhaustionQuiet = time.Minute

// globalDenied notes that the global limit of a realm denied an attempt. The
// first one is told, the others are not: under a flood there is one a moment.
func (e *Events) globalDenied(realm string, now time.Time) {
	e.mu.Lock()
	x, on := e.exhausted[realm]
	if on {
		x.last = now
	} else {
		e.exhausted[realm] = &exhaustion{now, now}
	}
	e.mu.Unlock()
	if on {
		return
	}
	e.after(exhaustionQuiet, func() { e.globalQuiet(realm, time.Now()) })
	e.pass(EventGlobalExhausted, now, exhaustedData{Realm: realm, State: "began"})
	e.log.Warn().Str("event", EventGlobalExhausted).Str("realm", realm).Str("state", "began").
		Msg("the global limit is used up: attempts from places unfamiliar to their accounts are denied")
}

// globalQuiet ends the exhaustion of a realm unless it denied just now; then
// it looks again.
func (e *Events) globalQuiet(realm string, now time.Time) {
	e.mu.Lock()
	x, on := e.exhausted[realm]
	if !on {
		e.mu.Unlock()
		return
	}
	if rest := exhaustionQuiet - now.Sub(x.last); rest > 0 {
		e.mu.Unlock()
		e.after(rest, func() { e.globalQuiet(realm, time.Now()) })
		return
	}
	delete(e.exhausted, realm)
	lasted := x.last.Sub(x.began)
	e.mu.Unlock()
	e.pass(EventGlobalExhausted, now, exhaustedData{realm, "ended", lasted.Seconds()})
	e.log.Info().Str("event", EventGlobalExhausted).Str("realm", realm).Str("state", "ended").
		Float64("lasted_seconds", lasted.Seconds()).Msg("the global limit denies nobody any more")
}

// StoreChanged tells that the store is down or up again; onFailure is what
// becomes of attempts while it is down.
func (e *Events) StoreChanged(up bool, onFailure string) { e.storeChanged(up, onFailure, time.Now()) }

func (e *Events) storeChanged(up bool, onFailure string, now time.Time) {
	e.mu.Lock()
	var lasted time.Duration
	switch {
	case !up:
		e.down = now
	case !e.down.IsZero():
		lasted, e.down = now.Sub(e.down), time.Time{}
	}
	e.mu.Unlock()
	if !up {
		e.pass(EventStoreDown, now, storeData{OnFailure: onFailure})
		e.log.Warn().Str("event", EventStoreDown).Str("on_failure", onFailure).
			Msg("the store does not answer: attempts are decided by on_failure until it does")
		return
	}
	e.pass(EventStoreUp, now, storeData{Lasted: lasted.Seconds()})
	e.log.Info().Str("event", EventStoreUp).Float64("lasted_seconds", lasted.Seconds()).Msg("the store answers again")
}
