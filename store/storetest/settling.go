package storetest

import (
	"testing"

	"loginguard/store"
)

// refundOnce: a report and its duplicate.
func refundOnce(t *testing.T, h Harness) {
	k := guess("A", "net", start)
	for range 4 {
		h.want(t, k, store.Admitted)
	}
	k.Attempt = "mine"
	taken := h.want(t, k, store.Admitted)
	s := settleOf(k, taken, start+second)
	s.Refund = true
	for n, want := range []bool{true, false, false} {
		if got := h.settle(t, s).Applied; got != want {
			t.Fatalf("settlement %d applied: %v, want %v", n+1, got, want)
		}
	}
	k.Peek = true
	out := h.take(t, k)
	for i, want := range map[int]int64{onAccount: 6, onNetwork: 996} {
		if got := out.Buckets[i].Remaining(); got != want {
			t.Errorf("bucket %d: %d left, want %d: one charge of five came back", i, got, want)
		}
	}
}

// failureStays: what is not refunded stays charged.
func failureStays(t *testing.T, h Harness) {
	k := guess("A", "net", start)
	taken := h.want(t, k, store.Admitted)
	s := failure(k, taken, "", start+second)
	if len(s.Refunds) != 2 || s.Refund {
		t.Fatalf("%+v, want two charges named and not refunded", s)
	}
	before := h.Values()[network("net")]
	if out := h.settle(t, s); !out.Applied {
		t.Fatalf("settle: %+v", out)
	}
	k.Peek = true
	if got := h.take(t, k).Buckets[onAccount].Remaining(); got != 9 {
		t.Errorf("%d tokens left, want 9", got)
	}
	if after := h.Values()[network("net")]; after != before {
		t.Errorf("network %q, was %q", after, before)
	}
}

// refundExact: an attempt that is taken and refunded leaves what was before,
// and many of them earn no credit.
func refundExact(t *testing.T, h Harness) {
	h.want(t, guess("A", "net", start), store.Admitted)
	before := h.Values()
	for n := range int64(100) {
		k := guess("A", "net", start)
		k.Attempt = "other"
		taken := h.want(t, k, store.Admitted)
		s := settleOf(k, taken, start)
		s.Marker, s.Refund = "", true
		if out := h.settle(t, s); !out.Applied {
			t.Fatalf("round %d: %+v", n, out)
		}
	}
	h.same(t, before, "a refunded attempt")

	// On a full bucket a refund has nothing to give back to, and no key is left.
	empty := settleOf(guess("B", "far", start), store.Taken{}, start)
	empty.Marker, empty.Refund = "", true
	empty.Refunds = []store.Refund{{Key: network("far"), Cost: 5}, {Key: record("B"), Field: "a", Cost: 5}}
	h.settle(t, empty)
	h.same(t, before, "a refund to full buckets")
}

// refundEndsWait: a sign-in that lets the account pay again ends its wait; one
// that does not gives back the attempt that was lent.
func refundEndsWait(t *testing.T, h Harness) {
	k := guess("A", "net", start)
	taken := h.want(t, k, store.Admitted)
	for range 9 {
		h.want(t, k, store.Admitted)
	}
	h.want(t, k, store.Denied)
	s := settleOf(k, taken, start+second)
	s.Refund = true
	h.settle(t, s)
	k.Now = start + second
	h.want(t, k, store.Admitted)
	out := h.want(t, k, store.Denied)
	if b := out.Buckets[onAccount]; b.Strikes != 2 || b.Wait != minute {
		t.Fatalf("%+v, want the second wait: a refund forgives no strike", b)
	}

	k.Now += minute
	k.Attempt = "lent"
	taken = h.want(t, k, store.Admitted)
	s = settleOf(k, taken, k.Now)
	s.Refund = true
	h.settle(t, s)
	h.want(t, k, store.Admitted)
	h.want(t, k, store.Denied)
}

// settleExpired: a report after the attempt's lifetime does nothing.
func settleExpired(t *testing.T, h Harness) {
	k := guess("A", "net", start)
	taken := h.want(t, k, store.Admitted)
	before := h.Values()
	out := h.settle(t, success(k, taken, start+ttl))
	if !out.Expired || out.Applied {
		t.Fatalf("%+v, want it expired", out)
	}
	h.same(t, before, "a late report")
	if out := h.settle(t, success(k, taken, start+ttl-1)); !out.Applied {
		t.Fatalf("%+v, want it applied in the last microsecond", out)
	}
}

// stale: what began before the credentials were reset is refunded and teaches
// nothing.
func stale(t *testing.T, h Harness) {
	old := guess("A", "net", start)
	taken := h.want(t, old, store.Admitted)
	h.forget(t, store.Forget{Record: record("A"), Credentials: true, Keep: 90 * day, Remember: remember, Now: start + second})
	out := h.settle(t, success(old, taken, start+2*second))
	if !out.Applied || !out.Stale {
		t.Fatalf("%+v, want it applied and stale", out)
	}
	k := guess("A", "net", start+3*second)
	if got := h.want(t, k, store.Admitted); got.Familiar {
		t.Fatal("an attempt from before the reset made its network familiar")
	}
	fresh := h.settle(t, success(k, h.want(t, k, store.Admitted), start+4*second))
	if fresh.Stale {
		t.Fatalf("%+v, want a later attempt to count", fresh)
	}
	k.Now = start + 5*second
	if got := h.want(t, k, store.Admitted); !got.Familiar {
		t.Fatal("an attempt from after the reset did not make its network familiar")
	}
}

// failures: counted up to the next success, and forgotten after a while.
func failures(t *testing.T, h Harness) {
	now := start
	count := func() int64 {
		k := guess("A", "net", now)
		k.Peek = true
		return h.take(t, k).Failures
	}
	fail := func() {
		now += hour
		k := guess("A", "net", now)
		h.settle(t, failure(k, h.want(t, k, store.Admitted), "", now))
	}
	for want := range int64(5) {
		if got := count(); got != want {
			t.Fatalf("%d failures, want %d", got, want)
		}
		fail()
	}
	now += hour
	k := guess("A", "net", now)
	h.settle(t, success(k, h.want(t, k, store.Admitted), now))
	if got := count(); got != 0 {
		t.Fatalf("%d failures after a success, want 0", got)
	}
	fail()
	now += remember
	if got := count(); got != 0 {
		t.Fatalf("%d failures after a month of nothing, want 0", got)
	}
}
