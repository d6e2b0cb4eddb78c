package guard

import "testing"

// tagged is an attempt with a password tag.
func tagged(account, ip, tag string) Request {
	return Request{Account: account, IP: ip, PasswordTag: tag}
}

func TestSameWrongPasswordAgainIsOneGuess(t *testing.T) {
	b := newBench(t)
	q := tagged("alice", home, "typo")
	if got := b.guesses(500, func(int) Request { return q }); got != 11 {
		t.Errorf("%d of 500 repeats are allowed, want the guess and 10", got)
	}
	if d := b.denied(q, "repeat", ""); d.RetryAfter != 360 {
		t.Errorf("the wait is %d s, want 360", d.RetryAfter)
	}
	for limit, want := range map[[2]string]int64{
		{"account", ""}: 9, {"network", "host"}: 29, {"network", "subnet"}: 99, {"global", ""}: 999,
	} {
		if got := b.left(from("alice", home), limit[0], limit[1]); got != want {
			t.Errorf("%v has %d tokens, want %d: one guess is charged", limit, got, want)
		}
	}
	if d := b.allowed(tagged("alice", home, "right")); len(d.Meters) != 5 {
		t.Errorf("the next password is charged on %d limits, want 5", len(d.Meters))
	}
}

func TestRepeatIsOnlyForTheSameSourceAndPassword(t *testing.T) {
	b := newBench(t)
	b.guess(tagged("alice", home, "typo"))
	limit := func(q Request) string { return b.allowed(q).Meters[0].Limit }
	for name, c := range map[string]struct {
		q    Request
		want string
	}{
		"same network":    {tagged("alice", neighbor, "typo"), "repeat"},
		"another network": {tagged("alice", away, "typo"), "account"},
		"another tag":     {tagged("alice", home, "typo2"), "account"},
		"another account": {tagged("bob", home, "typo"), "account"},
		"no tag":          {from("alice", home), "account"},
	} {
		if got := limit(c.q); got != c.want {
			t.Errorf("%s: charged on %s, want %s", name, got, c.want)
		}
	}
}

func TestRepeatOfADeviceIsItsOwn(t *testing.T) {
	b := newBench(t)
	q := tagged("alice", home, "typo")
	q.Device = b.signIn(from("alice", home))
	b.guess(q)
	d := b.allowed(q)
	if d.Meters[0].Limit != "repeat" || !d.Familiar {
		t.Errorf("the repeat on the device is charged on %s (familiar %t), want repeat", d.Meters[0].Limit, d.Familiar)
	}
	b.fail(d)
	if d := b.allowed(tagged("alice", home, "typo")); d.Meters[0].Limit != "familiar" {
		t.Errorf("the same tag without the device is charged on %s, want familiar", d.Meters[0].Limit)
	}
	q.IP = away
	if d := b.allowed(q); d.Meters[0].Limit != "repeat" {
		t.Errorf("the repeat on the travelling device is charged on %s, want repeat", d.Meters[0].Limit)
	}
}

func TestOnlyAWrongPasswordOpensTheRepeatLimit(t *testing.T) {
	for _, r := range []Report{
		{Outcome: Failure, Reason: MFAFailed}, {Outcome: Failure, Reason: UnknownAccount},
		{Outcome: Failure, Reason: OtherReason}, {Outcome: Failure}, {Outcome: Cancelled}, {Outcome: Success},
	} {
		b := newBench(t)
		q := tagged("alice", home, "typo")
		r.Attempt = b.allowed(q).Attempt
		b.report(r)
		if d := b.allowed(q); d.Meters[0].Limit == "repeat" {
			t.Errorf("after %s %q the tag is a repeat", r.Outcome, r.Reason)
		}
	}
}

func TestOnlyTheLastThreeWrongPasswordsAreRemembered(t *testing.T) {
	b := newBench(t)
	for _, tag := range []string{"one", "two", "three", "four"} {
		b.guess(tagged("alice", home, tag))
	}
	for tag, want := range map[string]string{"one": "account", "two": "repeat", "three": "repeat", "four": "repeat"} {
		if got := b.allowed(tagged("alice", home, tag)).Meters[0].Limit; got != want {
			t.Errorf("tag %s is charged on %s, want %s", tag, got, want)
		}
	}
	b.forget(ForgetRequest{Account: "alice", Scope: "credentials"})
	if got := b.allowed(tagged("alice", home, "two")).Meters[0].Limit; got != "account" {
		t.Errorf("after a reset a wrong tag is charged on %s, want account", got)
	}
}

func TestOnePasswordOverManyAccounts(t *testing.T) {
	b := newBench(t)
	q := func(i int) Request { return tagged(user(i), elsewhere(i), "Winter2026") }
	if got := b.guesses(200, q); got != 20 {
		t.Errorf("%d of 200 accounts are tried with one password, want 20", got)
	}
	b.denied(q(200), "password", "")
	b.allowed(tagged(user(200), elsewhere(200), "another"))
	b.allowed(from(user(201), elsewhere(201)))
	shop := q(202)
	shop.Realm = "shop"
	b.allowed(shop)
}
