package policy

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loginguard/netprefix"
)

// reasons returns, per bucket of the attempt, the reason of the override that
// sized it.
func reasons(p *Policy, a Attempt) map[ID]string {
	m := make(map[ID]string)
	for _, r := range p.Plan(a).Rules {
		if r.Override != "" {
			m[r.ID] = r.Override
		}
	}
	return m
}

func TestOverrideMatchesByEveryMember(t *testing.T) {
	attempt := func(change func(*Attempt)) Attempt {
		a := login(v4)
		a.Account, a.PasswordTag = hash(DefaultRealm, "alice"), "T"
		if change != nil {
			change(&a)
		}
		return a
	}
	inCarrier := attempt(func(a *Attempt) { a.Networks, a.Class = carrier, netprefix.InPool })
	hosts := []ID{IDHost, IDHostFamiliar}
	subnets := []ID{IDSubnet, IDSubnetFamiliar}
	both := append(append([]ID(nil), hosts...), subnets...)
	pools := []ID{IDPool, IDPoolFamiliar}
	tests := []struct {
		o    Override
		a    Attempt
		want []ID // buckets it sizes
	}{
		{Override{Limit: "network", Level: "host"}, attempt(nil), hosts},
		{Override{Limit: "network", Level: "subnet"}, attempt(nil), subnets},
		{Override{Limit: "network"}, attempt(nil), both},
		{Override{Limit: "network", Level: "site"}, attempt(nil), nil},
		{Override{Limit: "account"}, attempt(nil), []ID{IDAccount}},
		{Override{Limit: "familiar"}, attempt(nil), []ID{IDFamiliar}},
		{Override{Limit: "device"}, attempt(func(a *Attempt) { a.Device = &Device{ID: phone} }), []ID{IDDevice}},
		{Override{Limit: "global"}, attempt(nil), []ID{IDGlobal}},
		{Override{Limit: "password"}, attempt(nil), []ID{IDPassword}},
		{Override{Limit: "repeat"}, attempt(func(a *Attempt) { a.RepeatTag = "R" }), []ID{IDRepeatNetwork}},
		{Override{Limit: "challenged"}, attempt(func(a *Attempt) { a.ChallengePassed = true }), []ID{IDChallenged}},

		{Override{Limit: "network", Level: "host", Match: Match{Network: "203.0.113.0/24"}}, attempt(nil), hosts},
		{Override{Limit: "network", Level: "host", Match: Match{Network: "203.0.113.9"}}, attempt(nil), hosts},
		{Override{Limit: "network", Level: "host", Match: Match{Network: "::ffff:203.0.113.9"}}, attempt(nil), hosts},
		{Override{Limit: "network", Level: "host", Match: Match{Network: "203.0.113.8"}}, attempt(nil), nil},
		{Override{Limit: "network", Level: "subnet", Match: Match{Network: "203.0.113.0/24"}}, attempt(nil), subnets},
		{Override{Limit: "network", Level: "subnet", Match: Match{Network: "203.0.0.0/16"}}, attempt(nil), subnets},
		{Override{Limit: "network", Level: "subnet", Match: Match{Network: "203.0.113.9/32"}}, attempt(nil), nil}, // a subnet is not within its host
		{Override{Limit: "network", Level: "subnet", Match: Match{Network: "203.0.113.0/25"}}, attempt(nil), nil}, // nor within its half
		{Override{Limit: "network", Match: Match{Network: "203.0.113.9/32"}}, attempt(nil), hosts},
		{Override{Limit: "network", Match: Match{Network: "::/0"}}, attempt(nil), nil},
		{Override{Limit: "network", Match: Match{Network: "2001:db8::/32"}}, attempt(func(a *Attempt) { a.Networks = v6 }),
			[]ID{IDHost, IDHostFamiliar, IDSite, IDSiteFamiliar, IDSubnet, IDSubnetFamiliar}},
		{Override{Limit: "network", Level: "pool", Match: Match{Network: "shared"}}, inCarrier, pools},
		{Override{Limit: "pool"}, inCarrier, pools},
		{Override{Limit: "pool", Level: "pool", Match: Match{Network: "other"}}, inCarrier, nil},
		{Override{Limit: "network", Level: "host", Match: Match{Network: "shared"}}, inCarrier, hosts},
		{Override{Limit: "network", Level: "pool", Match: Match{Network: "100.64.0.0/10"}}, inCarrier, nil}, // the pool is more than that block
		{Override{Limit: "network", Level: "pool", Match: Match{Network: "100.64.0.0/10"}}, attempt(func(a *Attempt) {
			a.Networks = []netprefix.Network{{Level: netprefix.Pool, Name: "100.64.0.0/11"}}
		}), pools},
		{Override{Limit: "password", Match: Match{Network: "203.0.113.0/24"}}, attempt(nil), []ID{IDPassword}},
		{Override{Limit: "password", Match: Match{Network: "203.0.114.0/24"}}, attempt(nil), nil},

		{Override{Limit: "account", Match: Match{Realm: "default"}}, attempt(nil), []ID{IDAccount}},
		{Override{Limit: "account", Match: Match{Realm: "shop"}}, attempt(nil), nil},
		{Override{Limit: "network", Level: "host", Match: Match{Route: "login"}}, attempt(nil), hosts},
		{Override{Limit: "network", Level: "host", Match: Match{Route: "mfa"}}, attempt(nil), nil},
		{Override{Limit: "network", Level: "host", Match: Match{Caller: "idp"}}, attempt(nil), hosts},
		{Override{Limit: "network", Level: "host", Match: Match{Caller: "other"}}, attempt(nil), nil},
		{Override{Limit: "account", Match: Match{Account: "alice"}}, attempt(nil), []ID{IDAccount}},
		{Override{Limit: "account", Match: Match{Account: "bob"}}, attempt(nil), nil},
		{Override{Limit: "account", Match: Match{Account: "alice"}}, attempt(func(a *Attempt) { a.Realm = "shop" }), nil}, // a hash of another realm
		{Override{Limit: "account", Match: Match{Account: "alice"}},
			attempt(func(a *Attempt) { a.Realm, a.Account = "shop", hash("shop", "alice") }), []ID{IDAccount}},
		{Override{Limit: "account", Match: Match{Account: "alice", Realm: "default"}},
			attempt(func(a *Attempt) { a.Realm, a.Account = "shop", hash("shop", "alice") }), nil},
		{Override{Limit: "network", Level: "host", Match: Match{Account: "alice"}}, attempt(func(a *Attempt) { a.Account = "" }), nil},
		{Override{Limit: "network", Level: "host", Match: Match{Account: "alice"}},
			attempt(func(a *Attempt) { a.Account, a.Realm = "", "gone" }), nil},
		{Override{Limit: "network", Level: "host", Match: Match{"203.0.113.0/24", "default", "login", "idp", "alice"}}, attempt(nil), hosts},
		{Override{Limit: "network", Level: "host", Match: Match{"203.0.113.0/24", "default", "login", "nope", "alice"}}, attempt(nil), nil},
	}
	for _, tt := range tests {
		tt.o.Capacity, tt.o.Reason = 77, "why"
		p := must(t, func(c *Config) { c.Realms = []string{"shop"}; c.Overrides = []Override{tt.o} })
		want := make(map[ID]string)
		for _, id := range tt.want {
			want[id] = "why"
			if l := charge(t, p, tt.a, id).Limit; l.Capacity != 77 {
				t.Errorf("%+v: bucket %d holds %d", tt.o, id, l.Capacity)
			}
		}
		if diff := cmp.Diff(want, reasons(p, tt.a)); diff != "" {
			t.Errorf("%+v on %+v (-want +got):\n%s", tt.o, tt.a, diff)
		}
	}
}

