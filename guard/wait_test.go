package guard

import (
	"slices"
	"testing"
	"time"

	"loginguard/policy"
)

func TestWaitsBeginWithHalfAMinuteAndDouble(t *testing.T) {
	b := newBench(t)
	b.strangers("alice", 10)
	var waits []int
	for i := range 9 {
		q := from("alice", elsewhere(100+i))
		d := b.denied(q, "account", "")
		waits = append(waits, d.RetryAfter)
		b.add(time.Duration(d.RetryAfter) * time.Second)
		if !b.guess(q) {
			t.Fatalf("wait %d: after Retry-After of %d s the attempt is denied", i, d.RetryAfter)
		}
	}
	if want := []int{30, 60, 120, 240, 480, 960, 1920, 3600, 3600}; !slices.Equal(waits, want) {
		t.Errorf("waits are %v s, want %v", waits, want)
	}
}

func TestDeniedAttemptsNeverLengthenAWait(t *testing.T) {
	b := newBench(t)
	b.strangers("alice", 10)
	q := from("alice", away)
	end := b.now() + int64(b.denied(q, "account", "").RetryAfter)*1e6
	for b.now() < end {
		d := b.denied(q, "account", "")
		if left := (end - b.now() + 999_999) / 1e6; int64(d.RetryAfter) != left {
			t.Fatalf("the wait is %d s, want what is left of the first: %d s", d.RetryAfter, left)
		}
		b.add(700 * time.Millisecond)
	}
	b.allowed(q)
}

func TestRetryAfterSufficesOnNetworks(t *testing.T) {
	b := newBench(t)
	b.guesses(30, func(i int) Request { return from(user(i), home) })
	for range 5 {
		d := b.denied(from("zoe", home), "network", "host")
		if d.RetryAfter != 120 {
			t.Errorf("the wait is %d s, want 120: the time of one token", d.RetryAfter)
		}
		b.add(time.Duration(d.RetryAfter) * time.Second)
		if !b.guess(from("zoe", home)) {
			t.Fatal("after Retry-After the attempt is denied")
		}
	}
}

func TestRetryAfterIsOfTheBucketThatDeniesLongest(t *testing.T) {
	b := newBench(t)
	b.guesses(30, func(i int) Request { return from(user(i%15), home) })
	b.strangers("alice", 10)
	q := from("alice", home)
	// 30 s for the account at first, 120 s for the address.
	d := b.denied(q, "network", "host")
	if d.RetryAfter != 120 {
		t.Errorf("the wait is %d s, want 120", d.RetryAfter)
	}
	if m := d.Meters[d.Shown]; m.Limit != "network" || m.Level != "host" || m.Reset != 120 || m.Remaining != 0 {
		t.Errorf("the shown meter is %+v, want that of the address with its wait", m)
	}
	b.add(2 * time.Minute)
	b.allowed(q)
}

func TestRetryAfterOfTheAccountIsLongerThanThatOfGlobal(t *testing.T) {
	b := newBench(t, limits(func(c *policy.Config) {
		c.Limits.Global.Capacity = 10
		c.Limits.Global.Refill = policy.Rate{Tokens: 10, Per: time.Hour}
	}))
	b.strangers("alice", 10)
	d := b.denied(from("alice", away), "account", "")
	if d.Busy {
		t.Error("the denial counts as nobody's fault although the account is dry")
	}
	if d.RetryAfter != 360 {
		t.Errorf("the wait is %d s, want the 360 of global, since 30 would not suffice", d.RetryAfter)
	}
}

func TestAttackersOwnSuccessBuysNothing(t *testing.T) {
	b := newBench(t)
	allowed := 0
	for i := range 60 {
		if b.guess(from(user(i), home)) {
			allowed++
		}
		b.signIn(from("mallory", home))
	}
	// The first sign-in of a new account is given back: it never counts.
	if allowed != 30 {
		t.Errorf("%d guesses are allowed between sign-ins of an own account, want 30", allowed)
	}
}

func TestVictimsSuccessBuysTheAttackerNothing(t *testing.T) {
	b := newBench(t)
	allowed := b.strangers("alice", 9)
	b.signIn(from("alice", home)) // from a network where alice has never been
	b.signIn(from("alice", home))
	allowed += b.guesses(5, func(i int) Request { return from("alice", elsewhere(50+i)) })
	if allowed != 10 {
		t.Errorf("%d guesses are allowed around the owner's sign-ins, want 10", allowed)
	}
}
