package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loginguard/netprefix"
	"loginguard/store"
)

func TestSettleOfEveryKindOfAttempt(t *testing.T) {
	populations := []string{"lg:{default/203.0.113.0/24}:nh:9", "lg:{default/203.0.113.0/24}:ns", "lg:{default}:n"}
	base := func(change func(*store.Settle)) store.Settle {
		s := store.Settle{Record: "lg:{" + alice + "}", Network: "203.0.113.0/24", Remember: minutes(720 * 60), Sources: 8,
			Populations: populations, Member: alice}
		if change != nil {
			change(&s)
		}
		return s
	}
	token := &Device{ID: phone}
	tests := []struct {
		name    string
		change  func(*Config)
		attempt func(*Attempt)
		want    store.Settle
	}{
		{"plain", nil, nil, base(nil)},
		{"a wrong tag from the network", nil, func(a *Attempt) { a.RepeatTag = "R" }, base(func(s *store.Settle) {
			s.Wrong = store.Remembering{Source: "w:203.0.113.0/24", Tag: "R"}
		})},
		{"a wrong tag from the device; its network does not become familiar", nil, func(a *Attempt) { a.RepeatTag, a.Device = "R", token },
			base(func(s *store.Settle) { s.Network, s.Wrong = "", store.Remembering{Source: "w:" + phone, Tag: "R"} })},
		{"hosting never becomes familiar and has no population, the realm has", nil, func(a *Attempt) { a.Class, a.RepeatTag = netprefix.Hosting, "R" },
			base(func(s *store.Settle) {
				s.Network, s.Populations = "", []string{"lg:{default}:n"}
				s.Wrong = store.Remembering{Source: "w:203.0.113.0/24", Tag: "R"}
			})},
		{"exempt becomes familiar, in no population", nil, func(a *Attempt) { a.Class = netprefix.Exempt },
			base(func(s *store.Settle) { s.Populations = nil })},
		{"a carrier", nil, func(a *Attempt) { a.Class, a.Networks = netprefix.InPool, carrier }, base(func(s *store.Settle) {
			s.Network = "shared"
			s.Populations = []string{"lg:{default/shared}:nh:100.64.0.7/32", "lg:{default/shared}:np", "lg:{default}:n"}
		})},
		{"only what grows is counted", func(c *Config) { c.Limits.Host.PerUser, c.Limits.Global.PerUser = 0, 0 }, nil,
			base(func(s *store.Settle) { s.Populations = populations[1:2] })},
		{"no account", nil, func(a *Attempt) { a.Account, a.RepeatTag = "", "R" }, store.Settle{Remember: minutes(720 * 60), Sources: 8}},
		{"repeat off", func(c *Config) { c.Limits.Repeat.Mode = Off }, func(a *Attempt) { a.RepeatTag = "R" }, base(nil)},
		{"no networks", nil, func(a *Attempt) { a.Networks, a.RepeatTag = nil, "R" }, base(func(s *store.Settle) {
			s.Network, s.Populations = "", []string{"lg:{default}:n"}
		})},
		{"sources of the configuration", func(c *Config) { c.Sources = 3 }, nil, base(func(s *store.Settle) { s.Sources = 3 })},
	}
	for _, tt := range tests {
		a := login(v4)
		if tt.attempt != nil {
			tt.attempt(&a)
		}
		if diff := cmp.Diff(tt.want, must(t, tt.change).Settle(a)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// Whatever Plan charged, Refund finds again, also after the limit was turned off.
func TestRefundFindsEveryCharge(t *testing.T) {
	p, off := must(t, nil), must(t, func(c *Config) { c.Mode = Off })
	for _, networks := range [][]netprefix.Network{v4, v6, carrier} {
		for _, class := range []netprefix.Class{netprefix.None, netprefix.Exempt, netprefix.InPool, netprefix.Hosting} {
			a := login(networks)
			a.Class, a.Device, a.RepeatTag, a.PasswordTag, a.ChallengePassed = class, &Device{ID: phone}, "R", "T", true
			plan := p.Plan(a)
			for i, c := range plan.Take.Charges {
				want := store.Refund{Key: c.Key, Field: c.Field, Cost: c.Cost}
				if diff := cmp.Diff(want, off.Refund(a, plan.Rules[i].ID, c.Cost)); diff != "" {
					t.Errorf("%v, bucket %d (-want +got):\n%s", class, plan.Rules[i].ID, diff)
				}
			}
		}
	}
}

func TestRefundOfNoSuchBucketIsEmpty(t *testing.T) {
	p := must(t, nil)
	a := login(v4)
	bare := Attempt{Realm: DefaultRealm, Route: "login"}
	for _, tt := range []struct {
		a  Attempt
		id ID
	}{{a, 0}, {a, idCount}, {a, 255}, {a, IDSite}, {a, IDPoolFamiliar}, {a, IDDevice}, {a, IDRepeatDevice}, {a, IDPassword},
		{bare, IDAccount}, {bare, IDChallenged}, {bare, IDFamiliar}, {bare, IDRepeatNetwork}, {bare, IDHost}} {
		if got := p.Refund(tt.a, tt.id, 1); got != (store.Refund{}) {
			t.Errorf("bucket %d of %+v: %+v", tt.id, tt.a, got)
		}
	}
}

func TestNetworkKeysAreThoseThatAreCharged(t *testing.T) {
	p := must(t, nil)
	for _, networks := range [][]netprefix.Network{v4, v6, carrier} {
		charged := make(map[string]bool)
		for i, r := range p.Plan(login(networks)).Rules {
			if r.Limit == "network" {
				charged[p.Plan(login(networks)).Take.Charges[i].Key] = true
			}
		}
		for _, n := range networks {
			keys := p.NetworkKeys(DefaultRealm, networks, n)
			if len(keys) != 2 {
				t.Errorf("%v has keys %q, want two", n, keys)
			}
			for _, k := range keys {
				if !charged[k] {
					t.Errorf("%v: %s is not charged", n, k)
				}
				delete(charged, k)
			}
		}
		if len(charged) != 0 {
			t.Errorf("%v: not cleared: %v", networks, charged)
		}
	}
	if keys := p.NetworkKeys(DefaultRealm, nil, v4[0]); keys != nil {
		t.Errorf("no networks: %q", keys)
	}
}
