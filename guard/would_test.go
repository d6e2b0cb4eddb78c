package guard

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"loginguard/policy"
	"loginguard/store"
)

// right is the line of the recorder for a limit that would have denied a
// success.
func right(limit, level string) string {
	return fmt.Sprintf("would deny and was right %s %s", limit, level)
}

func TestPeopleWhomALogOnlyLimitWouldDenyAreCounted(t *testing.T) {
	b := newBench(t, limits(func(c *policy.Config) {
		c.Limits.Account.Mode, c.Limits.Account.Capacity = policy.LogOnly, 2
		c.Limits.Host.Mode, c.Limits.Host.Capacity = policy.LogOnly, 5
	}))
	succeed := func(q Request) {
		t.Helper()
		d := b.allowed(q)
		b.report(Report{Attempt: d.Attempt, Outcome: Success})
		b.report(Report{Attempt: d.Attempt, Outcome: Success}) // a repeat is nobody new
	}
	b.strangers("alice", 2)
	succeed(from("bob", elsewhere(7))) // nobody would have denied it
	if n := b.seen.count(right("account", "")) + b.seen.count(right("network", "host")); n != 0 {
		t.Fatalf("%d are counted before any limit is dry", n)
	}
	succeed(from("alice", elsewhere(20)))
	b.fail(b.allowed(from("alice", elsewhere(21))))                                                // would be denied, and is no success
	b.report(Report{Attempt: b.allowed(from("alice", elsewhere(22))).Attempt, Outcome: Cancelled}) // nor is this
	if n, level := b.seen.count(right("account", "")), b.seen.count(right("network", "host")); n != 1 || level != 0 {
		t.Errorf("account is told %d times, network host %d, want 1 and 0", n, level)
	}

	// Both at once: each limit is told once.
	b.guesses(5, func(i int) Request { return from(user(i), away) })
	b.strangers("carol", 2)
	succeed(from("carol", away))
	if n, level := b.seen.count(right("account", "")), b.seen.count(right("network", "host")); n != 2 || level != 1 {
		t.Errorf("account is told %d times, network host %d, want 2 and 1", n, level)
	}
}

func TestPeopleWhomALogOnlyLimitWouldDenyAreCountedById(t *testing.T) {
	b := newBench(t, limits(func(c *policy.Config) {
		c.Limits.Account.Mode, c.Limits.Account.Capacity = policy.LogOnly, 1
	}))
	q := named("login-1")
	b.fail(b.allowed(from(q.Account, elsewhere(1))))
	b.allowed(q)
	repeat := b.allowed(q) // the same attempt, its token made of what the store remembers
	if got, err := b.open(repeat.Attempt); err != nil || got.would != buckets(0).with(policy.IDAccount) {
		t.Errorf("the token of a repeat says %b, %v, want account", got.would, err)
	}
	b.report(Report{Request: Request{ID: q.ID, Account: q.Account, IP: q.IP}, Outcome: Success})
	if n := b.seen.count(right("account", "")); n != 1 {
		t.Errorf("account is told %d times, want 1", n)
	}

	// The first one of an id is charged: its repeat must not take it for dry.
	other := named("login-2")
	other.Account = "bob"
	b.allowed(other)
	b.report(Report{Attempt: b.allowed(other).Attempt, Outcome: Success})
	if n := b.seen.count(right("account", "")); n != 1 {
		t.Errorf("account is told %d times after a success that paid, want 1", n)
	}
}

// TestWouldDenyIsWhatEnforcingWouldRefuse runs the same attempts through a
// policy that logs and one that enforces. Only the counted limit is on, since
// what is denied by one limit is not charged on another.
func TestWouldDenyIsWhatEnforcingWouldRefuse(t *testing.T) {
	run := func(mode string) (*bench, int) {
		b := newBench(t, limits(func(c *policy.Config) {
			for _, l := range []*policy.Limit{&c.Limits.Account, &c.Limits.Device, &c.Limits.Familiar, &c.Limits.Host, &c.Limits.Site,
				&c.Limits.Subnet, &c.Limits.Pool, &c.Limits.Global, &c.Limits.Password, &c.Limits.Repeat, &c.Limits.Challenged} {
				l.Mode = policy.Off
			}
			c.Limits.Host.Mode = mode
		}))
		denied := 0
		for i := range 100 {
			d := b.check(from(user(i), home))
			if d.Verdict == Deny {
				denied++
			}
		}
		return b, denied
	}
	_, want := run(policy.Enforce)
	b, denied := run(policy.LogOnly)
	if denied != 0 {
		t.Errorf("%d are denied by a limit that only logs", denied)
	}
	if got := b.seen.count("would deny network host"); got != want || want != 70 {
		t.Errorf("%d would be denied, %d are when it is enforced, want 70 of 100 both times", got, want)
	}
}

