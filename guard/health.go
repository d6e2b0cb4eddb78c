package guard

import (
	"context"
	"sync"
	"time"

	"loginguard/store"
)

// healthSteps is how many probes in a row must agree before the state changes,
// so that one lost packet does not take every instance out of service.
const healthSteps = 2

// health is what the background probe knows of the store.
type health struct {
	mu    sync.Mutex
	up    bool
	since time.Time
	other int // probes in a row that disagree with up

	changed chan struct{} // told when the breaker opens or closes
	told    func(up bool) // told when up changes; nil for nobody
}

// StoreUp tells whether the store answers, and since when it does or does not.
func (g *Guard) StoreUp() (up bool, since time.Time) {
	g.health.mu.Lock()
	defer g.health.mu.Unlock()
	return g.health.up, g.health.since
}

// note takes the result of one probe.
func (h *health) note(ok bool, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if ok == h.up {
		h.other = 0
		return
	}
	if h.other++; h.other >= healthSteps {
		h.change(ok, now)
	}
}

// set notes a change that needs no second opinion.
func (h *health) set(up bool, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.other = 0; up != h.up {
		h.change(up, now)
	}
}

// change notes a new state. The caller holds the lock.
func (h *health) change(up bool, now time.Time) {
	h.up, h.since, h.other = up, now, 0
	if h.told != nil {
		h.told(up)
	}
}

// probe asks the store again and again until the guard is closed: every
// ProbeEvery, and more often while attempts are not decided for its failure.
func (g *Guard) probe(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-g.health.changed:
			// The next probe is due sooner, or not so soon.
			timer.Reset(g.untilProbe())
			continue
		case <-timer.C:
		}
		_ = g.breaker.probe(func() error {
			begin := time.Now()
			err := g.store.Ping(ctx)
			if ctx.Err() == nil {
				g.o.Observer.StoreCall("probe", time.Since(begin), store.Class(err))
				g.health.note(err == nil, time.Now())
			}
			return err
		})
		timer.Reset(g.untilProbe())
	}
}

// untilProbe returns the time until the next probe.
func (g *Guard) untilProbe() time.Duration {
	if g.breaker.closed() {
		return g.o.ProbeEvery
	}
	return min(g.o.ProbeEvery, breakerProbe)
}
