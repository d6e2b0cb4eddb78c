package guard

import (
	"testing"
	"time"
)

// event is a report of an attempt that nobody asked about.
func event(q Request, outcome string) Report { return Report{Request: q, Outcome: outcome} }

func TestFailureNobodyAskedAboutIsChargedAfterTheFact(t *testing.T) {
	b := newBench(t)
	for range 3 {
		if out := b.report(event(from("alice", home), Failure)); !out.Applied {
			t.Fatal("the failure is not applied")
		}
	}
	e := b.explain(from("alice", home))
	if e.Failures != 3 || e.Limits[0].Limit != "account" || e.Limits[0].Remaining != 7 {
		t.Errorf("%d failures and %d tokens of %s, want 3 and 7 of account", e.Failures, e.Limits[0].Remaining, e.Limits[0].Limit)
	}
}

func TestDebtIsNeverBeyondAnHoursWait(t *testing.T) {
	b := newBench(t)
	for i := range 300 {
		b.report(event(from("alice", elsewhere(i%3)), Failure))
	}
	for _, q := range []Request{from("alice", away), from("zoe", elsewhere(0))} {
		d := b.check(q)
		if d.Verdict != Deny || d.RetryAfter > 3600 {
			t.Errorf("after 300 failures the decision is %s with a wait of %d s, want deny for at most 3600", d.Verdict, d.RetryAfter)
		}
	}
	b.add(time.Hour)
	b.allowed(from("alice", away))
	b.allowed(from("zoe", elsewhere(0)))
}

func TestSuccessNobodyAskedAboutTeaches(t *testing.T) {
	b := newBench(t)
	b.strangers("alice", 4)
	out := b.report(Report{Request: from("alice", home), Outcome: Success, RememberDevice: true})
	if !out.Applied {
		t.Fatal("the success is not applied")
	}
	if !b.knows(from("alice", away), out.Device) {
		t.Error("the device is not known")
	}
	if e := b.explain(from("alice", home)); !e.Familiar || e.Failures != 0 {
		t.Errorf("familiar %t and %d failures, want a success learned", e.Familiar, e.Failures)
	}
	if got := b.left(from("alice", elsewhere(9)), "account", ""); got != 6 {
		t.Errorf("%d tokens remain, want 6: it gives nothing back and charges nothing", got)
	}
}

func TestEventWithATagOrADeviceIsChargedOnItsLane(t *testing.T) {
	b := newBench(t)
	device := b.signIn(from("alice", home))
	q := Request{Account: "alice", IP: away, Device: device, PasswordTag: "typo"}
	r := Report{Request: q, Outcome: Failure, Reason: BadPassword}
	b.report(r)
	b.report(r)
	if got := b.left(Request{Account: "alice", IP: away, Device: device}, "device", ""); got != 9 {
		t.Errorf("%d tokens of the device remain, want 9: the second time is a repeat", got)
	}
	if got := b.left(q, "repeat", ""); got != 9 {
		t.Errorf("%d tokens of repeat remain, want 9", got)
	}
	if got := b.left(from("alice", away), "account", ""); got != 10 {
		t.Errorf("%d tokens of the account remain, want 10", got)
	}
}

func TestCancelledEventDoesNothing(t *testing.T) {
	b := newBench(t)
	if !b.report(event(from("alice", home), Cancelled)).Applied {
		t.Error("the report is not applied")
	}
	if n := b.mem.Len(); n != 0 {
		t.Errorf("%d keys are held, want none", n)
	}
}

func TestEventOfADeadDeviceIsAStrangers(t *testing.T) {
	b := newBench(t)
	device := b.signIn(from("alice", home))
	b.add(time.Second)
	b.forget(ForgetRequest{Account: "alice", Scope: "credentials"})
	out := b.report(Report{Request: Request{Account: "alice", IP: away, Device: device}, Outcome: Failure, Reason: BadPassword})
	if !out.Applied {
		t.Error("the failure is not applied")
	}
	if got := b.left(from("alice", home), "account", ""); got != 9 {
		t.Errorf("%d tokens of the account remain, want 9", got)
	}
	b.report(Report{Request: Request{Account: "alice", IP: away, Device: device}, Outcome: Success})
	if !b.check(from("alice", away)).Familiar {
		t.Error("the network of a success that shows a dead device is not familiar")
	}
}
