package storetest

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"testing"

	"loginguard/store"
)

// Harness is one empty store as the suite sees it. Its functions are called
// from the goroutine of the test only.
type Harness struct {
	// Stores are the ways to the same state: two clients of one server, or
	// the same store twice. The suite spreads parallel calls over them.
	Stores []store.Store

	// Values returns every key with its text; HyperLogLogs have the text
	// "log". It fails the test on a key that never expires.
	Values func() map[string]string

	// Put writes a raw value that expires in an hour or more, PutForever one
	// that never does, as a restore leaves it; a store that cannot hold such
	// a key lets it expire.
	Put, PutForever func(key, value string)
}

// Opener returns an empty store; what it opens it closes by t.Cleanup.
type Opener func(t *testing.T) Harness

// Run runs the whole suite, each part on a store of its own.
func Run(t *testing.T, open Opener) {
	parts := []struct {
		name string
		run  func(*testing.T, Harness)
	}{
		{"exactly the burst is admitted in parallel", parallelBurst},
		{"three accounts in parallel do not mix", parallelAccounts},
		{"a parallel take over many buckets is all or nothing", parallelAllOrNothing},
		{"one dry bucket keeps all others whole", allOrNothing},
		{"every dry bucket gets its strike", strikes},
		{"a bucket that only logs never denies", logOnly},
		{"a passed challenge stands in", challenge},
		{"a challenge does not stand in for every limit", stubborn},
		{"a repeat is not charged", idempotence},
		{"a repeat is the same in parallel", parallelRepeats},
		{"a settled name is free", settledName},
		{"a remembered name ends", rememberedExpiry},
		{"one of many settlements applies", settleOnce},
		{"a refund is given once", refundOnce},
		{"a failure stays charged", failureStays},
		{"a refund gives back what was taken and no more", refundExact},
		{"a refund ends a wait", refundEndsWait},
		{"an attempt ends with its lifetime", settleExpired},
		{"nothing is learned from before a reset", stale},
		{"forget clears the buckets of an account", forgetLimits},
		{"forget clears all that is known of an account", forgetCredentials},
		{"forget deletes keys", forgetKeys},
		{"forget mends a damaged record", forgetDamaged},
		{"a familiar network has its own lane", familiarLane},
		{"a device has its own lane", deviceLane},
		{"a wrong tag repeats at its own source only", wrongTags},
		{"failures are counted to the next success", failures},
		{"the oldest networks go first", networksBounded},
		{"sources of wrong tags are bounded", sourcesBounded},
		{"populations are counted", population},
		{"populations rotate by week", populationWeeks},
		{"a population lets a bucket grow", populationGrows},
		{"a debit charges what cannot pay", debit},
		{"a peek writes nothing", peek},
		{"denied attempts write nothing", deniedWriteNothing},
		{"a lost expiry is set again", lostExpiry},
		{"every key expires", everyKeyExpires},
		{"a damaged value denies", damaged},
	}
	for _, p := range parts {
		t.Run(p.name, func(t *testing.T) { p.run(t, open(t)) })
	}
}

// take runs one take on the first store and fails the test on an error.
func (h Harness) take(t *testing.T, k store.Take) store.Taken {
	t.Helper()
	out, err := h.Stores[0].Take(context.Background(), k)
	if err != nil {
		t.Fatalf("take: %v", err)
	}
	return out
}

// want runs one take and fails the test unless it has the outcome.
func (h Harness) want(t *testing.T, k store.Take, want store.Outcome) store.Taken {
	t.Helper()
	out := h.take(t, k)
	if out.Outcome != want {
		t.Fatalf("outcome %s, want %s: %+v", outcome(out.Outcome), outcome(want), out.Buckets)
	}
	return out
}

// settle runs one settlement on the first store.
func (h Harness) settle(t *testing.T, s store.Settle) store.Settled {
	t.Helper()
	out, err := h.Stores[0].Settle(context.Background(), s)
	if err != nil {
		t.Fatalf("settle: %v", err)
	}
	return out
}

// forget clears on the first store.
func (h Harness) forget(t *testing.T, f store.Forget) {
	t.Helper()
	if err := h.Stores[0].Forget(context.Background(), f); err != nil {
		t.Fatalf("forget: %v", err)
	}
}

// same fails the test unless the values are those of before.
func (h Harness) same(t *testing.T, before map[string]string, what string) {
	t.Helper()
	if after := h.Values(); !maps.Equal(before, after) {
		t.Fatalf("%s changed values:\nbefore %v\nafter  %v", what, before, after)
	}
}

// parallel runs n takes at once, spread over the stores, and returns how many
// had each outcome.
func (h Harness) parallel(t *testing.T, n int, build func(i int) store.Take) map[store.Outcome]int {
	t.Helper()
	var (
		counts [store.Conflict + 1]atomic.Int64
		all    sync.WaitGroup
		gate   = make(chan struct{})
	)
	for i := range n {
		k, s := build(i), h.Stores[i%len(h.Stores)]
		all.Go(func() {
			<-gate
			out, err := s.Take(context.Background(), k)
			if err != nil {
				t.Errorf("take: %v", err)
				return
			}
			counts[out.Outcome].Add(1)
		})
	}
	close(gate)
	all.Wait()
	m := make(map[store.Outcome]int)
	for o := range counts {
		if c := int(counts[o].Load()); c > 0 {
			m[store.Outcome(o)] = c
		}
	}
	return m
}

// outcome names an outcome for messages.
func outcome(o store.Outcome) string {
	return [...]string{"denied", "admitted", "repeated", "conflict"}[o]
}
