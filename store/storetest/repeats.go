package storetest

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loginguard/store"
)

// named is guess under the name lg:{i:1}, bound to binding.
func named(account, from, binding string, now int64) store.Take {
	k := guess(account, from, now)
	k.Idempotence, k.Binding, k.Note = "lg:{i:1}", binding, "note"
	return k
}

// idempotence: four uses in all of one attempt, charged once; anything else
// under the name is a conflict.
func idempotence(t *testing.T, h Harness) {
	k := named("A", "net", "b1", start)
	first := h.want(t, k, store.Admitted)
	h.want(t, named("A", "net", "b2", start), store.Conflict)
	for n := range 3 {
		again := named("A", "net", "b1", start+int64(n+1)*second)
		out := h.want(t, again, store.Repeated)
		if out.Attempt != first.Attempt || out.Issued != start || out.Lane != store.LaneStranger || out.Note != "note" {
			t.Fatalf("repeat %d: %+v, want the first attempt", n+1, out)
		}
		if diff := cmp.Diff([]string{"a", "h"}, out.Marks); diff != "" {
			t.Fatalf("marks (-want +got):\n%s", diff)
		}
		if got := out.Buckets[onAccount].Remaining(); got != 9 {
			t.Fatalf("%d tokens left, want 9", got)
		}
	}
	before := h.Values()
	h.want(t, named("A", "net", "b1", start+5*second), store.Conflict)
	h.want(t, named("A", "net", "b2", start+5*second), store.Conflict)
	h.same(t, before, "a conflict")

	// Denials are not remembered.
	for range 9 {
		h.want(t, guess("A", "net", start), store.Admitted)
	}
	denied := named("A", "net", "b3", start)
	denied.Idempotence = "lg:{i:2}"
	h.want(t, denied, store.Denied)
	if _, ok := h.Values()["lg:{i:2}"]; ok {
		t.Fatal("a denial was remembered")
	}
}

// settledName: after its report the name is free for another attempt, and the
// report's lookup tells which one it was.
func settledName(t *testing.T, h Harness) {
	ctx := context.Background()
	k := named("A", "net", "b1", 0)
	taken := h.want(t, k, store.Admitted)
	found, err := h.Stores[0].Lookup(ctx, k.Idempotence)
	if err != nil {
		t.Fatal(err)
	}
	want := store.Remembered{
		Found: true, Binding: "b1", Attempt: taken.Attempt, Issued: taken.Issued,
		Lane: store.LaneStranger, Marks: []string{"a", "h"}, Note: "note",
	}
	ignore := cmpopts.IgnoreUnexported(store.Remembered{})
	if diff := cmp.Diff(want, found, ignore); diff != "" {
		t.Fatalf("lookup (-want +got):\n%s", diff)
	}
	s := settleOf(k, taken, 0)
	if out := h.settle(t, s); !out.Applied {
		t.Fatalf("settle: %+v", out)
	}
	want.Reported = true
	if found, err = h.Stores[0].Lookup(ctx, k.Idempotence); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, found, ignore); diff != "" {
		t.Fatalf("lookup after the report (-want +got):\n%s", diff)
	}

	next := named("A", "net", "b2", 0)
	next.Attempt = "second"
	if out := h.want(t, next, store.Admitted); out.Attempt != "second" {
		t.Fatalf("attempt %q, want a new one", out.Attempt)
	}
	// A late duplicate of the first report leaves the second attempt alone.
	h.settle(t, s)
	h.want(t, next, store.Repeated)

	none, err := h.Stores[0].Lookup(ctx, "lg:{i:none}")
	if err != nil || none.Found {
		t.Fatalf("lookup of nothing: %+v, %v", none, err)
	}
}

// rememberedExpiry: with its lifetime the attempt's name is free.
func rememberedExpiry(t *testing.T, h Harness) {
	h.want(t, named("A", "net", "b1", start), store.Admitted)
	h.want(t, named("A", "net", "b1", start+ttl-1), store.Repeated)
	h.want(t, named("A", "net", "b2", start+ttl), store.Admitted)
}
