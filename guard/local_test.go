package guard

import (
	"context"
	"testing"

	"loginguard/policy"
)

// fourInstances decides alone, as one of four, while the store is out.
func fourInstances(c *setup) {
	c.o.OnFailure = FailLocal
	c.policy.Instances = 4
}

func TestLocalGetsItsShareOfTheLimits(t *testing.T) {
	s := new(broken)
	b := newBench(t, breaks(s), fourInstances)
	s.fail(errBroken)
	for i := range 3 { // 10 among four, rounded up
		if d := b.allowed(from("alice", elsewhere(i))); !d.Degraded {
			t.Error("the decision is not marked as degraded")
		}
	}
	if d := b.denied(from("alice", away), "account", ""); d.Busy || d.Degraded || d.RetryAfter < 1 {
		t.Errorf("busy %t, degraded %t, wait %d: want the denial of a limit", d.Busy, d.Degraded, d.RetryAfter)
	}
	if got := b.guesses(20, func(i int) Request { return from(user(i), home) }); got != 8 {
		t.Errorf("%d of 20 guesses from one address are allowed, want 8", got)
	}
	b.back(s)
	if got := b.strangers("alice", 12); got != 10 {
		t.Errorf("%d guesses are allowed once the store is back, want its 10", got)
	}
	s.fail(errBroken)
	b.denied(from("alice", away), "account", "") // kept since the last outage

	s.fail(nil)
	b.searchOnce(context.Background(), later())
	if got := b.seen.count("unreported idp 3"); got != 0 {
		t.Error("attempts of which the store knows nothing are searched there")
	}
}

func TestLocalDeniesWhenFull(t *testing.T) {
	s := new(broken)
	b := newBench(t, breaks(s), fourInstances, func(c *setup) { c.o.LocalKeys = 5 })
	s.fail(errBroken)
	for i := range 100 {
		b.check(from(user(i), elsewhere(i)))
	}
	d := b.check(from("alice", away))
	if d.Verdict != Deny || !d.Busy || d.Reason != ReasonStore {
		t.Errorf("decided %+v, want deny, busy, %s", d, ReasonStore)
	}
}

func TestLocalAttemptsAreGivenBackByTheirReports(t *testing.T) {
	for _, back := range []bool{false, true} {
		s := new(broken)
		b := newBench(t, breaks(s), fourInstances)
		s.fail(errBroken)
		for i := range 20 {
			d := b.allowed(from("alice", home))
			if d.Familiar {
				t.Fatalf("store back %t: before report %d the buckets of one process know the network", back, i)
			}
			s.fail(nil)
			if !back {
				s.fail(errBroken)
			}
			r := Report{Attempt: d.Attempt, Outcome: Success, RememberDevice: true}
			if out := b.report(r); !out.Applied || out.Device != "" && !back {
				t.Fatalf("store back %t: report %d answers %+v", back, i, out)
			}
			if b.report(r).Applied {
				t.Fatalf("store back %t: report %d is applied twice", back, i)
			}
			s.fail(errBroken)
		}
		s.fail(nil)
		if d := b.allowed(from("alice", home)); d.Familiar != back {
			t.Errorf("store back %t: the network is familiar %t", back, d.Familiar)
		}
	}
}

func TestLocalAttemptsGiveNothingBackToTheStore(t *testing.T) {
	s := new(broken)
	b := newBench(t, breaks(s), fourInstances)
	b.strangers("alice", 5)
	s.fail(errBroken)
	d := b.allowed(from("alice", home))
	s.fail(nil)
	b.report(Report{Attempt: d.Attempt, Outcome: Cancelled})
	if got := b.left(from("alice", away), "account", ""); got != 5 {
		t.Errorf("%d tokens remain in the store, want 5: it was not charged for that attempt", got)
	}
}

func TestLocalKnowsIDs(t *testing.T) {
	s := new(broken)
	b := newBench(t, breaks(s), fourInstances)
	s.fail(errBroken)
	for i := range 20 {
		first := b.allowed(named("login-1"))
		if again := b.allowed(named("login-1")); again.Attempt != first.Attempt || !again.Degraded {
			t.Fatalf("round %d: the repeat has another attempt (degraded %t)", i, again.Degraded)
		}
		other := named("login-1")
		other.Account = "bob"
		_, err := b.Check(context.Background(), idp, other)
		wantError(t, err, KindConflict, "id")
		if !b.report(Report{Request: named("login-1"), Outcome: Success}).Applied {
			t.Fatalf("round %d: the report by id is not applied", i)
		}
	}
	d := b.allowed(named("login-2"))
	s.fail(nil)
	if !b.report(Report{Request: named("login-2"), Outcome: Success}).Applied {
		t.Error("once the store is back the report by id is not applied")
	}
	if b.report(Report{Attempt: d.Attempt, Outcome: Success}).Applied {
		t.Error("the attempt is reported once more by its token")
	}
}

func TestForgetClearsLocalBucketsToo(t *testing.T) {
	s := new(broken)
	b := newBench(t, breaks(s), fourInstances)
	s.fail(errBroken)
	b.strangers("alice", 5)
	b.denied(from("alice", away), "account", "")
	s.fail(nil)
	b.forget(ForgetRequest{Account: "alice", Scope: "credentials"})
	if n := b.local.(interface{ Len() int }).Len(); n == 0 {
		t.Fatal("nothing is held locally, not even of networks")
	}
	s.fail(errBroken)
	b.allowed(from("alice", away))
}

func TestOneInstanceAloneKeepsItsLimits(t *testing.T) {
	s := new(broken)
	b := newBench(t, breaks(s), onFailure(FailLocal), limits(func(c *policy.Config) { c.Instances = 1 }))
	s.fail(errSlow)
	if got := b.strangers("alice", 12); got != 10 {
		t.Errorf("%d guesses are allowed, want 10", got)
	}
}
