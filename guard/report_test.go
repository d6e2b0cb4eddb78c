package guard

import (
	"context"
	"testing"
	"time"

	"loginguard/keys"
	"loginguard/policy"
)

// partly adds a route whose success is a refund alone.
func partly(c *policy.Config) {
	c.Routes["password"] = policy.Route{Cost: 1, Success: policy.SuccessRefund}
}

func TestWhatASuccessDoesIsTheRoutesWord(t *testing.T) {
	for _, c := range []struct {
		route    string
		left     int64 // of the account's tokens
		host     int64 // of the address's tokens
		familiar bool
		failures int64
	}{
		{"login", 9, 29, true, 0},
		{"mfa", 9, 29, true, 0},
		{"password", 9, 29, false, 1},
		{"signup", 8, 24, false, 1},
		{"password_reset", 8, 26, false, 1},
	} {
		b := newBench(t, limits(partly))
		b.guess(from("alice", home))
		b.report(Report{Attempt: b.allowed(Request{Account: "alice", IP: home, Route: c.route}).Attempt, Outcome: Success})
		if got := b.left(from("alice", away), "account", ""); got != c.left {
			t.Errorf("%s: %d tokens of the account remain, want %d", c.route, got, c.left)
		}
		if got := b.left(from("zoe", home), "network", "host"); got != c.host {
			t.Errorf("%s: %d tokens of the address remain, want %d", c.route, got, c.host)
		}
		if e := b.explain(from("alice", home)); e.Familiar != c.familiar || e.Failures != c.failures {
			t.Errorf("%s: familiar %t and %d failures, want %t and %d", c.route, e.Familiar, e.Failures, c.familiar, c.failures)
		}
	}
}

func TestCancelledAttemptIsGivenBackOnEveryRoute(t *testing.T) {
	for _, route := range []string{"login", "password", "signup"} {
		b := newBench(t, limits(partly))
		d := b.allowed(Request{Account: "alice", IP: home, Route: route})
		if out := b.report(Report{Attempt: d.Attempt, Outcome: Cancelled, RememberDevice: true}); !out.Applied || out.Device != "" {
			t.Errorf("%s: the report answers %+v, want it applied without a device", route, out)
		}
		e := b.explain(from("alice", home))
		for _, l := range e.Limits {
			if l.Remaining != l.Capacity {
				t.Errorf("%s: %s %s has %d of %d tokens, want all", route, l.Limit, l.Level, l.Remaining, l.Capacity)
			}
		}
		if e.Familiar || e.Failures != 0 {
			t.Errorf("%s: familiar %t and %d failures, want nothing learned", route, e.Familiar, e.Failures)
		}
	}
}

func TestFailuresAreCountedUntilASuccess(t *testing.T) {
	b := newBench(t)
	for i, reason := range []string{BadPassword, UnknownAccount, MFAFailed, OtherReason, ""} {
		d := b.allowed(from("alice", elsewhere(i)))
		if d.Failures != int64(i) {
			t.Errorf("before failure %d the check tells %d", i+1, d.Failures)
		}
		b.report(Report{Attempt: d.Attempt, Outcome: Failure, Reason: reason})
	}
	d := b.allowed(from("alice", home))
	b.report(Report{Attempt: d.Attempt, Outcome: Cancelled})
	if d := b.allowed(from("alice", home)); d.Failures != 5 {
		t.Errorf("after a cancelled attempt the check tells %d failures, want 5", d.Failures)
	}
	b.signIn(from("alice", home))
	if d := b.allowed(from("alice", home)); d.Failures != 0 {
		t.Errorf("after a success the check tells %d failures, want 0", d.Failures)
	}
}

