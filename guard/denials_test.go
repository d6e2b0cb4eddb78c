package guard

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"loginguard/policy"
	"loginguard/store"
)

// remembering is a bench whose guard remembers denials, on the virtual clock.
func remembering(t testing.TB) *bench {
	b := newBench(t, func(s *setup) { s.o.Denials = 1000 })
	b.denials.few = 1
	b.denials.clock = func() time.Time { return time.UnixMicro(b.now()) }
	return b
}

// asked tells whether a check asked the store, and how it was decided.
func (b *bench) asked(q Request) (bool, Decision) {
	b.t.Helper()
	count := func() int { return b.seen.count("store take ") + b.seen.count("store look ") }
	before := count()
	d := b.check(q)
	asked := count() > before
	if asked == d.Recalled {
		b.t.Fatalf("recalled is %t, and the store was asked: %t", d.Recalled, asked)
	}
	return asked, d
}

// recalled is denied without the store.
func (b *bench) recalled(q Request, limit, level string) Decision {
	b.t.Helper()
	if asked, d := b.asked(q); asked || d.Verdict != Deny || d.Limit != limit || d.Level != level {
		b.t.Fatalf("store asked: %t, decided %s by %q %q; want a denial by %q %q without it", asked, d.Verdict, d.Limit, d.Level, limit, level)
	} else {
		return d
	}
	panic("unreachable")
}

// inquired is decided by the store.
func (b *bench) inquired(q Request, want Verdict) {
	b.t.Helper()
	if asked, d := b.asked(q); !asked || d.Verdict != want {
		b.t.Fatalf("store asked: %t, decided %s by %q; want %s by the store", asked, d.Verdict, d.Limit, want)
	}
}

func TestFloodAtAClosedAccountIsDeniedWithoutTheStore(t *testing.T) {
	b := remembering(t)
	b.strangers("alice", 10)
	b.inquired(from("alice", away), Deny)
	first := b.denied(from("alice", away), "account", "")
	b.add(900 * time.Millisecond)
	d := b.recalled(from("alice", elsewhere(77)), "account", "")
	if first.RetryAfter != 30 || d.RetryAfter != 30 {
		t.Errorf("the waits are %d and %d s, want 30: 29.1 rounded up", first.RetryAfter, d.RetryAfter)
	}
	if m := d.Meters[d.Shown]; m.Limit != "account" || m.Remaining != 0 || m.Reset != 30 || m.Capacity != 10 {
		t.Errorf("the headers show %+v", m)
	}
	b.add(100 * time.Millisecond)
	b.inquired(from("alice", away), Deny)
}

// One person who tries again and again is denied by the store, and so is let in
// the moment that another instance is told to; a flood is not, for as long as
// it lasts.
func TestOnlyAFloodIsDeniedFromMemory(t *testing.T) {
	b := remembering(t)
	b.denials.few = denialsFew
	b.strangers("alice", 10)
	tries := func(n int) (asked int) {
		for i := range n {
			if store, d := b.asked(from("alice", elsewhere(i%50))); d.Verdict != Deny {
				t.Fatalf("try %d was decided %s", i, d.Verdict)
			} else if store {
				asked++
			}
		}
		return asked
	}
	if asked := tries(denialsFew); asked != denialsFew {
		t.Errorf("the store decided %d of the first %d, want all", asked, denialsFew)
	}
	if asked := tries(200); asked != 0 {
		t.Errorf("the store decided %d of the flood, want none", asked)
	}
	for range 5 {
		b.add(time.Second)
		if asked := tries(200); asked != 1 {
			t.Errorf("the store decided %d of a second's flood, want 1", asked)
		}
	}
	b.add(time.Second)
	if asked := tries(5); asked != 1 {
		t.Errorf("the store decided %d of what follows the flood, want 1", asked)
	}
	b.add(time.Second)
	if asked := tries(5); asked != 5 {
		t.Errorf("the store decided %d a second later, want all 5", asked)
	}
	b.add(3 * time.Second)
	b.forget(ForgetRequest{Account: "alice"})
	b.inquired(from("alice", away), Allow)
}

