package guard

import (
	"context"
	"testing"
)

func TestNetworksOnlyChargesNothingOfTheAccount(t *testing.T) {
	b := newBench(t)
	b.fail(b.allowed(from("alice", away)))
	bare := from("alice", home)
	bare.NetworksOnly = true
	for range 12 {
		b.fail(b.allowed(bare))
	}
	for _, tt := range []struct {
		limit, level string
		want         int64
	}{{"account", "", 9}, {"network", "host", 18}, {"network", "subnet", 88}, {"global", "", 987}} {
		if got := b.left(from("alice", home), tt.limit, tt.level); got != tt.want {
			t.Errorf("%s %s has %d left, want %d", tt.limit, tt.level, got, tt.want)
		}
	}
}

func TestNetworksOnlyTakesTheBucketsOfThePeopleWhoLiveThere(t *testing.T) {
	b := newBench(t)
	b.signIn(from("alice", home))
	bare := from("alice", home)
	bare.NetworksOnly = true
	d := b.allowed(bare)
	if !d.Familiar {
		t.Error("a familiar account is a stranger when only networks are charged")
	}
	for _, m := range d.Meters {
		if m.Stranger || m.Limit != "network" {
			t.Errorf("charged %s %s (strangers' bucket: %t), want familiar buckets of networks alone", m.Limit, m.Level, m.Stranger)
		}
	}
	if got := b.left(from("alice", home), "familiar", ""); got != 10 {
		t.Errorf("the familiar limit has %d left, want all 10", got)
	}
}

func TestNetworksOnlyNeedsNoAccount(t *testing.T) {
	b := newBench(t)
	bare := Request{IP: away, NetworksOnly: true}
	d := b.allowed(bare)
	if d.Account != "" {
		t.Errorf("nobody has the account %q", d.Account)
	}
	if got := b.left(from("alice", away), "network", "host"); got != 29 {
		t.Errorf("the host has %d left, want 29", got)
	}
	if out := b.report(Report{Attempt: d.Attempt, Outcome: Success}); !out.Applied {
		t.Error("its success is not applied")
	}
	if got := b.left(from("alice", away), "network", "host"); got != 30 {
		t.Errorf("after the success the host has %d left, want all 30", got)
	}
	_, err := b.Check(context.Background(), idp, Request{IP: away})
	wantError(t, err, KindInvalid, "account")
}

func TestTagForRepeatsOnlyIsNoPasswordTag(t *testing.T) {
	b := newBench(t)
	tagged := func(account, ip string) Request {
		q := from(account, ip)
		q.PasswordTag, q.RepeatOnly = "one-tag", true
		return q
	}
	b.fail(b.allowed(tagged("alice", away)))
	if got := b.left(tagged("bob", home), "password", ""); got != -1 {
		t.Errorf("the tag has a bucket of its own over all accounts, with %d left", got)
	}
	for range 5 { // the same wrong password again
		b.fail(b.allowed(tagged("alice", away)))
	}
	if got := b.left(from("alice", home), "account", ""); got != 9 {
		t.Errorf("after one wrong password, six times, the account has %d left, want 9", got)
	}
}
