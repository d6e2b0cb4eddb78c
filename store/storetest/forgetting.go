package storetest

import (
	"context"
	"testing"

	"loginguard/store"
)

// attacked signs A in from home, lets it fail with a tag and then runs its
// account bucket dry.
func attacked(t *testing.T, h Harness) {
	t.Helper()
	signIn(t, h, "A", "home", start)
	k := guess("A", "far", start)
	h.settle(t, failure(k, h.want(t, k, store.Admitted), "t1", start))
	for range 10 {
		h.take(t, guess("A", "far", start))
	}
	h.want(t, guess("A", "far", start), store.Denied)
}

// forgetLimits: lets the person in now, and keeps what else is known.
func forgetLimits(t *testing.T, h Harness) {
	attacked(t, h)
	h.forget(t, store.Forget{Record: record("A"), Remember: remember, Now: start + second})
	k := guess("A", "far", start+second)
	k.RepeatNetwork = store.Remembering{Source: "w:far", Tag: "t1"}
	k.Peek = true
	out := h.take(t, k)
	if out.Lane != store.LaneRepeatNetwork || out.Failures != 1 {
		t.Errorf("lane %d, %d failures: want the wrong tag and the failure kept", out.Lane, out.Failures)
	}
	out = h.want(t, guess("A", "far", start+second), store.Admitted)
	if b := out.Buckets[onAccount]; b.Remaining() != 9 || b.Strikes != 0 {
		t.Errorf("%+v, want a fresh bucket", b)
	}
	if out := h.take(t, guess("A", "home", start+second)); !out.Familiar {
		t.Error("the familiar network was forgotten")
	}
}

// forgetCredentials: nothing is left but the moment.
func forgetCredentials(t *testing.T, h Harness) {
	attacked(t, h)
	h.forget(t, store.Forget{Record: record("A"), Credentials: true, Keep: 90 * day, Remember: remember, Now: start + second})
	want := "C=1790000001000000@1797776001000000"
	if got := h.Values()[record("A")]; got != want {
		t.Fatalf("record %q, want %q", got, want)
	}
	// After Keep the moment is forgotten too.
	k := guess("A", "far", start+second+90*day)
	k.DeviceIssued, k.DeviceExpires = start, k.Now+second
	if out := h.want(t, k, store.Admitted); out.Lane != store.LaneDevice {
		t.Fatalf("lane %d, want the reset forgotten", out.Lane)
	}
}

// forgetKeys: the buckets of a network, and no other.
func forgetKeys(t *testing.T, h Harness) {
	h.want(t, guess("A", "net", start), store.Admitted)
	h.want(t, guess("B", "other", start), store.Admitted)
	h.forget(t, store.Forget{Keys: []string{network("net"), network("nobody")}})
	want := []bool{false, true, true, true}
	v := h.Values()
	for i, key := range []string{network("net"), network("other"), record("A"), record("B")} {
		if _, got := v[key]; got != want[i] {
			t.Errorf("key %s there: %v, want %v", key, got, want[i])
		}
	}
}

// forgetDamaged: a record that nobody can read denies every attempt; to clear
// it must still be possible, and then counts as a reset.
func forgetDamaged(t *testing.T, h Harness) {
	ctx := context.Background()
	for _, value := range append(damagedRecords, "a=5/3 F=1@1", "F=1@1 w:far=tag,tag@5") {
		h.Put(record("A"), value)
		h.forget(t, store.Forget{Record: record("A"), Keep: day, Remember: remember, Now: start})
		k := guess("A", "far", start+second)
		k.RepeatNetwork = store.Remembering{Source: "w:far", Tag: "tag"}
		out, err := h.Stores[0].Take(ctx, k)
		if err != nil || out.Outcome != store.Admitted {
			t.Errorf("record %q: %v, %v after it was cleared", value, out.Outcome, err)
		}
		k.Peek, k.DeviceIssued, k.DeviceExpires = true, start, start+day
		if value == "a=5/3 F=1@1" {
			continue // only a bucket was damaged, which is gone
		}
		if out := h.take(t, k); out.Lane == store.LaneDevice {
			t.Errorf("record %q: a device from before it was cleared counts", value)
		}
	}
}