// What denies longest is told, also where the flood is at another bucket; a
// flood at global names no denial, since others are not known to be in order.
func TestMemoryTellsTheLongestWait(t *testing.T) {
	b := newBench(t, limits(func(c *policy.Config) {
		c.Limits.Global.Capacity, c.Limits.Global.Refill = 60, policy.Rate{Tokens: 60, Per: time.Hour}
	}), func(s *setup) { s.o.Denials = 1000 })
	b.denials.clock = func() time.Time { return time.UnixMicro(b.now()) }
	b.guesses(31, func(i int) Request { return from(fmt.Sprint("user", i), away) })
	b.guesses(60, func(i int) Request { return from(fmt.Sprint("other", i), elsewhere(i)) })
	b.inquired(from("other59", elsewhere(59)), Deny)
	for range denialsFew - 1 { // one was denied there before
		b.inquired(from("x", away), Deny)
	}
	if d := b.recalled(from("x", away), "network", "host"); d.RetryAfter != 120 {
		t.Errorf("the wait is %d s, want 120", d.RetryAfter)
	}
	for range 2 * denialsFew {
		b.inquired(from("z", elsewhere(3)), Deny) // by global alone
	}
}

// What a log-only limit would have done is told of every attempt, so that the
// store decides all of them.
func TestNothingIsDeniedFromMemoryWhereALimitOnlyLogs(t *testing.T) {
	b := newBench(t, limits(func(c *policy.Config) { c.Limits.Account.Mode = policy.LogOnly }), func(s *setup) { s.o.Denials = 1000 })
	b.denials.clock = func() time.Time { return time.UnixMicro(b.now()) }
	b.guesses(30, func(int) Request { return from("alice", away) })
	for range 3 * denialsFew {
		b.inquired(from("alice", away), Deny)
	}
	if got := b.seen.count("would deny account "); got != 20+3*denialsFew {
		t.Errorf("%d attempts would have been denied, want %d", got, 20+3*denialsFew)
	}
}

// A denial that was decided before an operator let somebody in, and is heard of
// after, is not remembered.
func TestDenialFromBeforeAnOperatorsForgetIsNotRemembered(t *testing.T) {
	b := remembering(t)
	b.strangers("alice", 10)
	began := b.denials.now()
	b.add(time.Millisecond)
	b.inquired(from("alice", away), Deny)
	r, err := resolve(b.ring, b.rules.Load(), idp, from("alice", away))
	if err != nil {
		t.Fatal(err)
	}
	plan := planned(b.Rules().Policy, r, from("alice", away))
	taken, err := b.store.Take(context.Background(), plan.Take)
	if err != nil || taken.Outcome != store.Denied {
		t.Fatalf("outcome %d, %v", taken.Outcome, err)
	}
	b.forget(ForgetRequest{Account: "alice"})
	b.denials.learn(plan, taken, began)
	b.inquired(from("alice", away), Allow)
}

// The wait ends before the second does: the attempt that backoff lends is made.
func TestDenialIsNotRecalledBeyondItsWait(t *testing.T) {
	b := remembering(t)
	b.strangers("alice", 11)
	b.add(29500 * time.Millisecond)
	b.inquired(from("alice", away), Deny)
	b.add(499 * time.Millisecond)
	if d := b.recalled(from("alice", away), "account", ""); d.RetryAfter != 1 {
		t.Errorf("the wait is %d s, want 1", d.RetryAfter)
	}
	b.add(time.Millisecond)
	b.inquired(from("alice", away), Allow)
}

