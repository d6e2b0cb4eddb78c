package guard

import (
	"fmt"
	"testing"
	"time"
)

func TestOwnerIsAdmittedWhileStrangersEmptyTheAccount(t *testing.T) {
	b := newBench(t)
	q := from("alice", home)
	device := b.signIn(q)
	if got := b.strangers("alice", 40); got != 10 {
		t.Errorf("%d of 40 guesses from 40 networks are allowed, want 10", got)
	}
	b.denied(from("alice", away), "account", "")
	if d := b.allowed(q); !d.Familiar {
		t.Error("the owner at home is not familiar")
	}
	if d := b.allowed(from("alice", neighbor)); !d.Familiar {
		t.Error("the owner at another address of the home network is not familiar")
	}
	if d := b.allowed(Request{Account: "alice", IP: away, Device: device}); !d.Familiar {
		t.Error("the owner's device on a new network is not familiar")
	}
}

func TestAttackFromTheOwnersNetworkClosesNothingElse(t *testing.T) {
	b := newBench(t)
	const work = "198.51.100.7"
	device := b.signIn(from("alice", home))
	b.signIn(from("alice", work))
	if got := b.guesses(40, func(int) Request { return from("alice", neighbor) }); got != 10 {
		t.Errorf("%d of 40 guesses from the home network are allowed, want 10", got)
	}
	b.denied(from("alice", home), "familiar", "")
	for name, q := range map[string]Request{
		"the other familiar network": from("alice", work),
		"a new network":              from("alice", away),
		"the device":                 {Account: "alice", IP: home, Device: device},
	} {
		if d := b.check(q); d.Verdict != Allow {
			t.Errorf("%s is closed by %s, want open", name, d.Limit)
		}
	}
}

func TestDeviceHasItsOwnLimitAndNoNetwork(t *testing.T) {
	b := newBench(t)
	device := b.signIn(from("alice", home))
	b.guesses(40, func(i int) Request { return from(user(i), away) })
	b.denied(from("zoe", away), "network", "host")
	q := Request{Account: "alice", IP: away, Device: device}
	if got := b.guesses(15, func(int) Request { return q }); got != 10 {
		t.Errorf("%d of 15 guesses with a stolen device are allowed, want 10", got)
	}
	if d := b.denied(q, "device", ""); d.RetryAfter != 10 {
		t.Errorf("the first wait of a device is %d s, want 10", d.RetryAfter)
	}
	b.allowed(from("alice", home))
}

func TestNetworksAreForgottenByDisuseAndByNumber(t *testing.T) {
	b := newBench(t)
	b.signIn(from("alice", home))
	b.add(30*24*time.Hour - time.Second)
	b.signIn(from("alice", home))
	b.add(30*24*time.Hour - time.Second)
	if d := b.check(from("alice", home)); !d.Familiar {
		t.Error("a network used a month ago is not familiar")
	}
	b.add(time.Second)
	if d := b.check(from("alice", home)); d.Familiar {
		t.Error("a network is familiar beyond its time")
	}
	for i := range 9 {
		b.signIn(from("bob", elsewhere(i)))
	}
	if b.check(from("bob", elsewhere(0))).Familiar || !b.check(from("bob", elsewhere(1))).Familiar {
		t.Error("of nine networks not just the oldest is forgotten")
	}
}

func TestRealmsKnowNothingOfEachOther(t *testing.T) {
	b := newBench(t)
	b.signIn(from("alice", home))
	b.strangers("alice", 10)
	q := Request{Account: "alice", IP: home, Realm: "shop"}
	d := b.allowed(q)
	if d.Familiar {
		t.Error("a sign-in made the network familiar in another realm")
	}
	b.fail(d)
	for i := range 9 {
		q.IP = elsewhere(i)
		b.allowed(q)
	}
}

func TestPopulationEnlargesTheFamiliarNetworkAtOnce(t *testing.T) {
	b := newBench(t)
	capacity := func(q Request, level string) int64 {
		for _, l := range b.explain(q).Limits {
			if l.Limit == "network" && l.Level == level {
				return l.Capacity
			}
		}
		return 0
	}
	b.signIn(from("alice", home))
	if got := capacity(from("alice", home), "host"); got != 30 {
		t.Errorf("with one account the address has %d tokens, want 30", got)
	}
	for i := range 200 {
		b.signIn(from(user(i), home))
	}
	// 0.15 and 0.05 tokens for each of about 201, within the error of a HyperLogLog.
	if got := capacity(from("alice", home), "host"); got < 58 || got > 62 {
		t.Errorf("with 200 accounts the address has %d tokens, want 60", got)
	}
	if got := capacity(from("alice", home), "subnet"); got < 109 || got > 111 {
		t.Errorf("with 200 accounts the subnet has %d tokens, want 110", got)
	}
	if got := capacity(from("zoe", home), "host"); got != 30 {
		t.Errorf("strangers there share %d tokens, want 30 whoever lives there", got)
	}
	// A guest who stuffs a leaked list from there is denied, its people are not.
	b.guesses(40, func(i int) Request { return from(fmt.Sprintf("leaked%d", i), home) })
	b.denied(from("zoe", home), "network", "host")
	for i := range 200 {
		b.signIn(from(user(i), home))
	}
}
