package guard

import (
	"context"
	"testing"
	"time"

	"loginguard/policy"
)

// named is an attempt with the caller's own name for it.
func named(id string) Request { return Request{Account: "alice", IP: home, ID: id} }

func TestSameCheckUnderOneIDIsOneAttempt(t *testing.T) {
	b := newBench(t)
	first := b.allowed(named("login-1"))
	for i := range 3 {
		b.add(10 * time.Second)
		d := b.allowed(named("login-1"))
		if d.Attempt != first.Attempt {
			t.Errorf("repeat %d has another attempt", i+1)
		}
		if want := 2*time.Minute - time.Duration(i+1)*10*time.Second; d.ExpiresIn != want {
			t.Errorf("repeat %d expires in %v, want %v", i+1, d.ExpiresIn, want)
		}
		if !d.Meters[0].Charged {
			t.Errorf("repeat %d does not show what the attempt was charged on", i+1)
		}
	}
	_, err := b.Check(context.Background(), idp, named("login-1"))
	wantError(t, err, KindConflict, "id")
	if got := b.left(from("alice", home), "account", ""); got != 9 {
		t.Errorf("%d tokens remain, want 9: the attempt is charged once", got)
	}
}

func TestIDIsBoundToItsAttempt(t *testing.T) {
	b := newBench(t)
	device := b.signIn(from("alice", home))
	base := Request{Account: "alice", IP: home, ID: "login-1", PasswordTag: "tag"}
	b.allowed(base)
	for name, change := range map[string]func(*Request){
		"account":   func(q *Request) { q.Account = "bob" },
		"ip":        func(q *Request) { q.IP = neighbor },
		"realm":     func(q *Request) { q.Realm = "shop" },
		"route":     func(q *Request) { q.Route = "mfa" },
		"device":    func(q *Request) { q.Device = device },
		"tag":       func(q *Request) { q.PasswordTag = "other" },
		"no tag":    func(q *Request) { q.PasswordTag = "" },
		"challenge": func(q *Request) { q.ChallengePassed = true },
	} {
		t.Run(name, func(t *testing.T) {
			q := base
			change(&q)
			_, err := b.Check(context.Background(), idp, q)
			wantError(t, err, KindConflict, "id")
		})
	}
	same := base
	same.Account, same.CanChallenge = " ALICE ", true // the same account, and no part of the attempt
	b.allowed(same)
}

func TestIDIsBoundToItsRealmWithoutAnAccount(t *testing.T) {
	b := newBench(t, limits(func(c *policy.Config) {
		c.Routes["kiosk"] = policy.Route{Cost: 1, Success: policy.SuccessNone, NoAccount: true}
	}))
	q := Request{Route: "kiosk", IP: home, ID: "visit-1"}
	b.allowed(q)
	q.Realm = "shop"
	_, err := b.Check(context.Background(), idp, q)
	wantError(t, err, KindConflict, "id")
}

func TestIDBelongsToItsCaller(t *testing.T) {
	b := newBench(t)
	mail := Caller{Name: "mail", Realms: idp.Realms}
	first := b.allowed(named("login-1"))
	other := named("login-1")
	other.Account = "bob"
	d, err := b.Check(context.Background(), mail, other)
	if err != nil || d.Verdict != Allow || d.Attempt == first.Attempt {
		t.Fatalf("another caller's attempt under the same id is decided %s, %v", d.Verdict, err)
	}
	_, err = b.Report(context.Background(), mail, Report{Request: named("login-1"), Outcome: Success})
	wantError(t, err, KindInvalid, "id")
}

func TestIDIsFreeAfterTheReport(t *testing.T) {
	b := newBench(t)
	first := b.allowed(named("login-1"))
	b.fail(first)
	second := b.allowed(named("login-1"))
	if second.Attempt == first.Attempt {
		t.Fatal("the id still names the attempt that was reported")
	}
	if got := b.left(from("alice", home), "account", ""); got != 8 {
		t.Errorf("%d tokens remain, want 8: two attempts are charged", got)
	}
	if b.report(Report{Attempt: first.Attempt, Outcome: Success}).Applied {
		t.Error("a late report of the first attempt is applied")
	}
	if again := b.allowed(named("login-1")); again.Attempt != second.Attempt {
		t.Error("a late report of the first attempt freed the id of the second")
	}
}

func TestIDEndsWithTheAttempt(t *testing.T) {
	b := newBench(t)
	first := b.allowed(named("login-1"))
	b.add(2 * time.Minute)
	if _, err := b.Report(context.Background(), idp, Report{Request: named("login-1"), Outcome: Success}); err == nil {
		t.Error("an expired attempt is reported by its id")
	}
	if d := b.allowed(named("login-1")); d.Attempt == first.Attempt {
		t.Error("the id still names an expired attempt")
	}
}

func TestDenialIsNotRemembered(t *testing.T) {
	b := newBench(t)
	b.strangers("alice", 10)
	b.denied(named("login-1"), "account", "")
	b.add(30 * time.Second)
	b.allowed(named("login-1"))
}

func TestReportByID(t *testing.T) {
	b := newBench(t)
	q := named("login-1")
	d := b.allowed(q)
	for name, wrong := range map[string]Request{
		"another ip":      {Account: "alice", IP: away, ID: "login-1"},
		"another account": {Account: "bob", IP: home, ID: "login-1"},
		"another realm":   {Account: "alice", IP: home, ID: "login-1", Realm: "shop"},
		"another id":      {Account: "alice", IP: home, ID: "login-2"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := b.Report(context.Background(), idp, Report{Request: wrong, Outcome: Success})
			wantError(t, err, KindInvalid, "id")
		})
	}
	r := Report{Request: q, Outcome: Success, RememberDevice: true}
	out := b.report(r)
	if !out.Applied || out.Device == "" {
		t.Errorf("the report answers %+v, want it applied with a device", out)
	}
	if out := b.report(r); out != (Reported{}) {
		t.Errorf("the repeated report answers %+v, want it not applied", out)
	}
	if b.report(Report{Attempt: d.Attempt, Outcome: Success}).Applied {
		t.Error("the attempt is reported once more by its token")
	}
	if got := b.seen.count("reported success false"); got != 2 {
		t.Errorf("the observer is told of %d repeats, want 2", got)
	}
	if got := b.left(from("alice", away), "account", ""); got != 10 {
		t.Errorf("%d tokens remain, want 10: the attempt is given back once", got)
	}
}

func TestRepeatKeepsTheAttemptOverAReload(t *testing.T) {
	b := newBench(t)
	first := b.allowed(named("login-1"))
	c := policy.Defaults()
	c.AttemptTTL = 10 * time.Second
	b.Swap(newRules(t, c))
	b.add(30 * time.Second)
	d := b.allowed(named("login-1"))
	if d.Attempt != first.Attempt || d.ExpiresIn != 90*time.Second {
		t.Errorf("after a reload the repeat has another attempt (%t) or ends in %v, want 1m30s", d.Attempt != first.Attempt, d.ExpiresIn)
	}
}
