package policy

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"loginguard/netprefix"
	"loginguard/store"
)

// anyConfig draws a configuration that is often accepted: near the bounds, but
// mostly inside.
func anyConfig(t *rapid.T) Config {
	c := Defaults()
	c.HashAccount = hash
	c.Realms = []string{"default", "shop"}
	c.Instances = rapid.IntRange(1, 1000).Draw(t, "instances")
	c.Shards = rapid.Bool().Draw(t, "shards")
	c.HostingScale = rapid.Float64Range(1e-6, 1).Draw(t, "scale")
	c.Routes["signup"] = Route{Cost: rapid.Int64Range(1, 30).Draw(t, "cost")}
	for i := range limCount {
		l := c.Limits.at(i)
		if rapid.IntRange(0, 2).Draw(t, "keep") > 0 {
			continue
		}
		l.Capacity = anyCapacity(t)
		l.Refill = anyRate(t)
		if specs[i].grows {
			l.PerUser = rapid.Float64Range(0, 100).Draw(t, "per_user")
			l.MaxCapacity = 1_000_000
		}
		if specs[i].sharded {
			l.Shards = rapid.IntRange(1, 64).Draw(t, "shards of global")
		}
		if specs[i].backoff {
			l.Backoff = &Backoff{
				Base:   time.Duration(rapid.Int64Range(1e9, 60e9).Draw(t, "base")),
				Factor: rapid.Float64Range(1.05, 10).Draw(t, "factor"),
				Max:    time.Duration(rapid.Int64Range(900e9, 3600e9).Draw(t, "max")),
				Forget: time.Duration(rapid.Int64Range(12, 48).Draw(t, "forget")) * time.Hour,
			}
		}
	}
	for range rapid.IntRange(0, 3).Draw(t, "overrides") {
		o := Override{Reason: "test"}
		s := &specs[rapid.IntRange(0, int(limCount)-1).Draw(t, "limit")]
		o.Limit, o.Level, o.Capacity = s.name, s.levelName(), anyCapacity(t)
		if rapid.Bool().Draw(t, "refill too") {
			o.Refill = anyRate(t)
		}
		if s.match&byRoute != 0 && rapid.Bool().Draw(t, "by route") {
			o.Match.Route = rapid.SampledFrom([]string{"login", "signup"}).Draw(t, "route")
		}
		c.Overrides = append(c.Overrides, o)
	}
	return c
}

func anyCapacity(t *rapid.T) int64 {
	return rapid.OneOf(rapid.Int64Range(40, 100), rapid.Int64Range(1, 1_000_000)).Draw(t, "capacity")
}

func anyRate(t *rapid.T) Rate {
	tokens := rapid.Int64Range(1, 1000).Draw(t, "tokens")
	each := rapid.OneOf(rapid.Int64Range(1e3, 60e9), rapid.Int64Range(1e3, 1200e9)).Draw(t, "nanoseconds each")
	return Rate{tokens, time.Duration(tokens * each)}
}

// Whatever configuration is accepted, every charge of every attempt can be paid
// from a full bucket, comes back within an hour, and stays in numbers that are
// exact in floating point; so do the shares of Local.
func TestEveryChargeOfAnAcceptedConfigIsInBounds(t *testing.T) {
	const exactBelow = 1 << 53
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		p, err := New(anyConfig(t))
		if err != nil {
			return
		}
		accepted++
		for _, q := range []*Policy{p, p.Local()} {
			for _, route := range []string{"login", "signup", "password_reset", "mfa", "gone"} {
				for _, class := range []netprefix.Class{netprefix.None, netprefix.Hosting} {
					a := login(rapid.SampledFrom([][]netprefix.Network{v4, v6, carrier}).Draw(t, "networks"))
					a.Route, a.Class, a.Device, a.RepeatTag, a.PasswordTag, a.ChallengePassed = route, class, &Device{ID: phone}, "R", "T", true
					for _, c := range q.Plan(a).Take.Charges {
						inBounds(t, c, exactBelow)
					}
				}
			}
		}
	})
	if accepted < 10 {
		t.Errorf("only %d configurations were accepted: the test says nothing", accepted)
	}
}

func inBounds(t *rapid.T, c store.Charge, exactBelow int64) {
	l := c.Limit
	hour := minutes(60)
	switch {
	case c.Cost < 1 || c.Cost > l.Capacity:
		t.Fatalf("cost %d of %+v", c.Cost, c)
	case l.Capacity < 1 || l.Capacity > 1_000_000 || l.MaxCapacity > 1_000_000:
		t.Fatalf("capacity of %+v", c)
	case l.Interval < 1 || c.Cost*l.Interval > hour:
		t.Fatalf("cost x interval of %+v", c)
	case l.Debt < 0 || l.Debt+c.Cost*l.Interval > hour:
		t.Fatalf("debt and cost are more than an hour: %+v", c)
	case l.Capacity*l.Interval+l.Debt+hour >= exactBelow/2:
		t.Fatalf("capacity x interval of %+v", c)
	case l.PerUser > 0 && l.MaxCapacity < l.Capacity, l.PerUser < 0, l.PerUser > 100_000_000:
		t.Fatalf("growth of %+v", c)
	case c.When == 0 || (c.Key == "") == (c.Field == ""):
		t.Fatalf("charge %+v", c)
	}
	if n := len(l.Waits); n > 0 {
		if n > maxWaits || l.Waits[n-1] > hour || l.Waits[n-1] < l.Interval || l.Forget > 48*hour {
			t.Fatalf("waits of %+v", c)
		}
		for i := 1; i < n; i++ {
			if l.Waits[i] <= l.Waits[i-1] {
				t.Fatalf("waits of %+v do not grow", c)
			}
		}
		// Climbing to the longest wait takes n-1 steps; forgetting sooner
		// than so many tokens come back would pay.
		if l.Forget < int64(n-1)*l.Interval {
			t.Fatalf("forgets before the refill: %+v", c)
		}
	}
}

