package storetest

import (
	"fmt"
	"strings"
	"testing"

	"loginguard/store"
)

// signIn makes the network familiar to the account.
func signIn(t *testing.T, h Harness, account, from string, now int64) {
	t.Helper()
	k := guess(account, from, now)
	h.settle(t, success(k, h.want(t, k, store.Admitted), now))
}

// familiarLane: a network from which the account signed in is charged on a
// bucket of its own, for as long as it is remembered; an attack from elsewhere
// does not touch it.
func familiarLane(t *testing.T, h Harness) {
	signIn(t, h, "A", "home", start)
	for i := range 11 {
		h.take(t, guess("A", fmt.Sprintf("attacker%d", i), start+second))
	}
	h.want(t, guess("A", "elsewhere", start+second), store.Denied)
	out := h.want(t, guess("A", "home", start+second), store.Admitted)
	if out.Lane != store.LaneFamiliar || !out.Familiar || !out.Buckets[onFamiliar].Charged || out.Buckets[onAccount].Applies {
		t.Fatalf("%+v, want the familiar bucket alone charged", out)
	}
	other := guess("B", "home", start+second)
	if out := h.want(t, other, store.Admitted); out.Familiar {
		t.Fatal("the network is familiar to another account")
	}
	hosting := guess("A", "home", start+second)
	hosting.Network = ""
	if out := h.want(t, hosting, store.Denied); out.Familiar {
		t.Fatal("a network that never becomes familiar is")
	}

	last := guess("A", "home", start+remember-1)
	if out := h.want(t, last, store.Admitted); !out.Familiar {
		t.Fatal("forgotten too early")
	}
	last.Now = start + remember
	if out := h.want(t, last, store.Admitted); out.Familiar {
		t.Fatal("remembered for too long")
	}
}

// deviceLane: a device token that is neither expired nor older than a reset.
func deviceLane(t *testing.T, h Harness) {
	signIn(t, h, "A", "home", start)
	with := func(issued, expires int64) store.Taken {
		k := guess("A", "home", start+10*second)
		k.DeviceIssued, k.DeviceExpires = issued, expires
		return h.want(t, k, store.Admitted)
	}
	cases := []struct {
		name            string
		issued, expires int64
		want            store.Lane
	}{
		{"a valid token", start + second, start + day, store.LaneDevice},
		{"in its last microsecond", start + second, start + 10*second + 1, store.LaneDevice},
		{"an expired token", start + second, start + 10*second, store.LaneFamiliar},
		{"no token", 0, 0, store.LaneFamiliar},
	}
	for _, c := range cases {
		if got := with(c.issued, c.expires); got.Lane != c.want || !got.Familiar {
			t.Errorf("%s: lane %d, want %d", c.name, got.Lane, c.want)
		}
	}
	h.forget(t, store.Forget{Record: record("A"), Credentials: true, Keep: 90 * day, Remember: remember, Now: start + 5*second})
	for _, c := range []struct {
		name   string
		issued int64
		want   store.Lane
	}{
		{"from before a reset", start + second, store.LaneStranger},
		{"from the moment of a reset", start + 5*second, store.LaneStranger},
		{"from after a reset", start + 5*second + 1, store.LaneDevice},
	} {
		if got := with(c.issued, start+day); got.Lane != c.want {
			t.Errorf("%s: lane %d, want %d", c.name, got.Lane, c.want)
		}
	}
}

// wrongTags: the same wrong password from the same source is a repeat; from
// another source, or for another account, it is a guess. Three are kept.
func wrongTags(t *testing.T, h Harness) {
	lane := func(account, from, tag string, now int64) store.Lane {
		k := guess(account, from, now)
		k.RepeatNetwork = store.Remembering{Source: "w:" + from, Tag: tag}
		k.Peek = true
		return h.take(t, k).Lane
	}
	miss := func(tag string, now int64) {
		k := guess("A", "net", now)
		h.settle(t, failure(k, h.want(t, k, store.Admitted), tag, now))
	}
	miss("t1", start)
	for _, c := range []struct {
		account, from, tag string
		want               store.Lane
	}{
		{"A", "net", "t1", store.LaneRepeatNetwork},
		{"A", "net", "t2", store.LaneStranger},
		{"A", "net", "", store.LaneStranger},
		{"A", "elsewhere", "t1", store.LaneStranger},
		{"B", "net", "t1", store.LaneStranger},
	} {
		if got := lane(c.account, c.from, c.tag, start); got != c.want {
			t.Errorf("%s from %s with %q: lane %d, want %d", c.account, c.from, c.tag, got, c.want)
		}
	}
	// A repeat pays with its own bucket and nothing else.
	k := guess("A", "net", start)
	k.RepeatNetwork = store.Remembering{Source: "w:net", Tag: "t1"}
	out := h.want(t, k, store.Admitted)
	for i, b := range out.Buckets {
		if b.Charged != (i == onRepeat) {
			t.Errorf("bucket %d charged: %v", i, b.Charged)
		}
	}
	for i, tag := range []string{"t2", "t3", "t1", "t4"} {
		miss(tag, start+int64(i+1)*second)
	}
	for tag, want := range map[string]bool{"t2": false, "t3": true, "t1": true, "t4": true} {
		if got := lane("A", "net", tag, start+minute) == store.LaneRepeatNetwork; got != want {
			t.Errorf("tag %s remembered: %v, want %v: the last three stay", tag, got, want)
		}
	}
	if got := lane("A", "net", "t4", start+4*second+day); got != store.LaneStranger {
		t.Errorf("lane %d after a day, want the tag forgotten", got)
	}
}

// networksBounded: of many networks the last eight stay familiar, a new use
// counting.
func networksBounded(t *testing.T, h Harness) {
	for i := range int64(8) {
		signIn(t, h, "A", fmt.Sprintf("net%d", i), start+i*second)
	}
	signIn(t, h, "A", "net0", start+10*second)
	signIn(t, h, "A", "net8", start+11*second)
	signIn(t, h, "A", "net9", start+12*second)
	for i, want := range []bool{true, false, false, true, true, true, true, true, true, true} {
		k := guess("A", fmt.Sprintf("net%d", i), start+20*second)
		k.Peek = true
		if got := h.take(t, k).Familiar; got != want {
			t.Errorf("net%d familiar: %v, want %v", i, got, want)
		}
	}
}

// sourcesBounded: wrong tags from very many sources keep the record short.
func sourcesBounded(t *testing.T, h Harness) {
	for i := range int64(200) {
		k := guess("A", fmt.Sprintf("net%d", i), start+i*hour)
		for j := range 5 {
			s := failure(k, store.Taken{Issued: k.Now}, fmt.Sprintf("tag%d", j), k.Now)
			s.Marker = ""
			h.settle(t, s)
		}
	}
	v := h.Values()[record("A")]
	if got := strings.Count(v, " w:"); got != 16 {
		t.Errorf("%d sources are kept, want 16: %s", got, v)
	}
	if got := strings.Count(v, "tag"); got != 48 {
		t.Errorf("%d tags are kept, want 3 of each source: %s", got, v)
	}
	if len(v) > 2048 {
		t.Errorf("the record has %d bytes", len(v))
	}
}