// TestLogOnlyAllowsWithoutTheStore: whoever only tries the guard out must not
// be hurt by its store, and must hear of it.
func TestLogOnlyAllowsWithoutTheStore(t *testing.T) {
	s := new(broken)
	b := newBench(t, breaks(s), onFailure(FailClosed), limits(func(c *policy.Config) { c.Mode = policy.LogOnly }))
	s.fail(errBroken)
	d := b.allowed(from("alice", home))
	if !d.Degraded {
		t.Error("an attempt that nobody decided is not marked")
	}
	if n := b.seen.count("store take other"); n != 1 {
		t.Errorf("%d failures of the store are told, want 1", n)
	}
}

func TestExemptAttemptsAreCounted(t *testing.T) {
	b := newBench(t)
	b.allowed(from("monitoring", inside))
	b.allowed(from("alice", home))
	if n := b.seen.count("exempt default"); n != 1 {
		t.Errorf("%d exempt attempts are told, want 1", n)
	}
}

func TestFirstStrikeIsToldOnce(t *testing.T) {
	b := newBench(t)
	line := "first strike default true " + elsewhere(10)
	b.strangers("alice", 10)
	if n := b.seen.count(line); n != 0 {
		t.Fatal("an account that can still pay is told of")
	}
	for range 3 {
		b.denied(from("alice", elsewhere(10)), "account", "")
	}
	b.add(31 * 1e9) // the wait is over: one more attempt, then the second strike
	b.guess(from("alice", elsewhere(10)))
	b.denied(from("alice", elsewhere(10)), "account", "")
	if n := b.seen.count(line); n != 1 {
		t.Errorf("the first strike is told %d times, want once", n)
	}
	b.add(24 * 3600 * 1e9) // all strikes are forgotten
	b.strangers("alice", 10)
	b.guesses(3, func(int) Request { return from("alice", elsewhere(10)) })
	if n := b.seen.count(line); n != 2 {
		t.Errorf("the first strike is told %d times after all was forgotten, want 2", n)
	}
}

// TestSetOfBuckets: what would have denied is what counts on the lane and was
// not charged, whatever bits another version may have set.
func TestSetOfBuckets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		logs := buckets(rapid.Uint32().Draw(t, "log-only"))
		lane := store.Lane(1 << rapid.IntRange(0, 4).Draw(t, "lane"))
		var marks []mark
		for _, id := range rapid.SliceOfDistinct(rapid.SampledFrom(policy.IDs()), rapid.ID).Draw(t, "charged") {
			marks = append(marks, mark{id, 1})
		}
		got := logs.dry(lane, marks)
		for id := range policy.ID(32) {
			charged := slices.Contains(marks, mark{id, 1})
			if want := logs.has(id) && id.In(lane) && !charged; got.has(id) != want {
				t.Fatalf("bucket %d is in: %t, want %t", id, got.has(id), want)
			}
		}
	})
}

func TestEveryBucketHasALimit(t *testing.T) {
	for _, id := range policy.IDs() {
		if name, _ := id.Limit(); name == "" {
			t.Errorf("bucket %d has no limit", id)
		}
	}
	if name, level := policy.ID(31).Limit(); name != "" || level != "" {
		t.Errorf("a bucket that there is not has the limit %q %q", name, level)
	}
}

// looking is a store on which looks at the global limit fail when told to. The
// guard probes it in the background.
type looking struct {
	store.Store
	broken atomic.Bool
	n      atomic.Int64
}

func (s *looking) Take(ctx context.Context, t store.Take) (store.Taken, error) {
	s.n.Add(1)
	if err := s.Ping(ctx); err != nil {
		return store.Taken{}, err
	}
	return s.Store.Take(ctx, t)
}

func (s *looking) Ping(context.Context) error {
	if s.broken.Load() {
		return errBroken
	}
	return nil
}
