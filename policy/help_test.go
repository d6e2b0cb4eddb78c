package policy

import (
	"strings"
	"testing"
	"time"

	"loginguard/netprefix"
)

const (
	alice = "AliceAliceAliceAlice01" // shaped like a keyed hash
	phone = "PhonePhonePhone1"       // shaped like a device id
)

// v4 and v6 are the networks of ordinary addresses, carrier those of one in a pool.
var (
	v4 = []netprefix.Network{{Level: netprefix.Host, Name: "203.0.113.9/32"}, {Level: netprefix.Subnet, Name: "203.0.113.0/24"}}
	v6 = []netprefix.Network{{Level: netprefix.Host, Name: "2001:db8:1:2::/64"}, {Level: netprefix.Site, Name: "2001:db8:1::/56"},
		{Level: netprefix.Subnet, Name: "2001:db8:1::/48"}}
	carrier = []netprefix.Network{{Level: netprefix.Host, Name: "100.64.0.7/32"}, {Level: netprefix.Pool, Name: "shared"}}
)

// must builds a policy from the defaults as changed.
func must(t testing.TB, change func(*Config)) *Policy {
	t.Helper()
	c := Defaults()
	c.HashAccount = hash
	if change != nil {
		change(&c)
	}
	p, err := New(c)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return p
}

// hash stands in for the keyed hash: apart by realm, "" for blank names.
func hash(realm, account string) string {
	if strings.TrimSpace(account) == "" {
		return ""
	}
	return realm + "#" + account
}

// login is a plain attempt at alice's account.
func login(networks []netprefix.Network) Attempt {
	return Attempt{Realm: DefaultRealm, Route: "login", Caller: "idp", Account: alice, Networks: networks}
}

func minutes(n int64) int64 { return n * int64(time.Minute/time.Microsecond) }
