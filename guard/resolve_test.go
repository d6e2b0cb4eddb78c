package guard

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestRequestsThatCannotBeDecided(t *testing.T) {
	b := newBench(t)
	for name, c := range map[string]struct {
		q     Request
		kind  Kind
		field string
	}{
		"no account":               {from("", home), KindInvalid, "account"},
		"blank account":            {from(" \t\u3000", home), KindInvalid, "account"},
		"invisible account":        {from("\u200b\u00ad\u2060\x00", home), KindInvalid, "account"},
		"account too long":         {from(strings.Repeat("a", 1025), home), KindInvalid, "account"},
		"no address":               {Request{Account: "alice"}, KindInvalid, "ip"},
		"two addresses":            {Request{Account: "alice", IP: home, Forwarded: &Forwarded{Peer: home}}, KindInvalid, "ip"},
		"address that is none":     {from("alice", "203.0.113.999"), KindInvalid, "ip"},
		"peer that is none":        {Request{Account: "alice", Forwarded: &Forwarded{Peer: "nobody"}}, KindInvalid, "forwarded.peer"},
		"route":                    {Request{Account: "alice", IP: home, Route: "backdoor"}, KindInvalid, "route"},
		"id too long":              {Request{Account: "alice", IP: home, ID: strings.Repeat("i", 129)}, KindInvalid, "id"},
		"tag too long":             {Request{Account: "alice", IP: home, PasswordTag: strings.Repeat("t", 129)}, KindInvalid, "password_tag"},
		"realm not of this caller": {Request{Account: "alice", IP: home, Realm: "hidden"}, KindForbidden, "realm"},
		"realm that does not exist": {
			Request{Account: "alice", IP: home, Realm: "made-up"}, KindForbidden, "realm"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			d, err := b.Check(ctx, idp, c.q)
			wantError(t, err, c.kind, c.field)
			if d.Verdict != "" {
				t.Errorf("it is decided %s all the same", d.Verdict)
			}
			_, err = b.Explain(ctx, idp, c.q)
			wantError(t, err, c.kind, c.field)
			_, err = b.Report(ctx, idp, Report{Request: c.q, Outcome: Failure})
			wantError(t, err, c.kind, c.field)
		})
	}
	if n := b.mem.Len(); n != 0 {
		t.Errorf("%d keys are held, want none", n)
	}
}

func TestRealmsExistOnlyByTheConfiguration(t *testing.T) {
	b := newBench(t)
	caller := Caller{Name: "mail", Realms: []string{"made-up"}}
	_, err := b.Check(context.Background(), caller, Request{Account: "alice", IP: home, Realm: "made-up"})
	wantError(t, err, KindForbidden, "realm")
}

func TestTagsOfDifferentUseCannotBeLinked(t *testing.T) {
	b := newBench(t)
	seen := map[string]string{}
	note := func(what, tag string) {
		if other, ok := seen[tag]; ok {
			t.Errorf("the same password is stored alike for %s and %s", what, other)
		}
		seen[tag] = what
	}
	for _, realm := range []string{"default", "shop"} {
		for _, name := range []string{"alice", "bob"} {
			r, err := resolve(b.ring, b.rules.Load(), idp, Request{Account: name, IP: home, Realm: realm, PasswordTag: "typo"})
			if err != nil {
				t.Fatal(err)
			}
			note(realm+" "+name, r.RepeatTag)
			if name == "alice" {
				note("all of "+realm, r.PasswordTag)
			}
		}
	}
}

func TestErrorsRepeatNothingOfTheRequest(t *testing.T) {
	b := newBench(t)
	const planted = "planted-4711"
	for _, q := range []Request{
		from("alice", planted), {Account: "alice", IP: home, Route: planted}, {Account: "alice", IP: home, Realm: planted},
		{Account: strings.Repeat(planted, 100), IP: home}, {Account: "alice", IP: home, ID: strings.Repeat(planted, 20)},
		{Account: "alice", Forwarded: &Forwarded{Peer: planted}},
	} {
		_, err := b.Check(context.Background(), idp, q)
		if err == nil || strings.Contains(err.Error(), planted) {
			t.Errorf("the error is %v, want one that does not repeat the request", err)
		}
	}
}

func TestBoundsAreInclusive(t *testing.T) {
	b := newBench(t)
	b.allowed(Request{
		Account: strings.Repeat("a", 1024), IP: home, ID: strings.Repeat("i", 128), PasswordTag: strings.Repeat("t", 128),
	})
}

func TestSpellingsOfAnAccountAreOne(t *testing.T) {
	b := newBench(t)
	names := []string{"Alice", "ALICE", " alice ", "\uff41lice", "al\u200bice"}
	for i := range 10 {
		b.guess(from(names[i%len(names)], elsewhere(i)))
	}
	b.denied(from("alice", away), "account", "")
}

func TestForwardedHeadersChooseNoBucket(t *testing.T) {
	b := newBench(t)
	q := func(i int) Request {
		return Request{Account: user(i), Forwarded: &Forwarded{Peer: home + ":1234", Header: "x-forwarded-for", Lines: []string{elsewhere(i)}}}
	}
	if got := b.guesses(40, q); got != 30 {
		t.Errorf("%d of 40 guesses behind made-up headers are allowed, want the 30 of the peer", got)
	}
	if d := b.check(q(41)); d.Client != home {
		t.Errorf("the client is %s, want the peer", d.Client)
	}
}

func TestStrangersLearnNothingOfAnAccount(t *testing.T) {
	b := newBench(t)
	device := b.signIn(from("alice", home))
	b.signIn(from("alice", "198.51.100.7"))
	b.guess(Request{Account: "alice", IP: home, Device: device, PasswordTag: "typo"})
	b.signIn(from("alice", home))
	blank := cmpopts.IgnoreFields(Decision{}, "Attempt", "Account", "Client")
	compare := func(what string, known, unknown Decision) {
		t.Helper()
		if d := cmp.Diff(unknown, known, blank); d != "" {
			t.Errorf("%s (-never seen +known):\n%s", what, d)
		}
		if len(known.Attempt) != len(unknown.Attempt) {
			t.Errorf("%s: attempts of %d and %d bytes tell the accounts apart", what, len(known.Attempt), len(unknown.Attempt))
		}
	}
	// From networks of their own, or the second would find what the first took.
	for i := range 12 {
		known := Request{Account: "alice", IP: elsewhere(i), PasswordTag: "typo"}
		unknown := Request{Account: "nobody", IP: elsewhere(100 + i), PasswordTag: "typo"}
		kd, ud := b.check(known), b.check(unknown)
		for j := range ud.Meters { // both pay for global and password, one after the other
			if m := &ud.Meters[j]; m.Limit == "global" || m.Limit == "password" {
				m.Remaining, m.Reset = kd.Meters[j].Remaining, kd.Meters[j].Reset
			}
		}
		compare("check", kd, ud)
		if kd.Verdict == Allow {
			kr := b.report(Report{Attempt: kd.Attempt, Outcome: Failure, Reason: BadPassword})
			if ur := b.report(Report{Attempt: ud.Attempt, Outcome: Failure, Reason: UnknownAccount}); kr != ur {
				t.Errorf("reports answer %+v and %+v", kr, ur)
			}
		}
	}
}
