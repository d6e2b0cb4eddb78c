package policy

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// over1 makes the configuration with one override.
func over1(o Override) func(*Config) {
	return func(c *Config) {
		if o.Reason == "" {
			o.Reason = "test"
		}
		c.Overrides = []Override{o}
	}
}

func TestEveryMistakeIsToldWithPathBoundAndValue(t *testing.T) {
	h, m := time.Hour, time.Minute
	tests := []struct {
		change func(*Config)
		want   string // all messages, one a line
	}{
		{func(c *Config) { c.Mode = "on" }, `mode: must be one of enforce, log_only, off, is "on"`},
		{func(c *Config) { c.AttemptTTL = 500 * time.Millisecond }, "attempt_ttl: must be 1s to 1h, is 500ms"},
		{func(c *Config) { c.AttemptTTL = 61 * m }, "attempt_ttl: must be 1s to 1h, is 1h1m"},
		{func(c *Config) { c.Remember = 59 * m }, "familiar.remember: must be 1h to 8760h, is 59m"},
		{func(c *Config) { c.Remember = 8761 * h }, "familiar.remember: must be 1h to 8760h, is 8761h"},
		{func(c *Config) { c.Sources = 0 }, "familiar.sources: must be 1 to 32, is 0"},
		{func(c *Config) { c.Sources = 33 }, "familiar.sources: must be 1 to 32, is 33"},
		{func(c *Config) { c.DeviceTTL = 59 * m }, "device.ttl: must be 1h to 8760h, is 59m"},
		{func(c *Config) { c.DeviceTTL = 8761 * h }, "device.ttl: must be 1h to 8760h, is 8761h"},
		{func(c *Config) { c.Instances = 0 }, "store.instances: must be 1 to 1000, is 0"},
		{func(c *Config) { c.Instances = 1001 }, "store.instances: must be 1 to 1000, is 1001"},
		{func(c *Config) { c.Realms = []string{"a/b"} }, `realms: "a/b" is no name: 1 to 64 of a-z 0-9 _ . - are, beginning with a letter or digit`},
		{func(c *Config) { c.HostingScale = 0 }, "networks.hosting.scale: must be above 0 and at most 1, is 0"},
		{func(c *Config) { c.HostingScale = 1.5 }, "networks.hosting.scale: must be above 0 and at most 1, is 1.5"},
		{func(c *Config) { c.HostingScale = math.NaN() }, "networks.hosting.scale: must be above 0 and at most 1, is NaN"},

		{func(c *Config) { c.Routes["login"] = Route{Cost: 0} }, "routes.login.cost: must be 1 to 1000, is 0"},
		{func(c *Config) { c.Routes["login"] = Route{Cost: 1001} }, "routes.login.cost: must be 1 to 1000, is 1001"},
		{func(c *Config) { c.Routes["x"] = Route{Cost: 1, Success: "half"} }, `routes.x.success: must be one of full, refund, none, is "half"`},
		{func(c *Config) { c.Routes["x"] = Route{Cost: 1, OnFailure: "ajar"} }, `routes.x.on_failure: must be one of closed, open, local, is "ajar"`},
		{func(c *Config) { c.Routes["X"] = Route{Cost: 1} }, `routes.X: "X" is no name: 1 to 64 of a-z 0-9 _ . - are, beginning with a letter or digit`},
		{func(c *Config) {
			for i := range 97 {
				c.Routes["r"+strings.Repeat("x", i%50)+string(rune('a'+i/50))] = Route{Cost: 1}
			}
		}, "routes: has 101 entries, at most 100 are allowed"},

		{func(c *Config) { c.Limits.Account.Mode = "deny" }, `limits.account.mode: must be one of enforce, log_only, off, is "deny"`},
		{func(c *Config) { c.Limits.Account.Capacity = 0 }, "limits.account.capacity: must be 1 to 1000000, is 0"},
		{func(c *Config) { c.Limits.Password.Capacity = 1_000_001 }, "limits.password.capacity: must be 1 to 1000000, is 1000001"},
		{func(c *Config) { c.Limits.Account.Refill = Rate{} }, "limits.account.refill: must be at least one token in a span above 0, like 10/6h"},
		{func(c *Config) { c.Limits.Account.Refill = Rate{2, time.Microsecond} }, "limits.account.refill: 2/1µs is more than one token in 1µs"},
		{func(c *Config) { c.Limits.Account.Refill = Rate{2, 3 * h} }, "limits.account.refill: 2/3h brings one token every 1h30m, longer than 1h"},
		{func(c *Config) { c.Limits.Account.OnExhausted = "ask" }, `limits.account.on_exhausted: must be one of deny, challenge, is "ask"`},
		{func(c *Config) { c.Limits.Repeat.OnExhausted = "challenge" }, `limits.repeat.on_exhausted: must be deny, is "challenge": no challenge may stand in for repeat`},
		{func(c *Config) { c.Limits.Challenged.OnExhausted = "challenge" }, `limits.challenged.on_exhausted: must be deny, is "challenge": no challenge may stand in for challenged`},
		{func(c *Config) { c.Limits.Account.PerUser = 1 }, "limits.account.per_user: is for network, pool and global only"},
		{func(c *Config) { c.Limits.Account.MaxCapacity = 1 }, "limits.account.max_capacity: is for network, pool and global only"},
		{func(c *Config) { c.Limits.Account.Shards = 1 }, "limits.account.shards: is for global only"},
		{func(c *Config) { c.Limits.Host.Backoff = c.Limits.Account.Backoff }, "limits.network.host.backoff: is for account, device and familiar only"},
		{func(c *Config) { c.Limits.Host.PerUser = 101 }, "limits.network.host.per_user: must be 0 to 100, is 101"},
		{func(c *Config) { c.Limits.Host.PerUser = -0.5 }, "limits.network.host.per_user: must be 0 to 100, is -0.5"},
		{func(c *Config) { c.Limits.Host.PerUser = math.NaN() }, "limits.network.host.per_user: must be 0 to 100, is NaN"},
		{func(c *Config) { c.Limits.Host.Capacity = 3001 }, "limits.network.host.max_capacity: 3000 is below the capacity 3001"},
		{func(c *Config) { c.Limits.Pool.MaxCapacity = 1_000_001 }, "limits.pool.max_capacity: must be 1 to 1000000, is 1000001"},
		{func(c *Config) { c.Limits.Global.Shards = 0 }, "limits.global.shards: must be 1 to 64, is 0"},
		{func(c *Config) { c.Limits.Global.Shards = 65 }, "limits.global.shards: must be 1 to 64, is 65"},

		{func(c *Config) { c.Limits.Account.Backoff.Base = 999 * time.Millisecond }, "limits.account.backoff.base: must be 1s to 1h, is 999ms"},
		{func(c *Config) { c.Limits.Account.Backoff.Factor = 0.5 }, "limits.account.backoff.factor: must be 1 to 10, is 0.5"},
		{func(c *Config) { c.Limits.Account.Backoff.Factor = 11 }, "limits.account.backoff.factor: must be 1 to 10, is 11"},
		{func(c *Config) { c.Limits.Account.Backoff.Max = 2 * h }, "limits.account.backoff.max: must be 1s to 1h, is 2h"},
		{func(c *Config) { c.Limits.Account.Backoff.Forget = 49 * h }, "limits.account.backoff.forget: must be 1s to 48h, is 49h"},
		{func(c *Config) { c.Limits.Device.Backoff.Base = 16 * m }, "limits.device.backoff.base: 16m is above max 15m"},
		{func(c *Config) { c.Limits.Account.Backoff.Factor = 1 },
			"limits.account.backoff.factor: must be above 1 where base 30s is below max 1h, or the wait never grows"},
		{func(c *Config) { c.Limits.Account.Backoff.Factor = 1.01 },
			"limits.account.backoff.factor: 1.01 needs more than 100 steps from base 30s to max 1h"},
		{func(c *Config) { c.Limits.Account.Backoff.Max = 30 * m },
			"limits.account.backoff.max: the longest wait 30m is shorter than the refill interval 36m (10/6h): waiting would bring more than the refill"},
		{func(c *Config) { c.Limits.Account.Backoff.Forget = 4 * h },
			"limits.account.backoff.forget: the backoff is forgotten after 4h, before 4h44m39s = (log_factor(max/base) + 1) x refill interval 36m: forgetting would bring more than the refill"},

		{func(c *Config) { c.Limits.Host.Capacity = 4 },
			"limits.network.host.capacity: 4 is below the largest route cost 5 (routes.signup.cost): such an attempt could never be made"},
		{func(c *Config) { c.Limits.Host.Refill = Rate{4, h} },
			"limits.network.host.refill: 4/1h brings back the largest route cost 5 (routes.signup.cost) only after 1h15m, longer than 1h"},
		{func(c *Config) { c.Shards, c.Limits.Global.Refill = true, Rate{30, h} },
			"limits.global.refill: 30/1h in 8 shards brings back the largest route cost 5 (routes.signup.cost) only after 1h20m, longer than 1h: lower limits.global.shards"},
		{func(c *Config) { c.Limits.Password.Capacity, c.Limits.Password.Refill = 1_000_000, Rate{1, h} },
			"limits.password.refill: 1/1h fills a bucket of 1000000 only after 41666 days, longer than the 26062 that can be counted"},

		{over1(Override{Limit: "acount", Capacity: 20}), `overrides[0].limit: must be one of account, device, familiar, network, global, password, repeat, challenged, is "acount"`},
		{over1(Override{Limit: "network", Level: "street", Capacity: 20}), `overrides[0].level: must be one of host, site, subnet, pool, is "street"`},
		{over1(Override{Limit: "account", Level: "host", Capacity: 20}), `overrides[0].level: is for the limit network only, is "host"`},
		{over1(Override{Limit: "pool", Level: "host", Capacity: 20}), `overrides[0].level: is for the limit network only, is "host"`},
		{over1(Override{Limit: "account"}), "overrides[0]: needs capacity or refill, or it changes nothing"},
		{over1(Override{Limit: "account", Capacity: -1}), "overrides[0].capacity: must be 1 to 1000000, is -1"},
		{over1(Override{Limit: "account", Capacity: 1_000_001}), "overrides[0].capacity: must be 1 to 1000000, is 1000001"},
		{over1(Override{Limit: "account", Refill: Rate{1, -h}}), "overrides[0].refill: must be at least one token in a span above 0, like 10/6h"},
		{func(c *Config) { c.Overrides = []Override{{Limit: "account", Capacity: 20}} }, "overrides[0].reason: is required: who asked for this and why"},
		{over1(Override{Limit: "account", Capacity: 20, Reason: strings.Repeat("x", 257)}), "overrides[0].reason: must be at most 256 bytes, is 257"},
		{over1(Override{Limit: "account", Capacity: 20, Expires: "31.1.2027"}), `overrides[0].expires: must be a day like 2027-01-31, is "31.1.2027"`},
		{over1(Override{Limit: "account", Capacity: 20, Expires: "2027-02-30"}), `overrides[0].expires: must be a day like 2027-01-31, is "2027-02-30"`},
		{over1(Override{Limit: "account", Capacity: 20, Match: Match{Network: "203.0.113.0/24"}}),
			"overrides[0].match.network: an override of account may match realm or account only, since one bucket has one size"},
		{over1(Override{Limit: "device", Capacity: 20, Match: Match{Route: "login"}}),
			"overrides[0].match.route: an override of device may match realm or account only, since one bucket has one size"},
		{over1(Override{Limit: "familiar", Capacity: 20, Match: Match{Caller: "idp"}}),
			"overrides[0].match.caller: an override of familiar may match realm or account only, since one bucket has one size"},
		{over1(Override{Limit: "global", Capacity: 20, Match: Match{Account: "alice"}}),
			"overrides[0].match.account: an override of global may match realm only, since one bucket has one size"},
		{over1(Override{Limit: "network", Capacity: 20, Match: Match{Network: "203.0.113.9/24"}}),
			`overrides[0].match.network: "203.0.113.9/24" has host bits set: write 203.0.113.0/24 for the block, or the address without a length`},
		{over1(Override{Limit: "network", Capacity: 20, Match: Match{Network: "Carrier A"}}),
			`overrides[0].match.network: "Carrier A" is neither a CIDR nor the name of a pool`},
		{over1(Override{Limit: "account", Capacity: 20, Match: Match{Realm: "shop"}}), `overrides[0].match.realm: must be one of default, is "shop"`},
		{over1(Override{Limit: "network", Capacity: 20, Match: Match{Route: "logon"}}), `overrides[0].match.route: there is no route "logon"`},
		{over1(Override{Limit: "network", Capacity: 20, Match: Match{Caller: "A B"}}),
			`overrides[0].match.caller: "A B" is no name: 1 to 64 of a-z 0-9 _ . - are, beginning with a letter or digit`},
		{over1(Override{Limit: "account", Capacity: 20, Match: Match{Account: "  "}}), "overrides[0].match.account: is empty in its canonical form, as a name of only blanks is"},
		{over1(Override{Limit: "network", Level: "host", Capacity: 4}),
			"overrides[0].capacity: 4 is below the largest route cost 5 (routes.signup.cost): such an attempt could never be made"},
		{over1(Override{Limit: "network", Capacity: 2, Match: Match{Route: "password_reset"}}),
			"overrides[0].capacity: 2 is below the largest route cost 3 (routes.password_reset.cost): such an attempt could never be made"},
		{over1(Override{Limit: "network", Level: "host", Refill: Rate{1, h}}),
			"overrides[0].refill: 1/1h brings back the largest route cost 5 (routes.signup.cost) only after 5h, longer than 1h"},
		{over1(Override{Limit: "device", Refill: Rate{1, 20 * m}}),
			"overrides[0].refill: the longest wait 15m is shorter than the refill interval 20m (1/20m): waiting would bring more than the refill\n" +
				"overrides[0].refill: the backoff is forgotten after 1h, before 2h29m50s = (log_factor(max/base) + 1) x refill interval 20m: forgetting would bring more than the refill"},
		{func(c *Config) { c.Overrides = make([]Override, 1001) }, "overrides: has 1001 entries, at most 1000 are allowed"},
	}
	for _, tt := range tests {
		c := Defaults()
		c.HashAccount = hash
		tt.change(&c)
		p, err := New(c)
		if p != nil || err == nil {
			t.Errorf("accepted, want %s", tt.want)
			continue
		}
		if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
			t.Errorf("message (-want +got):\n%s", diff)
		}
	}
}