func TestNoOtherLaneIsDeniedFromMemory(t *testing.T) {
	b := remembering(t)
	device := b.signIn(from("alice", home))
	b.guess(tagged("alice", away, "typo"))
	b.strangers("alice", 12)
	b.recalled(from("alice", away), "account", "")
	b.recalled(tagged("alice", elsewhere(0), "typo"), "account", "")
	for name, q := range map[string]Request{
		"the familiar network":    from("alice", home),
		"a neighbour":             from("alice", neighbor),
		"the device":              {Account: "alice", IP: away, Device: device},
		"a wrong password again":  tagged("alice", away, "typo"),
		"another account":         from("bob", away),
		"the account by its name": from("ALICE", home),
	} {
		if asked, d := b.asked(q); !asked || d.Verdict != Allow {
			t.Errorf("%s: store asked: %t, decided %s by %s, want allow", name, asked, d.Verdict, d.Limit)
		}
	}
	for name, q := range map[string]Request{
		"an attempt with an id":    {Account: "alice", IP: away, ID: "1"},
		"one that can challenge":   {Account: "alice", IP: away, CanChallenge: true},
		"one that was challenged":  {Account: "alice", IP: away, ChallengePassed: true},
		"a password not yet tried": tagged("alice", away, "other"),
	} {
		if asked, d := b.asked(q); !asked || d.Verdict != Deny {
			t.Errorf("%s: store asked: %t, decided %s", name, asked, d.Verdict)
		}
	}
}

func TestClosedNetworkIsRecalledForAccountsThatAreStrangersThere(t *testing.T) {
	b := remembering(t)
	b.signIn(from("resident", away))
	b.guesses(30, func(i int) Request { return from(fmt.Sprint("user", i), away) })
	b.inquired(from("x", away), Deny)
	b.recalled(from("x", away), "network", "host")
	b.inquired(from("y", away), Deny) // might live there
	b.inquired(from("resident", away), Allow)
	// The longer of two waits is told.
	b.strangers("x", 11)
	if d := b.recalled(from("x", away), "network", "host"); d.RetryAfter != 120 {
		t.Errorf("the wait is %d s, want 120: the host's, not the account's", d.RetryAfter)
	}
	// What costs more is another question.
	signup := from("x", away)
	signup.Route = "password_reset"
	if d := b.recalled(signup, "account", ""); d.RetryAfter != 30 {
		t.Errorf("the wait is %d s, want 30", d.RetryAfter)
	}
}

// A closed network that tries ever new accounts is most of what a guard sees of
// an attack: of each account the store is asked only if it is at home there.
func TestFloodFromAClosedNetworkAsksOnlyWhoseAccountItIs(t *testing.T) {
	b := remembering(t)
	b.signIn(from("resident", away))
	b.guess(tagged("clerk", away, "old")) // whose phone tries it again and again
	b.guesses(29, func(i int) Request { return from(fmt.Sprint("user", i), away) })
	want := b.denied(from("x", away), "network", "host")
	takes, looks := b.seen.count("store take "), b.seen.count("store look ")
	for i := range 20 {
		d := b.denied(from(fmt.Sprint("new", i), away), "network", "host")
		if d.RetryAfter != want.RetryAfter || d.Recalled {
			t.Fatalf("account %d is denied with %+v, want as by the store: %+v", i, d, want)
		}
	}
	if takes, looks := b.seen.count("store take ")-takes, b.seen.count("store look ")-looks; takes != 0 || looks != 20 {
		t.Errorf("the store decided %d of 20 and looked at %d, want 0 and 20", takes, looks)
	}
	b.inquired(from("resident", away), Allow)
	b.inquired(tagged("clerk", away, "old"), Allow)
	// The store denies longer by the account, and the account gets its strike.
	b.strangers("victim", 10)
	if d := b.check(from("victim", away)); d.Verdict != Deny {
		t.Fatalf("decided %s", d.Verdict)
	}
	e := b.explain(from("victim", elsewhere(77)))
	for _, l := range e.Limits {
		if l.Limit == "account" && l.Strikes != 1 {
			t.Errorf("the account has %d strikes, want the one of its denial", l.Strikes)
		}
	}
}

