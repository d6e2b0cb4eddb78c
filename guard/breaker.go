package guard

import (
	"context"
	"errors"
	"time"

	"github.com/sony/gobreaker/v2"

	"loginguard/store"
)

const (
	// breakerTrips is how many calls in a row must fail before the store is
	// not asked any more. Fewer, and a burst that briefly starves the process
	// would look like an outage; more, and a hanging store is felt longer.
	breakerTrips = 20

	// breakerProbe is how often the store is probed while it is not asked, so
	// that attempts are decided again well within a second of its return.
	breakerProbe = 200 * time.Millisecond
)

// StoreClasses are the words by which an [Observer] is told why a call of the
// store failed.
var StoreClasses = store.Classes

// errNotAsked is the failure of a call that was not made, because the store
// has just failed many in a row.
var errNotAsked = errors.New("the store is not asked until it answers a probe")

// breaker keeps attempts from waiting for a store that is known to be down.
// Only the background probe finds out that it is back: no user's attempt is
// spent on trying.
type breaker struct {
	b *gobreaker.TwoStepCircuitBreaker[struct{}]
}

func newBreaker(changed func(open bool)) *breaker {
	return &breaker{gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		Timeout:      breakerProbe / 2,
		ReadyToTrip:  func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= breakerTrips },
		IsSuccessful: func(err error) bool { return !outage(err) },
		OnStateChange: func(_ string, _, to gobreaker.State) {
			if to != gobreaker.StateHalfOpen {
				changed(to == gobreaker.StateOpen)
			}
		},
	})}
}

// outage reports whether a failure is one of the store as a whole. One of a
// single key, which another account does not have, must not close the login
// for all.
func outage(err error) bool {
	switch store.Class(err) {
	case "", "corrupt", "wrongtype", "full", "crossslot":
		return false
	}
	return true
}

// closed reports whether attempts may ask the store.
func (b *breaker) closed() bool { return b.b.State() == gobreaker.StateClosed }

// ask runs f unless the store is known to be down.
func (b *breaker) ask(f func() error) error {
	if !b.closed() {
		return errNotAsked
	}
	return b.probe(f)
}

// probe runs f, and lets its result open or close the breaker. While it is
// open, most probes are not run: the next one is due soon.
func (b *breaker) probe(f func() error) error {
	done, err := b.b.Allow()
	if err != nil {
		return errNotAsked
	}
	err = f()
	done(err)
	return err
}

// call runs one call of the store and tells the observer. The store keeps its
// own time budget; a client that hangs up does not end the call, or its hurry
// would look like a failure of the store.
func call[T any](ctx context.Context, g *Guard, op string, f func(context.Context) (T, error)) (v T, err error) {
	err = g.breaker.ask(func() error {
		begin := time.Now()
		var failed error
		v, failed = f(context.WithoutCancel(ctx))
		g.o.Observer.StoreCall(op, time.Since(begin), store.Class(failed))
		return failed
	})
	return v, err
}
