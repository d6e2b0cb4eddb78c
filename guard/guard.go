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

	// StoreChanged is told when the store is found to be down or up again;
	// nil for nobody. It must not block.
	StoreChanged func(up bool)

	// ProbeEvery is how often the store is probed in the background for
	// [Guard.StoreUp]; a second when 0.
	ProbeEvery time.Duration
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
	ctx, cancel := context.WithCancel(context.Background())
	g := &Guard{
		store: s, local: store.NewMemory(store.MemoryOptions{MaxKeys: o.LocalKeys}), ring: ring,
		o: o, slots: make(chan struct{}, o.MaxInFlight), watch: newWatch(), stop: cancel,
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
	g.done.Go(func() { g.probe(ctx) })
	g.done.Go(func() { g.search(ctx) })
	return g
}

// Swap puts new rules in force in one step. Attempts in progress end under the
// rules they began with.
func (g *Guard) Swap(r Rules) { g.rules.Store(&r) }

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

// nobody is the Observer of a guard that has none.
type nobody struct{}

func (nobody) Decided(string, string, Decision)        {}
func (nobody) WouldDeny(string, string)                {}
func (nobody) Reported(string, bool)                   {}
func (nobody) Unreported(string, int)                  {}
func (nobody) StoreCall(string, time.Duration, string) {}