func TestFirstReportCounts(t *testing.T) {
	b := newBench(t)
	d := b.allowed(from("alice", home))
	b.fail(d)
	for range 3 {
		if out := b.report(Report{Attempt: d.Attempt, Outcome: Success, RememberDevice: true}); out != (Reported{}) {
			t.Errorf("a later success answers %+v, want it not applied", out)
		}
	}
	if e := b.explain(from("alice", home)); e.Familiar || e.Failures != 1 {
		t.Errorf("familiar %t and %d failures, want the failure alone", e.Familiar, e.Failures)
	}
}

func TestReportEndsTheWait(t *testing.T) {
	b := newBench(t)
	d := b.allowed(from("alice", home))
	b.strangers("alice", 9)
	b.denied(from("alice", away), "account", "")
	b.report(Report{Attempt: d.Attempt, Outcome: Success})
	b.allowed(from("alice", away))
}

func TestReportRefusesAttemptsThatAreNone(t *testing.T) {
	b := newBench(t)
	d := b.allowed(from("alice", home))
	device := b.signIn(from("alice", home))
	forged, err := keys.RandomRing().Seal(keys.KindAttempt, keys.Token{Realm: "default", Expires: 1 << 60})
	if err != nil {
		t.Fatal(err)
	}
	hollow, err := b.ring.Seal(keys.KindAttempt, keys.Token{Realm: "default", Expires: 1 << 60})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		caller Caller
		token  string
	}{
		"of another caller": {Caller{Name: "mail", Realms: idp.Realms}, d.Attempt},
		"of another kind":   {idp, device},
		"of another secret": {idp, forged},
		"without a body":    {idp, hollow},
		"changed":           {idp, d.Attempt[:len(d.Attempt)-2] + "AA"},
		"shortened":         {idp, d.Attempt[:40]},
		"no token at all":   {idp, "x"},
	} {
		out, err := b.Report(context.Background(), c.caller, Report{Attempt: c.token, Outcome: Success})
		if out != (Reported{}) {
			t.Errorf("%s: the report answers %+v", name, out)
		}
		wantError(t, err, KindInvalid, "attempt")
	}
	_, err = b.Report(context.Background(), idp, Report{Attempt: d.Attempt, Outcome: Success, Request: Request{Realm: "shop"}})
	wantError(t, err, KindInvalid, "attempt") // it says of itself that it is of another realm
	if !b.report(Report{Attempt: d.Attempt, Outcome: Success, Request: Request{Realm: "default"}}).Applied {
		t.Error("the attempt cannot be reported by its caller any more")
	}
}

func TestExpiredAttemptStaysCharged(t *testing.T) {
	b := newBench(t)
	d := b.allowed(from("alice", home))
	if d.ExpiresIn != 2*time.Minute {
		t.Errorf("an attempt expires in %v, want 2m", d.ExpiresIn)
	}
	b.add(2 * time.Minute)
	_, err := b.Report(context.Background(), idp, Report{Attempt: d.Attempt, Outcome: Success})
	wantError(t, err, KindInvalid, "attempt")
	if e := b.explain(from("alice", home)); e.Familiar || e.Limits[0].Remaining != 9 {
		t.Errorf("familiar %t with %d tokens, want nothing learned and 9", e.Familiar, e.Limits[0].Remaining)
	}
	d = b.allowed(from("alice", home))
	b.add(2*time.Minute - time.Microsecond)
	if !b.report(Report{Attempt: d.Attempt, Outcome: Success}).Applied {
		t.Error("a report in the last moment is not applied")
	}
}

func TestReportRefusesWordsItDoesNotKnow(t *testing.T) {
	b := newBench(t)
	d := b.allowed(from("alice", home))
	for _, c := range []struct{ outcome, reason, field string }{
		{"", "", "outcome"}, {"Success", "", "outcome"}, {"fail", "", "outcome"},
		{Failure, "wrong", "reason"}, {Success, BadPassword, "reason"}, {Cancelled, OtherReason, "reason"},
	} {
		_, err := b.Report(context.Background(), idp, Report{Attempt: d.Attempt, Outcome: c.outcome, Reason: c.reason})
		wantError(t, err, KindInvalid, c.field)
	}
}
