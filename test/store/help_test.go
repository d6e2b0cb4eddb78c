package store

import (
	"context"
	"testing"
	"time"

	"loginguard/store"
)

// patience bounds how long a test waits for what must come in the end.
const patience = 15 * time.Second

// guess is one attempt on a bucket of n that gets a token back in an hour, on
// the server's clock.
func guess(key string, n int64) store.Take {
	return store.Take{Challenged: -1, Attempt: "attempt", Remember: 86400 * second, Charges: []store.Charge{{
		Key: key, Cost: 1, When: store.LaneStranger, Mark: "x", Limit: store.Limit{Capacity: n, Interval: 3600 * second},
	}}}
}

// admit fails the test unless an attempt is admitted.
func admit(t *testing.T, s store.Store, key string) store.Taken {
	t.Helper()
	out, err := s.Take(context.Background(), guess(key, 1000))
	if err != nil || out.Outcome != store.Admitted {
		t.Fatalf("take: outcome %d, %v; want it admitted", out.Outcome, err)
	}
	return out
}

// recovers waits until an attempt is admitted again by the same store.
func recovers(t *testing.T, s store.Store, key string) {
	t.Helper()
	until(t, "the store recovers", func() bool {
		out, err := s.Take(context.Background(), guess(key, 1000))
		return err == nil && out.Outcome == store.Admitted
	})
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !ok(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("waited too long until %s", what)
		}
	}
}
