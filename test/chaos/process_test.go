package chaos

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"loginguard/test/internal/client"
	"loginguard/test/internal/service"
)

// realBudget gives a service the store's budget that operators get.
var realBudget = []string{"LOGINGUARD_STORE_TIMEOUT=50ms"}

const (
	// answerWithin is what a login may be made to wait when the store is gone.
	answerWithin = 500 * time.Millisecond

	// backWithin is how long a service may take to decide again once its store
	// can.
	backWithin = time.Second
)

// roomy is a configuration in which nothing but what a test asks about runs
// dry.
const roomy = `
limits:
  network:
    host: {capacity: 1000000, refill: 1000000/1h, max_capacity: 1000000}
    site: {capacity: 1000000, refill: 1000000/1h, max_capacity: 1000000}
    subnet: {capacity: 1000000, refill: 1000000/1h, max_capacity: 1000000}
  global: {capacity: 1000000, refill: 1000000/1h, max_capacity: 1000000}
server: {max_in_flight: 4096}
`

// address returns the i-th of 65,536 addresses, each in a /24 of its own.
func address(i int) string { return fmt.Sprintf("20.%d.%d.7", i>>8&255, i&255) }

// load asks a service for attempts at a steady rate, each on an account of its
// own, and judges every answer: one that is no allowance must be a 503 with a
// wait, within the time that a login may be held up.
type load struct {
	t        *testing.T
	s        *service.Service
	last     atomic.Int64 // moment of the last allowance, in nanoseconds since 1970
	firstNew atomic.Int64 // moment of the first allowance since mark
	allowed  atomic.Int64
	busy     atomic.Int64
	slowest  atomic.Int64

	meter *meter
	mu    sync.Mutex
	slow  []span // answers that took longer than they may
	no    []span // answers that there is no store

	stop chan struct{}
	once sync.Once
	all  sync.WaitGroup
}

// begin starts the load, at so many checks a second, of at most so many at a
// time.
func begin(t *testing.T, s *service.Service, rate, workers int) *load {
	t.Helper()
	l := &load{t: t, s: s, stop: make(chan struct{}), meter: measure(t, s)}
	t.Cleanup(l.quit)
	next := make(chan int, workers)
	l.all.Go(func() {
		defer close(next)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		started, sent := time.Now(), 0
		for {
			select {
			case <-l.stop:
				return
			case now := <-tick.C:
				for due := int(now.Sub(started).Seconds() * float64(rate)); sent < due; sent++ {
					select {
					case next <- sent:
					default: // all are waiting for answers: the rate is what it can be
					}
				}
			}
		}
	})
	for range workers {
		l.all.Go(func() {
			for i := range next {
				l.judge(s.Check(client.Attempt{Account: fmt.Sprint("account", i), IP: address(i)}))
			}
		})
	}
	return l
}

// judge checks one answer.
func (l *load) judge(d client.Decision) {
	now := time.Now().UnixNano()
	for old := l.slowest.Load(); int64(d.Took) > old && !l.slowest.CompareAndSwap(old, int64(d.Took)); old = l.slowest.Load() {
	}
	if d.Took > answerWithin {
		end := time.Unix(0, now)
		l.mu.Lock()
		l.slow = append(l.slow, span{end.Add(-d.Took), end})
		l.mu.Unlock()
	}
	switch {
	case d.Allowed() && !d.Degraded:
		l.allowed.Add(1)
		l.last.Store(now)
		l.firstNew.CompareAndSwap(0, now)
	case unavailable(d) == nil:
		l.busy.Add(1)
		end := time.Unix(0, now)
		l.mu.Lock()
		l.no = append(l.no, span{end.Add(-d.Took), end})
		l.mu.Unlock()
	default:
		l.t.Errorf("%v", unavailable(d))
	}
}

// nearlyAll returns within what 99 of 100 answers without a store came, of
// those to questions asked after a moment.
func (l *load) nearlyAll(after time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	var took []time.Duration
	for _, s := range l.no {
		if s.begin.After(after) {
			took = append(took, s.end.Sub(s.begin))
		}
	}
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}

// unavailable checks the answer that a check gets without a store.
func unavailable(d client.Decision) error {
	wait, err := strconv.Atoi(d.Header.Get("Retry-After"))
	if d.Status != http.StatusServiceUnavailable || err != nil || wait < 1 || wait > 3600 || wait != d.RetryAfter {
		return fmt.Errorf("status %d, Retry-After %q, want 503 with a wait: %s", d.Status, d.Header.Get("Retry-After"), d.Body)
	}
	if d.Reason != "store_unavailable" && d.Reason != "overloaded" {
		return fmt.Errorf("503 for the reason %q: %s", d.Reason, d.Body)
	}
	return nil
}

// mark forgets when attempts were allowed so far.
func (l *load) mark() { l.firstNew.Store(0) }

// back waits until an attempt is allowed after mark.
func (l *load) back() time.Time {
	l.t.Helper()
	service.Await(l.t, 30*time.Second, "an attempt to be allowed again", func() bool { return l.firstNew.Load() != 0 })
	return time.Unix(0, l.firstNew.Load())
}

// recovers waits until an attempt is allowed again, which must be soon after
// the moment at which the store could decide.
func (l *load) recovers(from time.Time, what string) {
	l.t.Helper()
	l.mark()
	again := span{from, l.back()}
	if took := again.end.Sub(from); l.meter.late(again, backWithin) {
		l.t.Errorf("%s: allowed again after %v, want at most %v", what, took, backWithin)
	} else {
		l.t.Logf("%s: allowed again after %v", what, took)
	}
}

// quit stops the load, once; a test that fails half-way leaves it to the
// cleanup.
func (l *load) quit() {
	l.once.Do(func() {
		close(l.stop)
		l.all.Wait()
		l.meter.end()
	})
}

// end stops the load and judges its answers.
func (l *load) end() {
	l.t.Helper()
	l.quit()
	late := 0
	for _, s := range l.slow {
		if l.meter.late(s, answerWithin) {
			late++
		}
	}
	if late > 0 {
		l.t.Errorf("%d answers took longer than %v, the slowest %v", late, answerWithin, time.Duration(l.slowest.Load()))
	}
	l.t.Logf("%d allowed, %d answered 503, the slowest in %v", l.allowed.Load(), l.busy.Load(), time.Duration(l.slowest.Load()))
}

// working waits until a service that nothing is wrong with decides.
func working(t *testing.T, services ...*service.Service) {
	t.Helper()
	for _, s := range services {
		service.Await(t, 30*time.Second, "an attempt to be decided", func() bool {
			return s.Check(client.Attempt{Account: "warm", IP: "198.51.100.1", Route: "mfa", ID: "again"}).Status != http.StatusServiceUnavailable
		})
	}
}