func TestAllMistakesAreToldAtOnceInOrder(t *testing.T) {
	c := Defaults()
	c.Mode, c.Sources, c.HostingScale = "x", 0, 2
	c.Limits.Device.Capacity, c.Limits.Pool.Shards = 0, 2
	c.Overrides = []Override{{Limit: "x", Match: Match{Realm: "y"}, Expires: "z"}}
	_, err := New(c)
	var errs Errors
	if !errors.As(err, &errs) {
		t.Fatalf("error is %T, want Errors", err)
	}
	var paths []string
	for _, e := range errs {
		paths = append(paths, e.Path)
	}
	want := []string{"mode", "familiar.sources", "limits.device.capacity", "limits.pool.shards", "networks.hosting.scale",
		"overrides[0].limit", "overrides[0].match.realm", "overrides[0]", "overrides[0].reason", "overrides[0].expires"}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

func TestBoundsThemselvesAreAccepted(t *testing.T) {
	must(t, func(c *Config) {
		c.AttemptTTL, c.Remember, c.Sources, c.DeviceTTL = time.Second, time.Hour, 1, time.Hour
		c.Instances, c.HostingScale = 1000, 1
		c.Limits.Password.Capacity, c.Limits.Password.Refill = 1, Rate{1, time.Hour}
		c.Limits.Host.PerUser, c.Limits.Host.MaxCapacity = 100, 1_000_000
		c.Limits.Global.Shards = 64
		c.Limits.Site.PerUser, c.Limits.Site.Capacity = 0, 6000 // above a bound that does not count
		c.Limits.Device.Backoff = &Backoff{Base: time.Hour, Factor: 1, Max: time.Hour, Forget: 48 * time.Hour}
		c.Limits.Familiar.Backoff = nil
	})
	must(t, func(c *Config) {
		c.AttemptTTL, c.Remember, c.Sources, c.DeviceTTL = time.Hour, 8760*time.Hour, 32, 8760*time.Hour
		c.Limits.Password.Capacity, c.Limits.Password.Refill = 1_000_000, Rate{1, time.Microsecond}
		for _, l := range []*Limit{&c.Limits.Host, &c.Limits.Site, &c.Limits.Subnet, &c.Limits.Pool, &c.Limits.Global} {
			l.Capacity, l.MaxCapacity, l.Refill = 1000, 1_000_000, Rate{1000, time.Hour}
		}
		c.Routes["signup"] = Route{Cost: 1000}
	})
}

func TestNames(t *testing.T) {
	for name, want := range map[string]bool{
		"default": true, "a": true, "0": true, "a.b_c-d": true, strings.Repeat("a", 64): true,
		"": false, "A": false, "-a": false, "_a": false, ".a": false, "a b": false, "a/b": false, "a:b": false, "a{b": false, "a}b": false,
		"a\n": false, "ä": false, strings.Repeat("a", 65): false,
	} {
		if got := validName(name); got != want {
			t.Errorf("validName(%q) = %v, want %v", name, got, want)
		}
	}
}
