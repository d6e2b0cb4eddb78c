package guard

import (
	"testing"

	"loginguard/policy"
)

// challenging lets a limit ask for a challenge.
func challenging(c *policy.Config) { c.Limits.Account.OnExhausted = "challenge" }

func TestDryAccountAsksForAChallenge(t *testing.T) {
	b := newBench(t, limits(challenging))
	b.strangers("alice", 10)
	q := from("alice", away)
	b.denied(q, "account", "")

	q.CanChallenge = true
	d := b.check(q)
	if d.Verdict != Challenge || d.Limit != "account" || d.Attempt != "" || d.RetryAfter != 0 {
		t.Fatalf("decided %s by %s with wait %d, want a challenge by account without a wait", d.Verdict, d.Limit, d.RetryAfter)
	}
	q.ChallengePassed = true
	for i := range 5 {
		b.fail(b.allowed(q))
		if got := b.left(q, "challenged", ""); got != int64(4-i) {
			t.Errorf("%d challenged attempts remain, want %d", got, 4-i)
		}
	}
	b.denied(q, "challenged", "")
	if b.allowed(from("bob", away)).Verdict != Allow {
		t.Error("another account is closed")
	}
}

func TestChallengeIsChargedInPlaceOfTheDryLimit(t *testing.T) {
	b := newBench(t, limits(challenging))
	b.strangers("alice", 10)
	q := Request{Account: "alice", IP: away, ChallengePassed: true}
	d := b.allowed(q)
	charged := map[string]bool{}
	for _, m := range d.Meters {
		charged[m.Limit] = m.Charged
	}
	if charged["account"] || !charged["challenged"] || !charged["network"] || !charged["global"] {
		t.Errorf("charged are %v, want challenged in place of account", charged)
	}
	if out := b.report(Report{Attempt: d.Attempt, Outcome: Success}); !out.Applied {
		t.Fatal("the success is not applied")
	}
	if got := b.left(Request{Account: "alice", IP: elsewhere(99), ChallengePassed: true}, "challenged", ""); got != 5 {
		t.Errorf("after the success %d challenged attempts remain, want 5", got)
	}
}

func TestPassedChallengeCostsNothingWhileNothingIsDry(t *testing.T) {
	b := newBench(t, limits(challenging))
	for i := range 10 {
		d := b.allowed(Request{Account: "alice", IP: elsewhere(i), ChallengePassed: true})
		for _, m := range d.Meters {
			if m.Limit == "challenged" && m.Charged {
				t.Fatal("challenged is charged although the account can pay")
			}
		}
	}
}

func TestOneStubbornLimitDeniesWhoeverPassed(t *testing.T) {
	b := newBench(t, limits(challenging))
	b.strangers("alice", 10)
	b.guesses(30, func(i int) Request { return from(user(i), home) })
	for _, passed := range []bool{false, true} {
		b.denied(Request{Account: "alice", IP: home, CanChallenge: true, ChallengePassed: passed}, "network", "host")
	}
	b.denied(Request{Account: "zoe", IP: home, CanChallenge: true}, "network", "host")
}
