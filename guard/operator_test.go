package guard

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loginguard/policy"
)

func TestForgetLimitsLetsIn(t *testing.T) {
	b := newBench(t)
	b.signIn(from("alice", home))
	b.strangers("alice", 12)
	b.guesses(12, func(int) Request { return from("alice", home) })
	b.denied(from("alice", away), "account", "")
	b.denied(from("alice", home), "familiar", "")
	b.forget(ForgetRequest{Account: "Alice"})
	b.allowed(from("alice", away))
	if d := b.allowed(from("alice", home)); !d.Familiar || d.Failures != 20 {
		t.Errorf("familiar %t and %d failures, want both kept", d.Familiar, d.Failures)
	}
}

func TestForgetCredentialsForgetsAll(t *testing.T) {
	b := newBench(t)
	b.signIn(from("alice", home))
	b.strangers("alice", 10)
	begun := b.allowed(from("alice", home))
	b.add(time.Second)
	b.forget(ForgetRequest{Account: "alice", Scope: "credentials"})
	d := b.allowed(from("alice", home))
	if d.Familiar || d.Failures != 0 {
		t.Errorf("familiar %t and %d failures, want all forgotten", d.Familiar, d.Failures)
	}
	// Whoever was signing in with the old password gets nothing for it.
	out := b.report(Report{Attempt: begun.Attempt, Outcome: Success, RememberDevice: true})
	if !out.Applied || out.Device != "" {
		t.Errorf("an attempt from before answers %+v, want it applied without a device", out)
	}
	if b.check(from("alice", home)).Familiar {
		t.Error("an attempt from before made the network familiar")
	}
}

func TestForgetNetwork(t *testing.T) {
	for name, c := range map[string]struct {
		ip      func(i int) string
		n       int
		level   string
		network string
	}{
		"host":         {func(int) string { return home }, 30, "host", "203.0.113.9/32"},
		"host, bare":   {func(int) string { return home }, 30, "host", "203.0.113.9"},
		"subnet":       {func(i int) string { return "203.0.113." + user(i)[4:] }, 100, "subnet", "203.0.113.0/24"},
		"pool by name": {func(i int) string { return "100.64.1." + user(i)[4:] }, 100, "pool", "shared"},
		"site":         {func(i int) string { return "2001:db8:7:" + user(i)[4:] + "::1" }, 60, "site", "2001:0DB8:7::/56"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.guesses(c.n, func(i int) Request { return from(user(i), c.ip(i)) })
			q := from("zoe", c.ip(1))
			b.denied(q, "network", c.level)
			b.forget(ForgetRequest{Network: c.network})
			b.allowed(q)
		})
	}
}

func TestForgetRefuses(t *testing.T) {
	b := newBench(t)
	for name, c := range map[string]struct {
		q     ForgetRequest
		kind  Kind
		field string
	}{
		"nothing":           {ForgetRequest{}, KindInvalid, "account"},
		"both":              {ForgetRequest{Account: "alice", Network: "203.0.113.0/24"}, KindInvalid, "account"},
		"scope":             {ForgetRequest{Account: "alice", Scope: "all"}, KindInvalid, "scope"},
		"scope of network":  {ForgetRequest{Network: "203.0.113.0/24", Scope: "credentials"}, KindInvalid, "scope"},
		"unknown pool":      {ForgetRequest{Network: "carrier-z"}, KindInvalid, "network"},
		"odd block":         {ForgetRequest{Network: "203.0.113.0/25"}, KindInvalid, "network"},
		"host bits":         {ForgetRequest{Network: "203.0.113.9/24"}, KindInvalid, "network"},
		"block in a pool":   {ForgetRequest{Network: "100.64.0.0/24"}, KindInvalid, "network"},
		"invisible account": {ForgetRequest{Account: "\u200b"}, KindInvalid, "account"},
		"realm":             {ForgetRequest{Account: "alice", Realm: "hidden"}, KindForbidden, "realm"},
	} {
		t.Run(name, func(t *testing.T) {
			wantError(t, b.Forget(context.Background(), idp, c.q), c.kind, c.field)
		})
	}
}

func TestExplainTellsAllAndChargesNothing(t *testing.T) {
	b := newBench(t, limits(func(c *policy.Config) {
		c.Limits.Subnet.Mode = policy.LogOnly
		c.Overrides = []policy.Override{{
			Limit: "network", Level: "host", Match: policy.Match{Network: "203.0.113.0/24"}, Capacity: 40, Reason: "school, ticket 7",
		}}
	}))
	b.signIn(from("alice", away))
	b.strangers("alice", 10)
	b.check(from("alice", home)) // dry: the strike
	before := b.mem.Values()
	got := b.explain(Request{Account: "alice", Forwarded: &Forwarded{Peer: "127.0.0.1:4711", Header: "x-forwarded-for", Lines: []string{home}}})
	want := Explanation{
		Decision: Deny, Limit: "account", RetryAfter: 30,
		Client: home, ClientSource: "x-forwarded-for", Class: "none",
		Networks: []ExplainedNetwork{{"host", "203.0.113.9/32"}, {"subnet", "203.0.113.0/24"}},
		Account:  b.ring.Account("default", "alice"), Failures: 10,
		Limits: []ExplainedLimit{
			{Limit: "account", Mode: "enforce", Capacity: 10, RetryAfter: 30, Strikes: 1, WouldDeny: true},
			{Limit: "network", Level: "host", Mode: "enforce", Capacity: 40, Remaining: 40, Override: "school, ticket 7"},
			{Limit: "network", Level: "subnet", Mode: "log_only", Capacity: 100, Remaining: 100},
			{Limit: "global", Mode: "enforce", Capacity: 1000, Remaining: 990},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("explanation (-want +got):\n%s", d)
	}
	if e := b.explain(from("alice", away)); !e.Familiar || e.Decision != Allow || e.Limits[0].Limit != "familiar" {
		t.Errorf("at the familiar network: %+v", e)
	}
	if e := b.explain(from("alice", carried)); e.Class != "pool" || e.ClientSource != "ip" {
		t.Errorf("class %s and source %s, want pool and ip", e.Class, e.ClientSource)
	}
	if d := cmp.Diff(before, b.mem.Values()); d != "" {
		t.Errorf("explaining changed the store:\n%s", d)
	}
	_, err := b.Explain(context.Background(), idp, Request{Account: "alice", IP: home, Realm: "hidden"})
	wantError(t, err, KindForbidden, "realm")
}

func TestExplainLeavesOutWhatIsNotCharged(t *testing.T) {
	b := newBench(t)
	b.strangers("alice", 10)
	q := from("alice", home)
	q.NetworksOnly = true
	if e := b.explain(q); e.Decision != Allow || len(e.Limits) != 3 || e.Limits[0].Limit != "network" {
		t.Errorf("explained as %s by %+v, want allow by host, subnet and global alone", e.Decision, e.Limits)
	}
}
