package handlers

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"loginguard/guard"
)

var _ guard.Observer = (*Metrics)(nil)

// Decided implements guard.Observer: an attempt was decided.
func (m *Metrics) Decided(realm, route string, d guard.Decision) {
	limit := d.Limit
	if limit == "" {
		limit = d.Reason
	}
	m.decisions.WithLabelValues(realm, route, string(d.Verdict), limit, d.Level).Inc()
	if d.Recalled {
		m.recalled.WithLabelValues(d.Limit, d.Level).Inc()
	}
	if d.Degraded {
		m.degraded.WithLabelValues(realm, route).Inc()
	}
	if d.Limit == "global" && d.Verdict == guard.Deny {
		m.tell(func(e *Events) { e.globalDenied(realm, time.Now()) })
	}
}

// WouldDeny implements guard.Observer: a log-only limit would have denied.
func (m *Metrics) WouldDeny(limit, level string) {
	m.wouldDeny.WithLabelValues(limit, level).Inc()
}

// WouldDenyThenSuccess implements guard.Observer: the one whom a log-only limit
// would have denied was right.
func (m *Metrics) WouldDenyThenSuccess(limit, level string) {
	m.wouldDenyRight.WithLabelValues(limit, level).Inc()
}

// Exempt implements guard.Observer: an attempt came from an exempt address.
func (m *Metrics) Exempt(realm string) { m.exempt.WithLabelValues(realm).Inc() }

// FirstStrike implements guard.Observer: an account ran dry.
func (m *Metrics) FirstStrike(realm, account, client string) {
	m.tell(func(e *Events) { e.firstStrike(realm, account, client, time.Now()) })
}

// Counted implements guard.Observer: the global limit of a realm was read.
func (m *Metrics) Counted(realm string, c guard.Census) { m.census.set(realm, c, time.Now()) }

// Delivery counts a request to the webhook by what became of it.
func (m *Metrics) Delivery(result string) { m.deliveries.WithLabelValues(m.results.word(result)).Inc() }

// tell hands an event on, once there is somebody to hand it to.
func (m *Metrics) tell(f func(*Events)) {
	if e := m.events.Load(); e != nil {
		f(e)
	}
}

// Reported implements guard.Observer: a report was valid. One that came before
// counts as repeated, so that the outcomes add up to the attempts.
func (m *Metrics) Reported(outcome string, applied bool) {
	if !applied {
		outcome = "repeated"
	}
	m.reports.WithLabelValues(outcome).Inc()
}

// StoreCall implements guard.Observer: the store was called, and failed with
// the class unless that is "".
func (m *Metrics) StoreCall(op string, d time.Duration, class string) {
	m.storeDuration.WithLabelValues(m.ops.word(op)).Observe(d.Seconds())
	if class != "" {
		m.storeErrors.WithLabelValues(m.classes.word(class)).Inc()
	}
}

// Unreported implements guard.Observer: n attempts of the caller ended without
// a report. The first time is a warning at once, since a new integration that
// only checks works well until its owners are locked out; then one an hour.
func (m *Metrics) Unreported(caller string, n int) {
	if n <= 0 {
		return
	}
	m.unreported.WithLabelValues(caller).Add(float64(n))
	m.silence.unreported(caller, n, time.Now())
}

// warnEvery is the shortest time between two warnings about one caller.
const warnEvery = time.Hour

// silences says when which caller was last warned about. It holds an entry per
// configured caller.
type silences struct {
	log atomic.Pointer[zerolog.Logger]

	mu      sync.Mutex
	callers map[string]*silence
}

type silence struct {
	warned  time.Time
	pending int // attempts since the last warning
}

func (s *silences) unreported(caller string, n int, now time.Time) {
	s.mu.Lock()
	c := s.callers[caller]
	if c == nil {
		c = &silence{}
		if s.callers == nil {
			s.callers = make(map[string]*silence)
		}
		s.callers[caller] = c
	}
	c.pending += n
	if !c.warned.IsZero() && now.Sub(c.warned) < warnEvery {
		s.mu.Unlock()
		return
	}
	n, c.pending, c.warned = c.pending, 0, now
	s.mu.Unlock()

	s.log.Load().Warn().Str("caller", caller).Int("attempts", n).
		Msg("attempts were not reported in their lifetime and stay charged: this caller must report every outcome, " +
			"or the owners of its accounts are locked out after ten sign-ins")
}

// closedSet keeps the values of a label few, should the other side ever send
// what it did not promise: the first ones are kept, all others are "other".
type closedSet struct {
	mu    sync.RWMutex
	words map[string]bool
}

// maxWords is more than there are operations or error classes of a store.
const maxWords = 32

func (c *closedSet) word(w string) string {
	c.mu.RLock()
	known, n := c.words[w], len(c.words)
	c.mu.RUnlock()
	if known {
		return w
	}
	if n >= maxWords {
		return "other"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.words == nil {
		c.words = make(map[string]bool)
	}
	if len(c.words) >= maxWords && !c.words[w] {
		return "other"
	}
	c.words[w] = true
	return w
}
