package guard

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"loginguard/policy"
	"loginguard/store"
)

const second = int64(1e6)

// dry returns a bucket that denies for so many seconds, full one that does not.
func dry(s int64) store.Bucket {
	return store.Bucket{Applies: true, Dry: true, Capacity: 10, Interval: second, Missing: 10 * second, Wait: s * second}
}

func full(capacity, missing int64) store.Bucket {
	return store.Bucket{Applies: true, Charged: true, Capacity: capacity, Interval: second, Missing: missing * second}
}

func TestReadNamesTheBucketAndShowsIt(t *testing.T) {
	account := policy.Rule{Limit: "account", Mode: policy.Enforce, Challenge: true}
	host := policy.Rule{Limit: "network", Level: "host", Mode: policy.Enforce, Stranger: true}
	global := policy.Rule{Limit: "global", Mode: policy.Enforce, Global: true}
	logged := policy.Rule{Limit: "password", Mode: policy.LogOnly}
	type want struct {
		Verdict  Verdict
		Limit    string
		Busy     bool
		Retry    int
		Shown    string // limit of the shown meter
		Would    []string
		Reset    int64 // of the shown meter
		Leftover int64 // its remaining tokens
	}
	for name, c := range map[string]struct {
		rules     []policy.Rule
		buckets   []store.Bucket
		challenge bool
		want      want
	}{
		"longest of two": {[]policy.Rule{account, host}, []store.Bucket{dry(30), dry(120)}, false,
			want{Deny, "network", false, 120, "network", nil, 120, 0}},
		"first of equals": {[]policy.Rule{account, host}, []store.Bucket{dry(30), dry(30)}, false,
			want{Deny, "account", false, 30, "account", nil, 30, 0}},
		"account before global": {[]policy.Rule{global, account}, []store.Bucket{dry(500), dry(30)}, false,
			want{Deny, "account", false, 500, "account", nil, 30, 0}},
		"global after account": {[]policy.Rule{account, global}, []store.Bucket{dry(30), dry(500)}, false,
			want{Deny, "account", false, 500, "account", nil, 30, 0}},
		"global alone": {[]policy.Rule{account, global}, []store.Bucket{full(10, 1), dry(500)}, false,
			want{Deny, "global", true, 500, "global", nil, 500, 0}},
		"log-only denies nobody": {[]policy.Rule{logged, account}, []store.Bucket{dry(900), dry(30)}, false,
			want{Deny, "account", false, 30, "account", []string{"password"}, 30, 0}},
		"challenge": {[]policy.Rule{account}, []store.Bucket{dry(30)}, true,
			want{Challenge, "account", false, 0, "account", nil, 30, 0}},
		"challenge of one in two": {[]policy.Rule{account, host}, []store.Bucket{dry(30), dry(9)}, true,
			want{Deny, "account", false, 30, "account", nil, 30, 0}},
		"less than a second": {[]policy.Rule{account}, []store.Bucket{{Applies: true, Dry: true, Wait: 1}}, false,
			want{Deny, "account", false, 1, "account", nil, 1, 0}},
		"allowed, least left": {[]policy.Rule{account, host, global}, []store.Bucket{full(10, 2), full(30, 20), full(1000, 30)}, false,
			want{Allow, "", false, 0, "network", nil, 20, 10}},
		"not of the lane": {[]policy.Rule{account, host}, []store.Bucket{{}, full(30, 20)}, false,
			want{Allow, "", false, 0, "network", nil, 20, 10}},
		"nothing": {nil, nil, false, want{Verdict: Allow}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			taken := store.Taken{Outcome: store.Admitted, Buckets: c.buckets}
			if c.want.Verdict != Allow {
				taken.Outcome = store.Denied
			}
			d := b.read(policy.Plan{Rules: c.rules}, taken, c.challenge)
			got := want{Verdict: d.Verdict, Limit: d.Limit, Busy: d.Busy, Retry: d.RetryAfter, Would: d.WouldDeny}
			if d.Shown >= 0 {
				m := d.Meters[d.Shown]
				got.Shown, got.Reset, got.Leftover = m.Limit, m.Reset, m.Remaining
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMeterReadsWholeSeconds(t *testing.T) {
	b := newBench(t)
	d := b.allowed(from("alice", home))
	if want := b.ring.Account("default", "alice"); d.Account != want || d.Client != home {
		t.Errorf("the log is told %q from %q, want %q from %q", d.Account, d.Client, want, home)
	}
	want := []Meter{
		{Limit: "account", Capacity: 10, Window: 21600, Remaining: 9, Reset: 2160, Charged: true},
		{Limit: "network", Level: "host", Stranger: true, Capacity: 30, Window: 3600, Remaining: 29, Reset: 120, Charged: true},
		{Limit: "network", Level: "subnet", Stranger: true, Capacity: 100, Window: 3600, Remaining: 99, Reset: 36, Charged: true},
		{Limit: "global", Capacity: 1000, Window: 3600, Remaining: 999, Reset: 4, Charged: true},
	}
	if diff := cmp.Diff(want, d.Meters); diff != "" {
		t.Errorf("meters (-want +got):\n%s", diff)
	}
	b.signIn(from("alice", home))
	for _, m := range b.allowed(from("alice", home)).Meters {
		if m.Stranger {
			t.Errorf("the familiar meter %s %s may be seen by strangers", m.Limit, m.Level)
		}
	}
}

func TestRetryAfterIsSpreadUpwardOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jitter := rapid.Float64Range(0, 0.999999).Draw(t, "jitter")
		micros := rapid.Int64Range(0, time.Hour.Microseconds()).Draw(t, "wait")
		g := &Guard{o: Options{Jitter: func() float64 { return jitter }}}
		got := int64(g.retryAfter(micros))
		if got < 1 || got > 3600 {
			t.Fatalf("%d s is out of bounds", got)
		}
		if got*second < micros {
			t.Errorf("%d s are less than the wait of %d µs", got, micros)
		}
		if most := max(1, min(3600, seconds(micros+micros/10+1))); got > most {
			t.Errorf("%d s are more than a tenth above the wait of %d µs: at most %d", got, micros, most)
		}
	})
	g := &Guard{o: Options{Jitter: func() float64 { return 0.5 }}}
	if got := g.retryAfter(1000 * second); got != 1050 {
		t.Errorf("with half of the spread 1000 s become %d, want 1050", got)
	}
}

func TestRetriesOfManyAreNotAllEqual(t *testing.T) {
	b := newBench(t, func(s *setup) { s.o.Jitter = nil })
	b.guesses(30, func(i int) Request { return from(user(i), home) })
	different := map[int]bool{}
	for range 200 {
		d := b.denied(from("zoe", home), "network", "host")
		if d.RetryAfter < 120 || d.RetryAfter > 132 {
			t.Fatalf("the wait is %d s, want 120 to 132", d.RetryAfter)
		}
		different[d.RetryAfter] = true
		if m := d.Meters[d.Shown]; m.Reset != 120 {
			t.Fatalf("the meter says %d s, want 120: without the random part", m.Reset)
		}
	}
	if len(different) < 5 {
		t.Errorf("200 retries are told %d different waits, want them spread", len(different))
	}
}
