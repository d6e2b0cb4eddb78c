package guard

import (
	"slices"
	"testing"

	"loginguard/policy"
)

func TestLogOnlyLimitDeniesNobodyAndSaysWhomItWould(t *testing.T) {
	b := newBench(t, limits(func(c *policy.Config) { c.Limits.Account.Mode = policy.LogOnly }))
	for i := range 10 {
		if d := b.allowed(from("alice", elsewhere(i))); d.WouldDeny != nil {
			t.Fatalf("guess %d would be denied by %v, want by none", i, d.WouldDeny)
		}
	}
	for i := range 5 {
		d := b.allowed(from("alice", elsewhere(10+i)))
		if want := []string{"account"}; !slices.Equal(d.WouldDeny, want) {
			t.Errorf("guess %d would be denied by %v, want %v", 10+i, d.WouldDeny, want)
		}
		for _, m := range d.Meters {
			if m.Limit == "account" {
				t.Error("a limit that only logs is shown")
			}
		}
	}
	if got := b.seen.count("would deny account "); got != 5 {
		t.Errorf("the observer is told of %d, want 5", got)
	}
}

func TestLogOnlyForAllDeniesNobody(t *testing.T) {
	b := newBench(t, limits(func(c *policy.Config) { c.Mode = policy.LogOnly }))
	var last Decision
	for range 120 {
		last = b.allowed(from("alice", home))
	}
	if want := []string{"account", "network"}; !slices.Equal(last.WouldDeny, want) {
		t.Errorf("the last would be denied by %v, want %v: each limit once", last.WouldDeny, want)
	}
	if len(last.Meters) != 0 || last.Shown != -1 {
		t.Errorf("%d meters are shown (%d), want none", len(last.Meters), last.Shown)
	}
	if got := b.seen.count("would deny network host"); got != 90 {
		t.Errorf("the observer is told %d times of the address, want 90", got)
	}
	if e := b.explain(from("alice", home)); e.Decision != Allow || !e.Limits[0].WouldDeny || e.Limits[0].Mode != "log_only" {
		t.Errorf("explained as %s with %+v, want allow although account would deny", e.Decision, e.Limits[0])
	}
}

func TestLogOnlyLimitBesideAnEnforcedOne(t *testing.T) {
	b := newBench(t, limits(func(c *policy.Config) { c.Limits.Host.Mode = policy.LogOnly }))
	b.guesses(30, func(i int) Request { return from(user(i%20), home) })
	b.strangers("alice", 10)
	d := b.denied(from("alice", home), "account", "")
	if want := []string{"network"}; !slices.Equal(d.WouldDeny, want) {
		t.Errorf("the denied attempt would be denied by %v, want %v as well", d.WouldDeny, want)
	}
}

func TestLimitsThatAreOffChargeNothing(t *testing.T) {
	b := newBench(t, limits(func(c *policy.Config) { c.Mode = policy.Off }))
	for range 200 {
		if d := b.allowed(tagged("alice", home, "typo")); len(d.WouldDeny)+len(d.Meters) != 0 {
			t.Fatalf("would be denied by %v, metered %v, want neither", d.WouldDeny, d.Meters)
		}
	}
	if n := b.mem.Len(); n != 0 {
		t.Errorf("%d keys are held, want none", n)
	}
}

func TestRepeatedCheckWouldBeDeniedLikeTheFirst(t *testing.T) {
	b := newBench(t, limits(func(c *policy.Config) {
		c.Limits.Account.Mode, c.Limits.Account.Capacity = policy.LogOnly, 1
	}))
	if d := b.allowed(named("login-1")); d.WouldDeny != nil {
		t.Errorf("the first would be denied by %v", d.WouldDeny)
	}
	if d := b.allowed(named("login-1")); d.WouldDeny != nil {
		t.Errorf("its repeat would be denied by %v: by its own charge", d.WouldDeny)
	}
	for range 2 {
		if d := b.allowed(named("login-2")); !slices.Equal(d.WouldDeny, []string{"account"}) {
			t.Errorf("the second would be denied by %v, want account", d.WouldDeny)
		}
	}
	if got := b.seen.count("would deny account "); got != 1 {
		t.Errorf("the observer is told of %d, want 1: a repeat is no attempt", got)
	}
}
