package handlers

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
)

// The kinds of events: the values of the field "event" in the log and, behind
// "login.", of "type" in what the webhook is sent. They are stable.
const (
	EventAttemptDenied   = "attempt_denied"       // an attempt was denied, for whatever reason
	EventGlobalExhausted = "global_exhausted"     // the global limit of a realm began to deny, or has ended to
	EventFirstStrike     = "account_first_strike" // an account's own limit ran dry for the first time in a while
	EventOverrideExpired = "override_expired"     // an override is not in force any more
	EventStoreDown       = "store_down"
	EventStoreUp         = "store_up"
)

// EventKinds returns the kinds of events, in the order of their documentation.
func EventKinds() []string {
	return []string{EventAttemptDenied, EventGlobalExhausted, EventFirstStrike, EventOverrideExpired, EventStoreDown, EventStoreUp}
}

// Hook passes events on to another service. *webhook.Sender has a Send that
// fits.
type Hook struct {
	// Send is given one event. It must not block, and reports whether it took
	// the event.
	Send func(kind string, at time.Time, data any) bool

	Kinds []string // to pass on, of [EventKinds]
}

// Events tells the log, and perhaps a [Hook], what an operator wants to know
// at once. Each event is one line, with a field "event"; under a flood only
// some are, and the next line says how many were left out. Accounts appear as
// their keyed hash.
//
// It is safe for concurrent use, and what it remembers is an entry per realm.
type Events struct {
	log     zerolog.Logger
	hook    Hook
	metrics atomic.Pointer[Metrics] // nil until attached

	strikes sampler
	after   func(time.Duration, func()) // time.AfterFunc, but for tests

	mu        sync.Mutex
	exhausted map[string]*exhaustion // by realm
	down      time.Time              // since when the store is, zero while it is up
}

// NewEvents returns events that go to the log and, unless hook is nil, to it.
func NewEvents(log zerolog.Logger, hook *Hook) *Events {
	e := &Events{
		log: log, strikes: sampler{perSecond: linesPerSecond}, exhausted: make(map[string]*exhaustion),
		after: func(d time.Duration, f func()) { time.AfterFunc(d, f) },
	}
	if hook != nil {
		e.hook = *hook
	}
	return e
}

func (e *Events) attach(m *Metrics) { e.metrics.Store(m) }

// wants reports whether events of a kind are passed on.
func (e *Events) wants(kind string) bool { return slices.Contains(e.hook.Kinds, kind) }

// pass hands an event on, and counts it when there was no room for it.
func (e *Events) pass(kind string, at time.Time, data any) {
	if e.wants(kind) && !e.hook.Send("login."+kind, at, data) {
		e.dropped(kind)
	}
}

// dropped counts an event that was left out.
func (e *Events) dropped(kind string) {
	if m := e.metrics.Load(); m != nil {
		m.eventsDropped.WithLabelValues(kind).Inc()
	}
}

// The data of the events, as the webhook is sent them. Their members are
// stable; new ones may come.
type (
	deniedData struct {
		Realm       string `json:"realm,omitempty"`
		Route       string `json:"route,omitempty"`
		Caller      string `json:"caller,omitempty"`
		Limit       string `json:"limit,omitempty"`
		Level       string `json:"level,omitempty"`
		Reason      string `json:"reason,omitempty"` // store_unavailable or overloaded
		Client      string `json:"client,omitempty"`
		AccountHash string `json:"account_hash,omitempty"`
		RequestID   string `json:"request_id"`
		Dropped     int64  `json:"dropped,omitempty"` // denials since the last event that were not told
	}
	exhaustedData struct {
		Realm  string  `json:"realm"`
		State  string  `json:"state"`                    // began or ended
		Lasted float64 `json:"lasted_seconds,omitempty"` // from the first denial to the last, when ended
	}
	strikeData struct {
		Realm       string `json:"realm"`
		AccountHash string `json:"account_hash"`
		Client      string `json:"client,omitempty"`
		Dropped     int64  `json:"dropped,omitempty"`
	}
	expiredData struct {
		Limit   string `json:"limit"`
		Level   string `json:"level,omitempty"`
		Reason  string `json:"reason"`
		Expires string `json:"expires"` // the last day, UTC
	}
	storeData struct {
		OnFailure string  `json:"on_failure,omitempty"`     // what happens to attempts meanwhile
		Lasted    float64 `json:"lasted_seconds,omitempty"` // of the outage, when it is over
	}
)

// denied passes a denial on; its line in the log is the one of its request.
func (e *Events) denied(r *record, at time.Time, dropped int64) {
	e.pass(EventAttemptDenied, at, deniedData{
		Realm: r.realm, Route: r.route, Caller: r.caller, Limit: r.limit, Level: r.level, Reason: r.reason,
		Client: r.client, AccountHash: r.account, RequestID: r.id, Dropped: dropped,
	})
}

// firstStrike tells that an account ran dry for the first time in a while:
// somebody guesses at it, or its owner has forgotten the password.
func (e *Events) firstStrike(realm, account, client string, at time.Time) {
	ok, dropped := e.strikes.take(at)
	if !ok {
		e.dropped(EventFirstStrike)
		return
	}
	e.pass(EventFirstStrike, at, strikeData{Realm: realm, AccountHash: account, Client: client, Dropped: dropped})
	l := e.log.Info().Str("event", EventFirstStrike)
	// As in the line of a denial, the address is the first that is not a
	// fixed word.
	word(l, "client", client)
	word(l, "account_hash", account)
	l.Str("realm", realm)
	if dropped > 0 {
		l.Int64("lines_dropped", dropped)
	}
	l.Msg("an account has used up its own attempts")
}

// OverrideExpired tells that an override is not in force any more. limit,
// level, reason and expires are those of the configuration.
func (e *Events) OverrideExpired(limit, level, reason, expires string) {
	e.pass(EventOverrideExpired, time.Now(), expiredData{limit, level, reason, expires})
	l := e.log.Warn().Str("event", EventOverrideExpired).Str("limit", limit)
	word(l, "network_level", level)
	l.Str("reason", reason).Str("expires", expires).Msg("an override has expired and is ignored")
}