func TestWhatOpensABucketEndsItsMemory(t *testing.T) {
	full := func(t *testing.T) (*bench, Decision) {
		b := remembering(t)
		mine := b.allowed(from("alice", away))
		b.strangers("alice", 9)
		b.inquired(from("alice", away), Deny)
		b.recalled(from("alice", away), "account", "")
		return b, mine
	}
	for name, open := range map[string]func(*bench, Decision){
		"success":   func(b *bench, d Decision) { b.report(Report{Attempt: d.Attempt, Outcome: Success}) },
		"cancelled": func(b *bench, d Decision) { b.report(Report{Attempt: d.Attempt, Outcome: Cancelled}) },
		"forget":    func(b *bench, _ Decision) { b.forget(ForgetRequest{Account: "alice"}) },
	} {
		t.Run(name, func(t *testing.T) {
			b, d := full(t)
			open(b, d)
			b.inquired(from("alice", elsewhere(99)), Allow)
		})
	}
	t.Run("new rules", func(t *testing.T) {
		b, _ := full(t)
		b.Swap(b.Rules())
		b.inquired(from("alice", away), Deny)
	})
	t.Run("at another instance", func(t *testing.T) {
		b, d := full(t)
		b.other(b.ring).report(Report{Attempt: d.Attempt, Outcome: Cancelled})
		b.recalled(from("alice", elsewhere(99)), "account", "")
		b.add(time.Second)
		b.inquired(from("alice", elsewhere(99)), Allow)
	})
}

// What is known of an account ends a second after it was told, also where the
// network's bucket was seen since: the owner may live there by now.
func TestWhatAnAccountKnowsIsNotRecalledForLonger(t *testing.T) {
	b := remembering(t)
	b.guesses(30, func(i int) Request { return from(fmt.Sprint("user", i), away) })
	b.inquired(from("alice", away), Deny)
	b.add(900 * time.Millisecond)
	b.inquired(from("bob", away), Deny)
	b.recalled(from("alice", away), "network", "host")
	b.add(100 * time.Millisecond)
	b.inquired(from("alice", away), Deny)
}

// Whatever happened before, nobody is denied from memory whom the store would
// let in, or told a longer wait.
func TestMemoryDeniesOnlyWhatTheStoreDenies(t *testing.T) {
	recalled, looked := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		b := remembering(t)
		var open []string
		devices := make(map[string]string)
		for step := range rapid.IntRange(1, 120).Draw(rt, "steps") {
			b.add(time.Duration(rapid.SampledFrom([]int64{0, 0, 0, 1, 300, 999, 31_000, 125_000}).Draw(rt, "clock")) * time.Millisecond)
			account := rapid.SampledFrom([]string{"alice", "alice", "bob", fmt.Sprint("new", step)}).Draw(rt, "account")
			q := from(account, rapid.SampledFrom([]string{home, home, neighbor, away, elsewhere(1)}).Draw(rt, "ip"))
			if rapid.IntRange(0, 3).Draw(rt, "tagged") == 0 {
				q.PasswordTag = rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "tag")
			}
			if rapid.IntRange(0, 5).Draw(rt, "on device") == 0 {
				q.Device = devices[account]
			}
			q.Route = rapid.SampledFrom([]string{"login", "login", "signup"}).Draw(rt, "route")
			takes := b.seen.count("store take ")
			d := b.check(q)
			if d.Verdict == Deny && b.seen.count("store take ") == takes {
				if recalled++; !d.Recalled {
					looked++
				}
				if e := b.explain(q); e.Decision != Deny || d.Busy != e.Busy || d.RetryAfter > e.RetryAfter {
					rt.Fatalf("denied from memory by %s for %d s; the store says %s by %s for %d s", d.Limit, d.RetryAfter, e.Decision, e.Limit, e.RetryAfter)
				}
			}
			if d.Verdict == Allow {
				open = append(open, d.Attempt)
			}
			if len(open) == 0 || rapid.IntRange(0, 2).Draw(rt, "report") == 0 {
				continue
			}
			i := rapid.IntRange(0, len(open)-1).Draw(rt, "attempt")
			r := Report{Attempt: open[i], Outcome: rapid.SampledFrom([]string{Failure, Failure, Failure, Success, Cancelled}).Draw(rt, "outcome")}
			if r.RememberDevice = true; r.Outcome == Failure {
				r.Reason = BadPassword
			}
			open = append(open[:i], open[i+1:]...)
			// One that has expired is refused.
			if out, err := b.Report(context.Background(), idp, r); err == nil && out.Device != "" {
				devices[account] = out.Device
			}
		}
	})
	if recalled == looked || looked == 0 {
		t.Errorf("%d were denied from memory, %d of them after a look, want some of both", recalled, looked)
	}
}
