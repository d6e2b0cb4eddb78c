package policy

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The numbers are what the manual promises; a change here is a change for
// every user who relies on a default.
func TestDefaultsAreTheDocumentedOnes(t *testing.T) {
	h, m, s := time.Hour, time.Minute, time.Second
	want := Config{
		Mode: "enforce", Realms: []string{"default"}, AttemptTTL: 2 * m,
		Remember: 720 * h, Sources: 8, DeviceTTL: 2160 * h,
		Routes: map[string]Route{
			"login":          {Cost: 1, Success: "full"},
			"signup":         {Cost: 5, Success: "none"},
			"password_reset": {Cost: 3, Success: "none"},
			"mfa":            {Cost: 1, Success: "full"},
		},
		Limits: Limits{
			Account:    Limit{Capacity: 10, Refill: Rate{10, 6 * h}, Backoff: &Backoff{30 * s, 2, h, 6 * h}},
			Device:     Limit{Capacity: 10, Refill: Rate{10, 15 * m}, Backoff: &Backoff{10 * s, 2, 15 * m, h}},
			Familiar:   Limit{Capacity: 10, Refill: Rate{10, 2 * h}, Backoff: &Backoff{30 * s, 2, 30 * m, 6 * h}},
			Host:       Limit{Capacity: 30, Refill: Rate{30, h}, PerUser: 0.15, MaxCapacity: 3000},
			Site:       Limit{Capacity: 60, Refill: Rate{60, h}, PerUser: 0.1, MaxCapacity: 5000},
			Subnet:     Limit{Capacity: 100, Refill: Rate{100, h}, PerUser: 0.05, MaxCapacity: 10000},
			Pool:       Limit{Capacity: 100, Refill: Rate{100, h}, PerUser: 0.05, MaxCapacity: 10000},
			Global:     Limit{Capacity: 1000, Refill: Rate{1000, h}, PerUser: 0.05, MaxCapacity: 100000, Shards: 8},
			Password:   Limit{Capacity: 20, Refill: Rate{20, h}},
			Repeat:     Limit{Capacity: 10, Refill: Rate{10, h}},
			Challenged: Limit{Capacity: 5, Refill: Rate{5, h}},
		},
		HostingScale: 0.25,
		Instances:    1,
	}
	if diff := cmp.Diff(want, Defaults()); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
}

func TestDefaultsAreValid(t *testing.T) {
	for _, change := range []func(*Config){
		func(*Config) {},
		func(c *Config) { c.Shards = true },
		func(c *Config) { c.Instances = 1000 },
		func(c *Config) { c.Mode = Off },
	} {
		if w := must(t, change).Warnings(); len(w) != 0 {
			t.Errorf("warnings of the defaults: %q", w)
		}
	}
}

func TestPolicySharesNothingWithItsConfig(t *testing.T) {
	c := Defaults()
	c.Overrides = []Override{{Limit: "account", Capacity: 20, Reason: "test"}}
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	want, published := p.Plan(login(v4)), p.Published()
	c.Limits.Account.Backoff.Base = time.Hour
	c.Routes["login"] = Route{Cost: 9, Success: SuccessNone}
	c.Overrides[0].Match.Network = "changed"
	c.Realms[0] = "changed"
	p.Realms()[0] = "changed"
	if diff := cmp.Diff(want, p.Plan(login(v4))); diff != "" {
		t.Errorf("plan after the config changed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(published, p.Published()); diff != "" {
		t.Errorf("published limits after the config changed (-want +got):\n%s", diff)
	}
	if err := p.CheckPools(func(string) bool { return false }); err != nil {
		t.Errorf("overrides after the config changed: %v", err)
	}
	if r, _ := p.Route("login"); r.Cost != 1 {
		t.Errorf("login costs %d after the config changed, want 1", r.Cost)
	}
	if got := p.Realms()[0]; got != DefaultRealm {
		t.Errorf("first realm is %q after the config changed", got)
	}
}

func TestStandardRoutesAndDefaultRealmAlwaysExist(t *testing.T) {
	p := must(t, func(c *Config) {
		c.Realms = []string{"shop", "default", "shop"}
		c.Routes = map[string]Route{"login": {Cost: 2}, "pos": {Cost: 1, NoAccount: true, Success: SuccessRefund, OnFailure: "open"}}
	})
	want := map[string]Route{
		"login":          {Cost: 2, Success: SuccessFull},
		"signup":         {Cost: 5, Success: SuccessNone},
		"password_reset": {Cost: 3, Success: SuccessNone},
		"mfa":            {Cost: 1, Success: SuccessFull},
		"pos":            {Cost: 1, NoAccount: true, Success: SuccessRefund, OnFailure: "open"},
	}
	for name, r := range want {
		if got, ok := p.Route(name); !ok || got != r {
			t.Errorf("Route(%q) = %+v, %v, want %+v", name, got, ok, r)
		}
	}
	if _, ok := p.Route("nope"); ok {
		t.Error(`Route("nope") exists`)
	}
	if diff := cmp.Diff([]string{"default", "shop"}, p.Realms()); diff != "" {
		t.Errorf("realms (-want +got):\n%s", diff)
	}
	if !p.Realm("shop") || p.Realm("nope") {
		t.Errorf("Realm: shop %v, nope %v", p.Realm("shop"), p.Realm("nope"))
	}
}
