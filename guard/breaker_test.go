package guard

import (
	"fmt"
	"testing"
	"time"

	"loginguard/store"
)

// back lets the store answer again and waits until attempts are decided by it:
// the background probe must find out by itself.
func (b *bench) back(s *broken) {
	b.t.Helper()
	s.fail(nil)
	for end := time.Now().Add(10 * time.Second); !b.breaker.closed(); {
		if time.Now().After(end) {
			b.t.Fatal("the store is back, and still not asked")
		}
		<-time.After(time.Millisecond)
	}
}

func TestStoreThatIsDownIsNotAsked(t *testing.T) {
	s := new(broken)
	b := newBench(t, breaks(s))
	s.fail(errBroken)
	for range breakerTrips {
		b.check(from("alice", home))
	}
	if b.breaker.closed() {
		t.Fatalf("after %d failures the store is still asked", breakerTrips)
	}
	if up, _ := b.StoreUp(); up {
		t.Error("the store is called up")
	}
	asked := b.seen.count("store take other")
	for range 50 {
		if d := b.check(from("alice", home)); d.Reason != ReasonStore || !d.Busy || d.RetryAfter < 1 {
			t.Fatalf("decided %+v, want a denial for the store", d)
		}
	}
	if got := b.seen.count("store take other"); got != asked {
		t.Errorf("the store was asked %d times", got-asked)
	}
	b.back(s)
	if got := b.strangers("alice", 12); got != 10 {
		t.Errorf("%d guesses are allowed once the store is back, want 10", got)
	}
	if up, _ := b.StoreUp(); !up {
		t.Error("the store is called down")
	}
}

func TestFailureOfOneKeyClosesNobodyElse(t *testing.T) {
	b := newBench(t)
	for _, err := range []error{store.ErrFull, fmt.Errorf("take: %w", store.ErrFull)} {
		for range 3 * breakerTrips {
			if got := b.breaker.ask(func() error { return err }); got != err {
				t.Fatalf("ask: %v", got)
			}
		}
	}
	if !b.breaker.closed() {
		t.Error("failures that are not the store's closed it for all")
	}
}
