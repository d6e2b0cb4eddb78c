package storetest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loginguard/store"
)

// parallelBurst: 300 guesses at one account at once, each from a network of
// its own, on the store's own clock.
func parallelBurst(t *testing.T, h Harness) {
	got := h.parallel(t, 300, func(i int) store.Take { return guess("A", fmt.Sprintf("net%d", i), 0) })
	want := map[store.Outcome]int{store.Admitted: 10, store.Denied: 290}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("outcomes (-want +got):\n%s", diff)
	}
	// What was denied left no key behind.
	keys := h.Values()
	if len(keys) != 11 {
		t.Fatalf("%d keys, want the account's and those of 10 networks: %v", len(keys), keys)
	}
}

// parallelAccounts: the same for three accounts at the same time.
func parallelAccounts(t *testing.T, h Harness) {
	names := []string{"A", "B", "C"}
	var admitted [3]atomic.Int64
	var all sync.WaitGroup
	for i := range 300 {
		k, s := guess(names[i%3], fmt.Sprintf("net%d", i), 0), h.Stores[i%len(h.Stores)]
		all.Go(func() {
			out, err := s.Take(context.Background(), k)
			if err != nil {
				t.Errorf("take: %v", err)
			}
			if out.Outcome == store.Admitted {
				admitted[i%3].Add(1)
			}
		})
	}
	all.Wait()
	for i, name := range names {
		if got := admitted[i].Load(); got != 10 {
			t.Errorf("account %s: %d admitted, want 10", name, got)
		}
	}
}

// parallelAllOrNothing: many accounts from one network with 30 tokens. Each
// admitted guess is charged on both, each denied one on neither.
func parallelAllOrNothing(t *testing.T, h Harness) {
	got := h.parallel(t, 100, func(i int) store.Take {
		k := guess(fmt.Sprintf("account%d", i), "shared", 0)
		k.Charges[onNetwork].Limit = plainLimit(30, 120*second)
		return k
	})
	if got[store.Admitted] != 30 || got[store.Denied] != 70 {
		t.Fatalf("outcomes %v, want 30 admitted and 70 denied", got)
	}
	records := 0
	for key := range h.Values() {
		if strings.HasPrefix(key, "lg:{account") {
			records++
		}
	}
	if records != 30 {
		t.Fatalf("%d accounts were charged, want 30", records)
	}
}

// parallelRepeats: one name sent by 64 at once makes one attempt, which is
// answered four times in all.
func parallelRepeats(t *testing.T, h Harness) {
	got := h.parallel(t, 64, func(i int) store.Take {
		k := named("A", "net", "b1", 0)
		k.Attempt = fmt.Sprintf("attempt%d", i)
		return k
	})
	want := map[store.Outcome]int{store.Admitted: 1, store.Repeated: 3, store.Conflict: 60}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("outcomes (-want +got):\n%s", diff)
	}
	k := guess("A", "net", 0)
	k.Peek = true
	if left := h.take(t, k).Buckets[onAccount].Remaining(); left != 9 {
		t.Fatalf("%d tokens left, want 9: one attempt is charged once", left)
	}
}

// settleOnce: 64 reports of one attempt at once.
func settleOnce(t *testing.T, h Harness) {
	k := guess("A", "net", 0)
	h.want(t, k, store.Admitted)
	taken := h.want(t, k, store.Admitted)
	s := settleOf(k, taken, 0)
	s.Refund, s.Fail = true, true
	var applied atomic.Int64
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			out, err := h.Stores[i%len(h.Stores)].Settle(context.Background(), s)
			if err != nil {
				t.Errorf("settle: %v", err)
			}
			if out.Applied {
				applied.Add(1)
			}
		})
	}
	all.Wait()
	if got := applied.Load(); got != 1 {
		t.Fatalf("%d settlements applied, want 1", got)
	}
	k.Peek = true
	after := h.take(t, k)
	if left := after.Buckets[onAccount].Remaining(); left != 9 {
		t.Errorf("%d tokens left, want 9: one of two charges came back", left)
	}
	if after.Failures != 1 {
		t.Errorf("%d failures, want 1", after.Failures)
	}
	found, err := h.Stores[0].Settled(context.Background(), []string{s.Marker, s.Marker + "x"})
	if err != nil || !found[0] || found[1] {
		t.Errorf("Settled: %v, %v, want the first only", found, err)
	}
}
