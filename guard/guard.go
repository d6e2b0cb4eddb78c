package guard

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"loginguard/keys"
	"loginguard/store"
)

// What becomes of an attempt that the store could not decide.
const (
	FailClosed = "closed" // denied with 503
	FailOpen   = "open"   // allowed, marked as degraded
	FailLocal  = "local"  // decided on buckets of this process
)

// Options sets up a [Guard]. The zero value is ready for use.
type Options struct {
	// MaxInFlight bounds the attempts and reports in progress; one more is
	// answered 503 at once. 2048 when 0.
	MaxInFlight int

	// OnFailure is what happens without the store on routes that do not say
	// so themselves. FailClosed when "".
	OnFailure string

	// Observer is told what happens; nil for nobody.
	Observer Observer

	// Jitter returns a number in [0, 1) that spreads retries. Random when nil.
	Jitter func() float64

	// LocalKeys bounds the buckets of FailLocal; store.DefaultMaxKeys when 0.
	LocalKeys int

	// Denials is how many buckets found dry, and accounts found closed, are
	// remembered, so that a flood at them is denied without the store for up to
	// a second; 0 for none.
	Denials int

	// StoreChanged is told when the store is found to be down or up again;
	// nil for nobody. It must not block.
	StoreChanged func(up bool)

	// ProbeEvery is how often the store is probed in the background for
	// [Guard.StoreUp]; a second when 0.
	ProbeEvery time.Duration

	// CensusEvery is how often the global limits are read in the background
	// for the observer; 10 seconds when 0. The first reading is after a tenth
	// of it.
	CensusEvery time.Duration

	// Quiet starts nothing in the background: the store is not probed, and
	// nobody looks for attempts that were not reported. It is for a guard that
	// runs over a log, on a store in the process and on the log's own clock.
	Quiet bool
}

// Guard decides attempts. It is safe for concurrent use; [Guard.Close] stops
// its goroutines.
type Guard struct {
	store  store.Store
	local  store.Store // buckets of FailLocal, kept between outages
	ring   *keys.Ring
	rules  atomic.Pointer[Rules]
	o      Options
	slots  chan struct{}
	watch  *watch
	health health

	denials *denials

	breaker *breaker

	stop context.CancelFunc
	done sync.WaitGroup
}

// New returns a guard over a store, and starts the probe of the store and the
// search for attempts that nobody reported.
func New(s store.Store, ring *keys.Ring, rules Rules, o Options) *Guard {
	if o.MaxInFlight <= 0 {
		o.MaxInFlight = 2048
	}
	if o.OnFailure == "" {
		o.OnFailure = FailClosed
	}
	if o.Observer == nil {
		o.Observer = nobody{}
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	if o.ProbeEvery <= 0 {
		o.ProbeEvery = time.Second
	}
	if o.CensusEvery <= 0 {
		o.CensusEvery = 10 * time.Second
	}
	ctx, cancel := context.WithCancel(context.Background())
	g := &Guard{
		store: s, local: store.NewMemory(store.MemoryOptions{MaxKeys: o.LocalKeys, Unswept: o.Quiet}), ring: ring,
		o: o, slots: make(chan struct{}, o.MaxInFlight), watch: newWatch(), stop: cancel,
		denials: newDenials(o.Denials),
	}
	g.health.told = o.StoreChanged
	g.health.since, g.health.up, g.health.changed = time.Now(), true, make(chan struct{}, 1)
	g.breaker = newBreaker(func(open bool) {
		g.health.set(!open, time.Now())
		select {
		case g.health.changed <- struct{}{}:
		default: // the probe has not heard of the last change yet
		}
	})
	g.rules.Store(&rules)
	if !o.Quiet {
		g.done.Go(func() { g.probe(ctx) })
		g.done.Go(func() { g.search(ctx) })
		g.done.Go(func() { g.census(ctx) })
	}
	return g
}

// Swap puts new rules in force in one step. Calls in progress end under the
// rules they began with, and so do those whose context has rules of its own:
// see [WithRules].
func (g *Guard) Swap(r Rules) {
	g.rules.Store(&r)
	g.denials.clear()
}

// Rules returns the rules in force.
func (g *Guard) Rules() Rules { return *g.rules.Load() }

// Close stops the background work. It leaves the store open.
func (g *Guard) Close() {
	g.stop()
	g.done.Wait()
	_ = g.local.Close() // a memory store's Close does not fail
}

// enter takes a place among the requests in progress, if there is one.
func (g *Guard) enter() bool {
	select {
	case g.slots <- struct{}{}:
		return true
	default:
		return false
	}
}

func (g *Guard) leave() { <-g.slots }

// InFlight returns how many checks and reports are in progress; at
// Options.MaxInFlight one more is answered 503.
func (g *Guard) InFlight() int { return len(g.slots) }

// nobody is the Observer of a guard that has none.
type nobody struct{}

func (nobody) Decided(string, string, Decision)        {}
func (nobody) WouldDeny(string, string)                {}
func (nobody) Reported(string, bool)                   {}
func (nobody) Unreported(string, int)                  {}
func (nobody) StoreCall(string, time.Duration, string) {}
func (nobody) WouldDenyThenSuccess(string, string)     {}
func (nobody) Exempt(string)                           {}
func (nobody) FirstStrike(string, string, string)      {}
func (nobody) Counted(string, Census)                  {}
