package storetest

import (
	"fmt"
	"testing"

	"loginguard/store"
)

// allOrNothing: a network that is dry leaves the account whole, and strikes
// nothing but itself.
func allOrNothing(t *testing.T, h Harness) {
	k := guess("A", "net", start)
	k.Charges[onNetwork].Limit = plainLimit(1, 60*second)
	h.want(t, k, store.Admitted)
	before := h.Values()
	out := h.want(t, k, store.Denied)
	if b := out.Buckets[onAccount]; b.Dry || b.Charged || b.Strikes != 0 {
		t.Errorf("account bucket %+v, want it untouched", b)
	}
	if b := out.Buckets[onNetwork]; !b.Dry || b.Wait != 60*second {
		t.Errorf("network bucket %+v, want it dry for a minute", b)
	}
	h.same(t, before, "a denial by a bucket without backoff")
}

// strikes: of two dry buckets each gets its strike, and the third none.
func strikes(t *testing.T, h Harness) {
	l := accountLimit()
	l.Capacity = 1
	k := guess("A", "net", start)
	k.Charges = append(k.Charges, store.Charge{Key: k.Record, Field: "x", Limit: l, Cost: 1, When: store.LaneStranger, Mark: "x"})
	k.Charges[onAccount].Limit = l
	h.want(t, k, store.Admitted)
	out := h.want(t, k, store.Denied)
	for i, want := range map[int]int64{onAccount: 1, onNetwork: 0, len(k.Charges) - 1: 1} {
		if got := out.Buckets[i]; got.Strikes != want || got.Struck != (want > 0) {
			t.Errorf("bucket %d: %d strikes, struck just now %t, want %d", i, got.Strikes, got.Struck, want)
		}
	}
	// While the wait runs, further attempts bring no strike.
	k.Now = start + second
	if b := h.want(t, k, store.Denied).Buckets[onAccount]; b.Struck || b.Strikes != 1 {
		t.Errorf("account %+v, want no further strike in its wait", b)
	}
	// At the end of the wait both lend an attempt.
	k.Now = start + 30*second
	out = h.want(t, k, store.Admitted)
	if !out.Buckets[onAccount].Charged || !out.Buckets[len(k.Charges)-1].Charged {
		t.Errorf("%+v, want both lent an attempt", out.Buckets)
	}
	out = h.want(t, k, store.Denied)
	if got := out.Buckets[onAccount]; got.Strikes != 2 || got.Wait != 60*second {
		t.Errorf("account %+v, want a second strike and a minute", got)
	}
}

// logOnly: a dry bucket that only logs lets pass, is struck and lends nothing.
func logOnly(t *testing.T, h Harness) {
	k := only(guess("A", "net", start), onAccount)
	k.Charges[0].LogOnly = true
	for range 10 {
		h.want(t, k, store.Admitted)
	}
	out := h.want(t, k, store.Admitted)
	if b := out.Buckets[0]; !b.Dry || b.Charged || b.Strikes != 1 || b.Wait != 30*second {
		t.Fatalf("eleventh: %+v, want it dry, struck and not charged", b)
	}
	before := h.Values()
	h.want(t, k, store.Admitted)
	h.same(t, before, "an attempt while a log-only wait runs")
	k.Now += 30 * second
	out = h.want(t, k, store.Admitted)
	if b := out.Buckets[0]; b.Dry || b.Charged || b.Missing > 10*2160*second {
		t.Fatalf("after the wait: %+v, want it let pass without a debt", b)
	}
	if out = h.want(t, k, store.Admitted); out.Buckets[0].Strikes != 2 {
		t.Fatalf("then: %+v, want a second strike", out.Buckets[0])
	}
}

// challenged returns an attempt on the account and network of 1, for both of
// which a passed challenge may stand in, with a budget of 2 for it.
func challenged(now int64) store.Take {
	k := guess("A", "net", now)
	k.Charges[onAccount].Limit.Capacity, k.Charges[onAccount].Challenge = 1, true
	k.Charges[onNetwork].Challenge = true
	k.Challenged = len(k.Charges)
	k.Charges = append(k.Charges, store.Charge{Key: k.Record, Field: "c", Limit: plainLimit(2, 720*second), Cost: 1, When: 31, Mark: "c"})
	return k
}