// Two buckets share a name only if they are one bucket: the same kind, for the
// same realm, account, network, tag.
func TestNoTwoBucketsShareAName(t *testing.T) {
	realms := []string{"default", "a", "a.b", "ab", "default-p", "n", "g", "3", "i"}
	names := []string{"shared", "h", "hf", "n", "0", "default", "g", "10.0.0.0"}
	p := must(t, func(c *Config) { c.Realms, c.Shards = realms, true })
	rapid.Check(t, func(t *rapid.T) {
		owner := make(map[string]string)
		claim := func(name, by string) {
			if other, ok := owner[name]; ok && other != by {
				t.Fatalf("%s is both %s and %s", name, other, by)
			}
			owner[name] = by
		}
		for range 4 {
			a := Attempt{
				Realm: rapid.SampledFrom(realms).Draw(t, "realm"), Route: "login",
				// Hashes and tags are base64url; these are nasty ones.
				Account:     rapid.StringMatching(`[A-Za-z0-9_-]{22}`).Draw(t, "account"),
				Device:      &Device{ID: rapid.StringMatching(`[A-Z_][A-Za-z0-9_-]{15}`).Draw(t, "device")},
				RepeatTag:   "R",
				PasswordTag: rapid.StringMatching(`[A-Za-z0-9_-]{11}`).Draw(t, "tag"), ChallengePassed: true,
				Shard: rapid.Uint32Range(0, 7).Draw(t, "shard"),
			}
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				b, s := rapid.IntRange(0, 2).Draw(t, "host"), rapid.IntRange(0, 2).Draw(t, "subnet")
				a.Networks = []netprefix.Network{{Level: netprefix.Host, Name: fmt.Sprintf("10.0.%d.%d/32", s, b)}, {Level: netprefix.Subnet, Name: fmt.Sprintf("10.0.%d.0/24", s)}}
			case 1:
				b, s := rapid.IntRange(0, 2).Draw(t, "host"), rapid.SampledFrom(names).Draw(t, "pool")
				a.Networks = []netprefix.Network{{Level: netprefix.Host, Name: fmt.Sprintf("10.1.0.%d/32", b)}, {Level: netprefix.Pool, Name: s}}
			case 2: // all levels of one length: the names are equal, the levels are not
				for l := netprefix.Host; l <= netprefix.Pool; l++ {
					a.Networks = append(a.Networks, netprefix.Network{Level: l, Name: "10.2.0.0/24"})
				}
			}
			record, coarse := RecordKey(a.Account), a.Networks[len(a.Networks)-1].Name
			claim(record, "record of "+a.Account)
			plan := p.Plan(a)
			for i, c := range plan.Take.Charges {
				id := plan.Rules[i].ID
				b := buckets[id]
				by := fmt.Sprint(id, a.Realm)
				switch {
				case b.level != 0:
					by = fmt.Sprint(by, coarse, find(a.Networks, b.level))
				case id == IDGlobal:
					by = fmt.Sprint(by, a.Shard)
				case id == IDPassword:
					by = fmt.Sprint(by, a.PasswordTag)
				case id == IDFamiliar, id == IDRepeatNetwork:
					by = fmt.Sprint(id, a.Account, coarse)
				case id == IDDevice, id == IDRepeatDevice:
					by = fmt.Sprint(id, a.Account, a.Device.ID)
				default:
					by = fmt.Sprint(id, a.Account)
				}
				if c.Field != "" {
					claim(record+" "+c.Field, by)
				} else {
					claim(c.Key, by)
				}
				if c.Population != "" && b.level == 0 {
					claim(c.Population, "population of "+a.Realm)
				} else if c.Population != "" {
					claim(c.Population, fmt.Sprint("population of ", a.Realm, coarse, b.level, find(a.Networks, b.level)))
				}
			}
			claim(record+" "+plan.Take.RepeatDevice.Source, "wrong "+a.Account+a.Device.ID)
			claim(record+" "+plan.Take.RepeatNetwork.Source, "wrong "+a.Account+coarse)
		}
	})
}

func find(networks []netprefix.Network, level netprefix.Level) string {
	for _, n := range networks {
		if n.Level == level {
			return n.Name
		}
	}
	return ""
}
