package guard

import (
	"encoding/base64"
	"testing"
	"time"

	"loginguard/keys"
)

// knows tells whether a device token is one for the attempt's account.
func (b *bench) knows(q Request, token string) bool {
	b.t.Helper()
	q.Device = token
	return b.check(q).Familiar
}

func TestDeviceTokenServesItsAccountAlone(t *testing.T) {
	b := newBench(t)
	q := from("alice", away)
	d := b.check(from("alice", home))
	device := b.report(Report{Attempt: d.Attempt, Outcome: Success, RememberDevice: true}).Device
	if !b.knows(q, device) {
		t.Fatal("a new device token is not known")
	}
	for name, c := range map[string]struct {
		q     Request
		token string
	}{
		"another account": {from("bob", away), device},
		"another realm":   {Request{Account: "alice", IP: away, Realm: "shop"}, device},
		"another kind":    {q, d.Attempt},
		"no token":        {q, "garbage"},
		"too long":        {q, device + device + device + device + device + device},
	} {
		if b.knows(c.q, c.token) {
			t.Errorf("%s: the token is known", name)
		}
	}
}

func TestEveryChangedByteMakesADeviceUnknown(t *testing.T) {
	b := newBench(t)
	device := b.signIn(from("alice", home))
	raw, err := base64.RawURLEncoding.DecodeString(device)
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		raw[i] ^= 0x10
		r, err := resolve(b.ring, b.rules.Load(), idp, Request{Account: "alice", IP: away, Device: base64.RawURLEncoding.EncodeToString(raw)})
		if err != nil {
			t.Fatalf("a token with a changed byte %d is an error: %v", i, err)
		}
		if r.Device != nil {
			t.Errorf("a token with a changed byte %d is known", i)
		}
		raw[i] ^= 0x10
	}
}

func TestDeviceTokenEnds(t *testing.T) {
	t.Run("after its lifetime", func(t *testing.T) {
		b := newBench(t)
		device := b.signIn(from("alice", home))
		b.add(90*24*time.Hour - time.Second)
		if !b.knows(from("alice", away), device) {
			t.Error("a token is not known within its lifetime")
		}
		b.add(time.Second)
		if b.knows(from("alice", away), device) {
			t.Error("a token is known after its lifetime")
		}
	})
	t.Run("with the credentials", func(t *testing.T) {
		b := newBench(t)
		device := b.signIn(from("alice", home))
		b.add(time.Second)
		b.forget(ForgetRequest{Account: "alice", Scope: "credentials"})
		if b.knows(from("alice", away), device) {
			t.Error("a token from before the reset is known")
		}
		b.add(89 * 24 * time.Hour)
		if b.knows(from("alice", elsewhere(1)), device) {
			t.Error("a token from before the reset is known again after 89 days")
		}
		if fresh := b.signIn(from("alice", home)); !b.knows(from("alice", elsewhere(2)), fresh) {
			t.Error("a token from after the reset is not known")
		}
	})
	t.Run("not with the limits", func(t *testing.T) {
		b := newBench(t)
		device := b.signIn(from("alice", home))
		b.add(time.Second)
		b.forget(ForgetRequest{Account: "alice"})
		if !b.knows(from("alice", away), device) {
			t.Error("a token is not known after the limits were cleared")
		}
	})
}

func TestDeviceTokenIsOnlyForThoseWhoAskAndEarnIt(t *testing.T) {
	b := newBench(t)
	for name, c := range map[string]struct {
		route string
		r     Report
	}{
		"not asked": {"login", Report{Outcome: Success}},
		"failure":   {"login", Report{Outcome: Failure, RememberDevice: true}},
		"cancelled": {"login", Report{Outcome: Cancelled, RememberDevice: true}},
		"signup":    {"signup", Report{Outcome: Success, RememberDevice: true}},
	} {
		c.r.Attempt = b.allowed(Request{Account: "alice", IP: home, Route: c.route}).Attempt
		if out := b.report(c.r); out.Device != "" || out.DeviceTTL != 0 || !out.Applied {
			t.Errorf("%s: the report answers %+v, want it applied without a device", name, out)
		}
	}
	r := Report{Attempt: b.allowed(from("alice", home)).Attempt, Outcome: Success, RememberDevice: true}
	if out := b.report(r); out.Device == "" || out.DeviceTTL != 90*24*time.Hour {
		t.Errorf("a success answers a device of %d bytes for %v, want one for 2160h", len(out.Device), out.DeviceTTL)
	}
	if out := b.report(r); out.Device != "" || out.Applied {
		t.Error("a repeated report gives out another device")
	}
}

func TestRenewedDeviceKeepsItsName(t *testing.T) {
	b := newBench(t)
	id := func(token string) string {
		d := verifyDevice(b.ring, "default", "alice", token)
		if d == nil {
			t.Fatal("the token is not valid")
		}
		return d.ID
	}
	first := b.signIn(from("alice", home))
	b.add(time.Hour)
	second := b.signIn(Request{Account: "alice", IP: away, Device: first})
	if first == second {
		t.Error("a renewed token is the old one, want a later end")
	}
	if id(first) != id(second) {
		t.Error("a renewed device has another name, and so a fresh limit")
	}
	if third := b.signIn(from("alice", home)); id(third) == id(first) {
		t.Error("another device has the name of the first")
	}
	if d := b.check(from("alice", away)); d.Familiar {
		t.Error("the network of a sign-in on a device became familiar")
	}
}

func TestDeadDeviceIsNone(t *testing.T) {
	b := newBench(t)
	dead := b.signIn(from("alice", home))
	b.add(time.Second)
	b.forget(ForgetRequest{Account: "alice", Scope: "credentials"})
	b.add(time.Second)
	fresh := b.signIn(Request{Account: "alice", IP: away, Device: dead})
	if verifyDevice(b.ring, "default", "alice", fresh).ID == verifyDevice(b.ring, "default", "alice", dead).ID {
		t.Error("a sign-in that shows a dead device gives it life again, want a new device")
	}
	if !b.check(from("alice", away)).Familiar {
		t.Error("the network of a sign-in that shows a dead device is not familiar")
	}
}

// rings returns the secret of today and the ring of tomorrow, which makes with
// another and still verifies with today's.
func rings(t *testing.T) (before, after *keys.Ring) {
	t.Helper()
	secret := func(b byte) string {
		key := make([]byte, 32)
		key[0] = b
		return base64.StdEncoding.EncodeToString(key)
	}
	before, err := keys.ParseRing(secret(1))
	if err != nil {
		t.Fatal(err)
	}
	if after, err = keys.ParseRing(secret(2) + "," + secret(1)); err != nil {
		t.Fatal(err)
	}
	return before, after
}

func TestSecretRotationKeepsDevicesAndAttempts(t *testing.T) {
	before, after := rings(t)
	old := newBench(t, func(s *setup) { s.ring = before })
	device := old.signIn(from("alice", home))
	d := old.allowed(from("alice", away))

	b := old.other(after)
	if !b.knows(from("alice", elsewhere(1)), device) {
		t.Error("a device of the old secret is not known under the new one")
	}
	out := b.report(Report{Attempt: d.Attempt, Outcome: Success, RememberDevice: true})
	if !out.Applied {
		t.Fatal("an attempt of the old secret cannot be reported under the new one")
	}
	if !b.knows(from("alice", elsewhere(2)), out.Device) {
		t.Error("a device that an attempt of the old secret earned is not known")
	}
	if got := old.left(from("alice", elsewhere(3)), "account", ""); got != 10 {
		t.Errorf("%d tokens remain of the old account, want 10: the attempt is given back", got)
	}
}
