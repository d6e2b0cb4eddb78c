package guard

import (
	"fmt"
	"testing"

	"loginguard/policy"
)

// user is the i-th of many accounts.
func user(i int) string { return fmt.Sprintf("user%d", i) }

func TestSignInsInARowAreNeverDenied(t *testing.T) {
	for _, c := range []struct {
		name    string
		account func(i int) string
	}{
		{"of one account", func(int) string { return "alice" }},
		{"of an office", user},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			for i := range 200 {
				b.signIn(from(c.account(i), home))
			}
		})
	}
}

func TestSixthSignupIsTheLast(t *testing.T) {
	b := newBench(t)
	signup := func(i int) Request { return Request{Account: user(i), IP: home, Route: "signup"} }
	for i := range 6 {
		// A success of a signup proves nothing, so it is not given back.
		b.report(Report{Attempt: b.allowed(signup(i)).Attempt, Outcome: Success})
	}
	b.denied(signup(6), "network", "host")
	if got := b.left(from(user(0), away), "account", ""); got != 9 {
		t.Errorf("a signup leaves %d of the account's tokens, want 9: its cost is the networks' alone", got)
	}
}

func TestOneAddressGetsItsBudgetOverManyAccounts(t *testing.T) {
	b := newBench(t)
	if got := b.guesses(33, func(i int) Request { return from(user(i), home) }); got != 30 {
		t.Errorf("%d of 33 guesses from one address are allowed, want 30", got)
	}
	b.denied(from("zoe", home), "network", "host")
	b.allowed(from("zoe", neighbor)) // the address pays, not its subnet
}

func TestOneSubnetGetsItsBudgetOverManyAddresses(t *testing.T) {
	b := newBench(t)
	q := func(i int) Request { return from(user(i), fmt.Sprintf("203.0.113.%d", i)) }
	if got := b.guesses(105, q); got != 100 {
		t.Errorf("%d of 105 guesses from one /24 are allowed, want 100", got)
	}
	b.denied(q(106), "network", "subnet")
}

func TestOneIPv6BlockGetsItsBudgetAndFewKeys(t *testing.T) {
	b := newBench(t)
	// Every guess from another /64 of 2001:db8:7::/48, site after site.
	q := func(i int) Request { return from(user(i), fmt.Sprintf("2001:db8:7:%x::1", i)) }
	if got := b.guesses(256, q); got != 60 {
		t.Errorf("%d of 256 guesses from one /56 are allowed, want 60", got)
	}
	if got := b.guesses(256, func(i int) Request { return q(256 + i) }); got != 40 {
		t.Errorf("%d more from the next /56 are allowed, want 40: 100 in the /48", got)
	}
	// An account, a host and a marker of the report for each, two sites, the subnet, global.
	before := b.mem.Len()
	if want := 3*100 + 4; before > want {
		t.Errorf("%d keys are held after 100 guesses, want at most %d", before, want)
	}
	if got := b.guesses(2000, func(i int) Request { return q(512 + i) }); got != 0 {
		t.Errorf("%d guesses from the rest of the /48 are allowed, want 0", got)
	}
	if after := b.mem.Len(); after != before {
		t.Errorf("2000 denied guesses change the number of keys from %d to %d", before, after)
	}
}

func TestPoolIsOneNetwork(t *testing.T) {
	b := newBench(t)
	q := func(i int) Request { return from(user(i), fmt.Sprintf("100.%d.0.7", 64+i%64)) }
	if got := b.guesses(105, q); got != 100 {
		t.Errorf("%d of 105 guesses from addresses of one pool are allowed, want 100", got)
	}
	b.denied(from("zoe", "100.127.255.1"), "network", "pool")
}

func TestHostingGetsAShareAndNeverBecomesFamiliar(t *testing.T) {
	b := newBench(t)
	for range 3 {
		b.signIn(from("alice", hosted))
	}
	if d := b.allowed(from("alice", hosted)); d.Familiar {
		t.Error("a data centre became familiar")
	}
	if got := b.guesses(20, func(i int) Request { return from(user(i), "198.18.9.9") }); got != 8 {
		t.Errorf("%d of 20 guesses from a data centre are allowed, want 8: a quarter of 30, rounded up", got)
	}
}

func TestExemptAddressesPayForTheAccountOnly(t *testing.T) {
	b := newBench(t)
	if got := b.guesses(120, func(i int) Request { return from(user(i), inside) }); got != 120 {
		t.Errorf("%d of 120 guesses from an exempt address are allowed, want all: they have no network limit", got)
	}
	b.guesses(10, func(int) Request { return from("alice", inside) })
	b.denied(from("alice", inside), "account", "")
}

func TestGlobalLimitIsNobodysFault(t *testing.T) {
	b := newBench(t, limits(func(c *policy.Config) { c.Limits.Global.Capacity = 20 }))
	b.signIn(from("alice", home))
	if got := b.guesses(25, func(i int) Request { return from(user(i), elsewhere(i)) }); got != 20 {
		t.Errorf("%d of 25 strangers are allowed, want 20", got)
	}
	d := b.denied(from("zoe", away), "global", "")
	if !d.Busy || d.Reason != "" || d.RetryAfter < 1 {
		t.Errorf("busy %t for %q with a wait of %d, want busy by the limit with a wait", d.Busy, d.Reason, d.RetryAfter)
	}
	if d := b.allowed(from("alice", home)); !d.Familiar {
		t.Error("the owner at home is not familiar")
	}
}

func TestRouteWithoutAccountIsChargedOnNetworks(t *testing.T) {
	b := newBench(t, limits(func(c *policy.Config) {
		c.Routes["kiosk"] = policy.Route{Cost: 3, Success: policy.SuccessNone, NoAccount: true}
	}))
	kiosk := Request{Route: "kiosk", IP: home, Account: "alice"}
	for range 10 {
		d := b.allowed(kiosk)
		if d.Account != "" {
			t.Fatalf("the decision names the account %q, want none", d.Account)
		}
		b.report(Report{Attempt: d.Attempt, Outcome: Failure, Reason: BadPassword})
	}
	b.denied(kiosk, "network", "host")
	if d := b.allowed(from("alice", away)); d.Failures != 0 {
		t.Errorf("alice has %d failures, want 0: they were nobody's", d.Failures)
	}
}