func TestFirstOverrideThatMatchesWins(t *testing.T) {
	p := must(t, func(c *Config) {
		c.Overrides = []Override{
			{Limit: "network", Level: "host", Match: Match{Caller: "batch"}, Capacity: 500, Reason: "batch"},
			{Limit: "network", Level: "host", Match: Match{Network: "203.0.113.0/24"}, Capacity: 50, Reason: "office"},
			{Limit: "network", Match: Match{Network: "203.0.0.0/16"}, Capacity: 5000, Reason: "town"},
		}
	})
	want := map[ID]string{IDHost: "office", IDHostFamiliar: "office", IDSubnet: "town", IDSubnetFamiliar: "town"}
	if diff := cmp.Diff(want, reasons(p, login(v4))); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

func TestOverrideReplacesWhatItNames(t *testing.T) {
	tests := []struct {
		o                       Override
		class                   netprefix.Class
		id                      ID
		capacity, interval, max int64
	}{
		{Override{Capacity: 50}, netprefix.None, IDHost, 50, minutes(2), 0},
		{Override{Capacity: 50}, netprefix.None, IDHostFamiliar, 50, minutes(2), 3000},
		{Override{Capacity: 5000}, netprefix.None, IDHostFamiliar, 5000, minutes(2), 5000},
		{Override{Refill: Rate{60, time.Hour}}, netprefix.None, IDHost, 30, minutes(1), 0},
		{Override{Capacity: 9, Refill: Rate{60, time.Hour}}, netprefix.None, IDHost, 9, minutes(1), 0},
		// A capacity that was named is meant; what was not named is scaled.
		{Override{Capacity: 50}, netprefix.Hosting, IDHost, 50, minutes(2), 0},
		{Override{Refill: Rate{60, time.Hour}}, netprefix.Hosting, IDHost, 8, minutes(1), 0},
	}
	for _, tt := range tests {
		tt.o.Limit, tt.o.Level, tt.o.Reason = "network", "host", "test"
		p := must(t, func(c *Config) { c.Overrides = []Override{tt.o} })
		a := login(v4)
		a.Class = tt.class
		l := charge(t, p, a, tt.id).Limit
		if l.Capacity != tt.capacity || l.Interval != tt.interval || l.MaxCapacity != tt.max {
			t.Errorf("%+v, %v, bucket %d: %d every %d up to %d, want %d every %d up to %d", tt.o, tt.class, tt.id,
				l.Capacity, l.Interval, l.MaxCapacity, tt.capacity, tt.interval, tt.max)
		}
	}
}

func TestOverrideOfGlobalIsSplitOverShards(t *testing.T) {
	p := must(t, func(c *Config) {
		c.Shards = true
		c.Overrides = []Override{{Limit: "global", Capacity: 8000, Reason: "sale"}}
	})
	if l := charge(t, p, login(v4), IDGlobal).Limit; l.Capacity != 1000 {
		t.Errorf("a shard of 8000 holds %d, want 1000", l.Capacity)
	}
}

func TestOverrideHoldsThroughItsLastDay(t *testing.T) {
	at := func(now string) *Policy {
		return must(t, func(c *Config) {
			var err error
			if c.Now, err = time.Parse(time.RFC3339, now); err != nil {
				t.Fatal(err)
			}
			c.Overrides = []Override{
				{Limit: "account", Capacity: 20, Reason: "exam week", Expires: "2027-01-31"},
				{Limit: "device", Capacity: 20, Reason: "forever"},
				{Limit: "familiar", Capacity: 20, Reason: "later", Expires: "2027-03-01"},
			}
		})
	}
	tests := []struct {
		now      string
		holds    bool
		warnings []string
		next     string
	}{
		{"2027-01-31T23:59:59Z", true, nil, "2027-02-01T00:00:00Z"},
		{"2027-01-31T22:59:59-01:00", true, nil, "2027-02-01T00:00:00Z"},
		{"2027-02-01T00:00:00Z", false, []string{"overrides[0]: expired on 2027-01-31 and is ignored: exam week"}, "2027-03-02T00:00:00Z"},
		{"2027-02-01T12:00:00+13:00", true, nil, "2027-02-01T00:00:00Z"}, // still January in UTC
	}
	for _, tt := range tests {
		p := at(tt.now)
		if got := reasons(p, login(v4))[IDAccount] != ""; got != tt.holds {
			t.Errorf("%s: holds %v, want %v", tt.now, got, tt.holds)
		}
		if diff := cmp.Diff(tt.warnings, p.Warnings()); diff != "" {
			t.Errorf("%s: warnings (-want +got):\n%s", tt.now, diff)
		}
		if got := p.NextExpiry().Format(time.RFC3339); got != tt.next {
			t.Errorf("%s: next expiry %s, want %s", tt.now, got, tt.next)
		}
	}
	if got := must(t, nil).NextExpiry(); !got.IsZero() {
		t.Errorf("without overrides the next expiry is %v", got)
	}
}

func TestChallengeThatNothingLimitsIsWarnedAbout(t *testing.T) {
	p := must(t, func(c *Config) { c.Limits.Account.OnExhausted, c.Limits.Challenged.Mode = "challenge", Off })
	want := []string{"limits.account.on_exhausted: challenge has no effect while limits.challenged is off"}
	if diff := cmp.Diff(want, p.Warnings()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestOverrideOfAnUnknownPoolIsFound(t *testing.T) {
	p := must(t, func(c *Config) {
		for _, n := range []string{"shared", "203.0.113.0/24", "carier-a", ""} {
			c.Overrides = append(c.Overrides, Override{Limit: "network", Match: Match{Network: n}, Capacity: 500, Reason: "test"})
		}
	})
	err := p.CheckPools(func(name string) bool { return name == "shared" })
	var errs Errors
	if !errors.As(err, &errs) {
		t.Fatalf("error is %v", err)
	}
	want := Errors{{Path: "overrides[2].match.network", Msg: `there is no pool "carier-a"`}}
	if diff := cmp.Diff(want, errs); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	if err := p.CheckPools(func(string) bool { return true }); err != nil {
		t.Errorf("all pools known: %v", err)
	}
}

// A network to match is a prefix without host bits, a pool's name, or refused;
// never both, and never taken for something else when written back.
func FuzzMatchNetwork(f *testing.F) {
	for _, s := range []string{"203.0.113.0/24", "203.0.113.9", "::ffff:203.0.113.9/128", "2001:db8::/32", "carrier-a", "1.2.3", "a:b", "x/y", "0.0.0.0/0", "fe80::1%eth0", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m := Match{Network: s}
		p, pool, err := m.network()
		switch {
		case err != nil:
			if p.IsValid() || pool != "" {
				t.Fatalf("%q: %v, %q beside %v", s, p, pool, err)
			}
		case pool != "":
			if p.IsValid() || pool != s || !validName(s) {
				t.Fatalf("%q: %v and pool %q", s, p, pool)
			}
			if _, err := netip.ParseAddr(s); err == nil {
				t.Fatalf("the address %q is a pool", s)
			}
		default:
			if !p.IsValid() || p != p.Masked() {
				t.Fatalf("%q: prefix %v", s, p)
			}
			again, _, err := (&Match{Network: p.String()}).network()
			if err != nil || again != p {
				t.Fatalf("%q is %v, read again as %v, %v", s, p, again, err)
			}
			v := view{Attempt: &Attempt{Networks: []netprefix.Network{{Level: netprefix.Host, Name: p.String()}}}}
			v.parse()
			if !v.within(netprefix.Host, p) {
				t.Fatalf("%v is not within itself", p)
			}
		}
	})
}

func BenchmarkPlanWithOverrides(b *testing.B) {
	p := must(b, func(c *Config) {
		for i := range 100 {
			c.Overrides = append(c.Overrides, Override{Limit: "network", Level: "subnet", Capacity: 500, Reason: "test",
				Match: Match{Network: fmt.Sprintf("198.51.%d.0/24", i)}})
		}
	})
	b.ReportAllocs()
	for b.Loop() {
		p.Plan(login(v4))
	}
}