// challenge: the budget for passed challenges pays in the place of dry
// buckets; those that are not dry pay for themselves.
func challenge(t *testing.T, h Harness) {
	k := challenged(start)
	out := h.want(t, k, store.Admitted)
	if b := out.Buckets[k.Challenged]; out.Replaced || b.Applies {
		t.Fatalf("first: %+v, want the challenge not needed", b)
	}
	for n := range 2 {
		out = h.want(t, k, store.Admitted)
		if !out.Replaced || !out.Buckets[k.Challenged].Charged {
			t.Fatalf("attempt %d: %+v, want the challenge to stand in", n+2, out.Buckets)
		}
		if b := out.Buckets[onAccount]; b.Charged || b.Strikes != 0 {
			t.Fatalf("account %+v, want it neither charged nor struck", b)
		}
		if !out.Buckets[onNetwork].Charged {
			t.Fatal("the network was not charged")
		}
	}
	out = h.want(t, k, store.Denied)
	if b := out.Buckets[k.Challenged]; !b.Dry || b.Wait != 720*second {
		t.Fatalf("fourth: %+v, want the challenges used up", b)
	}
	if out.Buckets[onAccount].Strikes != 1 {
		t.Fatalf("account %+v, want its strike", out.Buckets[onAccount])
	}
}

// stubborn: one dry limit that no challenge may replace denies.
func stubborn(t *testing.T, h Harness) {
	k := challenged(start)
	k.Charges[onNetwork].Limit, k.Charges[onNetwork].Challenge = plainLimit(1, 60*second), false
	h.want(t, k, store.Admitted)
	out := h.want(t, k, store.Denied)
	if out.Replaced || out.Buckets[k.Challenged].Applies {
		t.Fatalf("%+v, want the challenge left out", out.Buckets)
	}
}

// debit: what happened is charged, whether or not it could be paid, and no
// wait grows beyond an hour.
func debit(t *testing.T, h Harness) {
	for n := range 200 {
		k := guess("A", "net", start)
		k.Charges[onNetwork].Limit = plainLimit(30, 120*second)
		k.Debit = true
		if out := h.want(t, k, store.Admitted); !out.Buckets[onNetwork].Charged {
			t.Fatalf("debit %d was not charged", n)
		}
	}
	after := named("B", "far", "b1", start)
	after.Debit = true
	h.want(t, after, store.Admitted)
	if _, ok := h.Values()[after.Idempotence]; ok {
		t.Error("what happened without an attempt is remembered as one")
	}
	k := guess("A", "net", start)
	k.Charges[onNetwork].Limit = plainLimit(30, 120*second)
	out := h.want(t, k, store.Denied)
	if got := out.Buckets[onNetwork].Wait; got != hour {
		t.Errorf("network waits %d, want an hour", got)
	}
	if got := out.Buckets[onAccount].Wait; got != 30*second {
		t.Errorf("account waits %d, want its first wait", got)
	}
	k.Now += hour
	h.want(t, k, store.Admitted)
}

// peek: reads as a take does, and leaves no trace.
func peek(t *testing.T, h Harness) {
	k := named("A", "net", "b1", start)
	k.Peek = true
	for range 20 {
		if out := h.want(t, k, store.Admitted); out.Buckets[onAccount].Remaining() != 10 || out.Buckets[onAccount].Charged {
			t.Fatalf("%+v, want 10 tokens left", out.Buckets[onAccount])
		}
	}
	h.same(t, map[string]string{}, "a peek at nothing")
	k.Peek = false
	k.Idempotence = ""
	for range 10 {
		h.want(t, k, store.Admitted)
	}
	before := h.Values()
	k.Peek = true
	out := h.want(t, k, store.Denied)
	if b := out.Buckets[onAccount]; b.Wait != 30*second || b.Strikes != 0 {
		t.Fatalf("%+v, want the wait that a denial would bring", b)
	}
	h.same(t, before, "a peek at a dry bucket")
}

// deniedWriteNothing: 300 denied attempts from 300 networks create no key and
// change no value.
func deniedWriteNothing(t *testing.T, h Harness) {
	for i := range 11 {
		h.take(t, guess("A", fmt.Sprintf("net%d", i), start))
	}
	before := h.Values()
	for i := range 300 {
		out := h.want(t, guess("A", fmt.Sprintf("other%d", i), start+second), store.Denied)
		if got := out.Buckets[onAccount].Wait; got != 29*second {
			t.Fatalf("attempt %d waits %d, want 29s: denied attempts do not lengthen a wait", i, got)
		}
	}
	h.same(t, before, "a denied attempt")
}
