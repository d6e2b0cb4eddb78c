package policy

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loginguard/netprefix"
	"loginguard/store"
)

// row is one charge and its rule, cut down to what tells the rows of the tests
// below apart; sizes have tests of their own.
type row struct {
	ID      ID
	Where   string // field, or key
	When    store.Lane
	Cost    int64
	Sized   string // population key
	Limit   string
	Level   string
	Flags   string // l log-only, c challenge, s stranger, g global
	Members int64  // capacity
}

func rows(t *testing.T, p Plan) []row {
	t.Helper()
	if len(p.Rules) != len(p.Take.Charges) {
		t.Fatalf("%d rules for %d charges", len(p.Rules), len(p.Take.Charges))
	}
	var list []row
	for i, c := range p.Take.Charges {
		r := p.Rules[i]
		if c.Key != "" && c.Field != "" {
			t.Errorf("charge %d has key %q and field %q", i, c.Key, c.Field)
		}
		if r.Cost != c.Cost || r.Challenge != c.Challenge || (r.Mode == LogOnly) != c.LogOnly {
			t.Errorf("charge %+v does not fit rule %+v", c, r)
		}
		flags := ""
		for _, f := range []struct {
			on   bool
			name string
		}{{c.LogOnly, "l"}, {c.Challenge, "c"}, {r.Stranger, "s"}, {r.Global, "g"}} {
			if f.on {
				flags += f.name
			}
		}
		list = append(list, row{r.ID, c.Key + c.Field, c.When, c.Cost, c.Population, r.Limit, r.Level, flags, c.Limit.Capacity})
	}
	return list
}

const (
	str, fam, dev = store.LaneStranger, store.LaneFamiliar, store.LaneDevice
	rpd, rpn      = store.LaneRepeatDevice, store.LaneRepeatNetwork
)

var (
	account  = row{IDAccount, "a", str, 1, "", "account", "", "", 10}
	familiar = row{IDFamiliar, "f:203.0.113.0/24", fam, 1, "", "familiar", "", "", 10}
	host     = row{IDHost, "lg:{default/203.0.113.0/24}:h:9", str, 1, "", "network", "host", "s", 30}
	hostFam  = row{IDHostFamiliar, "lg:{default/203.0.113.0/24}:hf:9", fam, 1, "lg:{default/203.0.113.0/24}:nh:9", "network", "host", "", 30}
	sub      = row{IDSubnet, "lg:{default/203.0.113.0/24}:s", str, 1, "", "network", "subnet", "s", 100}
	subFam   = row{IDSubnetFamiliar, "lg:{default/203.0.113.0/24}:sf", fam, 1, "lg:{default/203.0.113.0/24}:ns", "network", "subnet", "", 100}
	global   = row{IDGlobal, "lg:{default}:g", str, 1, "lg:{default}:n", "global", "", "g", 1000}
)

// with returns r changed.
func with(r row, change func(*row)) row { change(&r); return r }

func cost(r row, n int64) row { return with(r, func(r *row) { r.Cost = n }) }
func flag(r row, f string) row {
	return with(r, func(r *row) { r.Flags = f + r.Flags })
}

func TestPlanOfEveryKindOfAttempt(t *testing.T) {
	phoneToken := &Device{ID: phone, Issued: 5, Expires: 9}
	tests := []struct {
		name    string
		change  func(*Config)
		attempt func(*Attempt)
		want    []row
	}{
		{"plain login", nil, nil, []row{account, familiar, host, hostFam, sub, subFam, global}},
		{"IPv6 has sites", nil, func(a *Attempt) { a.Networks = v6 }, []row{
			account, with(familiar, func(r *row) { r.Where = "f:2001:db8:1::/48" }),
			{IDHost, "lg:{default/2001:db8:1::/48}:h:2/64", str, 1, "", "network", "host", "s", 30},
			{IDHostFamiliar, "lg:{default/2001:db8:1::/48}:hf:2/64", fam, 1, "lg:{default/2001:db8:1::/48}:nh:2/64", "network", "host", "", 30},
			{IDSite, "lg:{default/2001:db8:1::/48}:i:0/56", str, 1, "", "network", "site", "s", 60},
			{IDSiteFamiliar, "lg:{default/2001:db8:1::/48}:if:0/56", fam, 1, "lg:{default/2001:db8:1::/48}:ni:0/56", "network", "site", "", 60},
			{IDSubnet, "lg:{default/2001:db8:1::/48}:s", str, 1, "", "network", "subnet", "s", 100},
			{IDSubnetFamiliar, "lg:{default/2001:db8:1::/48}:sf", fam, 1, "lg:{default/2001:db8:1::/48}:ns", "network", "subnet", "", 100},
			global,
		}},
		{"a carrier is one network", nil, func(a *Attempt) { a.Networks, a.Class = carrier, netprefix.InPool }, []row{
			account, with(familiar, func(r *row) { r.Where = "f:shared" }),
			{IDHost, "lg:{default/shared}:h:100.64.0.7/32", str, 1, "", "network", "host", "s", 30},
			{IDHostFamiliar, "lg:{default/shared}:hf:100.64.0.7/32", fam, 1, "lg:{default/shared}:nh:100.64.0.7/32", "network", "host", "", 30},
			{IDPool, "lg:{default/shared}:p", str, 1, "", "network", "pool", "s", 100},
			{IDPoolFamiliar, "lg:{default/shared}:pf", fam, 1, "lg:{default/shared}:np", "network", "pool", "", 100},
			global,
		}},
		{"exempt skips networks and global only", nil, func(a *Attempt) { a.Class = netprefix.Exempt; a.PasswordTag = "T" }, []row{
			account, familiar, {IDPassword, "lg:{default:p:T}", str, 1, "", "password", "", "", 20},
		}},
		{"hosting is scaled and never familiar", nil, func(a *Attempt) { a.Class = netprefix.Hosting }, []row{
			account, with(host, func(r *row) { r.Members = 8 }), with(sub, func(r *row) { r.Members = 25 }), global,
		}},
		{"an expensive route costs networks and global", nil, func(a *Attempt) { a.Route = "signup"; a.PasswordTag = "T" }, []row{
			account, familiar, cost(host, 5), cost(hostFam, 5), cost(sub, 5), cost(subFam, 5), cost(global, 5),
			{IDPassword, "lg:{default:p:T}", str, 1, "", "password", "", "", 20},
		}},
		{"an unknown route costs what the dearest does", nil, func(a *Attempt) { a.Route = "gone" }, []row{
			account, familiar, cost(host, 5), cost(hostFam, 5), cost(sub, 5), cost(subFam, 5), cost(global, 5),
		}},
		{"no account", func(c *Config) { c.Limits.Host.OnExhausted = "challenge" }, func(a *Attempt) {
			a.Account, a.RepeatTag, a.PasswordTag, a.ChallengePassed, a.Device = "", "R", "T", true, phoneToken
		}, []row{host, sub, global, {IDPassword, "lg:{default:p:T}", str, 1, "", "password", "", "", 20}}},
		{"a device, tags and a passed challenge", nil, func(a *Attempt) {
			a.Device, a.RepeatTag, a.PasswordTag, a.ChallengePassed = phoneToken, "R", "T", true
		}, []row{
			account, {IDDevice, "d:" + phone, dev, 1, "", "device", "", "", 10}, familiar, host, hostFam, sub, subFam, global,
			{IDPassword, "lg:{default:p:T}", str, 1, "", "password", "", "", 20},
			{IDRepeatDevice, "r:" + phone, rpd, 1, "", "repeat", "", "", 10},
			{IDRepeatNetwork, "r:203.0.113.0/24", rpn, 1, "", "repeat", "", "", 10},
			{IDChallenged, "c", dev | fam | str | rpd | rpn, 1, "", "challenged", "", "", 5},
		}},
		{"a repeat from hosting", nil, func(a *Attempt) { a.Class, a.RepeatTag = netprefix.Hosting, "R" }, []row{
			account, with(host, func(r *row) { r.Members = 8 }), with(sub, func(r *row) { r.Members = 25 }), global,
			{IDRepeatNetwork, "r:203.0.113.0/24", rpn, 1, "", "repeat", "", "", 10},
		}},
		{"no networks", nil, func(a *Attempt) { a.Networks, a.RepeatTag = nil, "R" }, []row{account, global}},
		{"limits that are off", func(c *Config) { c.Limits.Account.Mode, c.Limits.Subnet.Mode = Off, Off }, nil,
			[]row{familiar, host, hostFam, global}},
		{"one limit only logs", func(c *Config) { c.Limits.Account.Mode = LogOnly }, nil,
			[]row{flag(account, "l"), familiar, host, hostFam, sub, subFam, global}},
		{"all limits only log", func(c *Config) { c.Mode, c.Limits.Host.Mode = LogOnly, Off }, nil,
			[]row{flag(account, "l"), flag(familiar, "l"), flag(sub, "l"), flag(subFam, "l"), flag(global, "l")}},
		{"all off", func(c *Config) { c.Mode = Off }, func(a *Attempt) { a.RepeatTag, a.ChallengePassed = "R", true }, nil},
		{"challenges", func(c *Config) { c.Limits.Account.OnExhausted, c.Limits.Host.OnExhausted = "challenge", "challenge" }, nil,
			[]row{flag(account, "c"), familiar, flag(host, "c"), flag(hostFam, "c"), sub, subFam, global}},
		{"challenges that nothing limits are not asked for", func(c *Config) {
			c.Limits.Account.OnExhausted, c.Limits.Challenged.Mode = "challenge", Off
		}, func(a *Attempt) { a.ChallengePassed = true }, []row{account, familiar, host, hostFam, sub, subFam, global}},
		{"no growth without per_user", func(c *Config) { c.Limits.Host.PerUser, c.Limits.Global.PerUser = 0, 0 }, nil, []row{
			account, familiar, host, with(hostFam, func(r *row) { r.Sized = "" }), sub, subFam, with(global, func(r *row) { r.Sized = "" }),
		}},
		{"another realm", func(c *Config) { c.Realms = []string{"shop"} }, func(a *Attempt) { a.Realm = "shop"; a.Networks = v4[1:] }, []row{
			account, familiar,
			{IDSubnet, "lg:{shop/203.0.113.0/24}:s", str, 1, "", "network", "subnet", "s", 100},
			{IDSubnetFamiliar, "lg:{shop/203.0.113.0/24}:sf", fam, 1, "lg:{shop/203.0.113.0/24}:ns", "network", "subnet", "", 100},
			{IDGlobal, "lg:{shop}:g", str, 1, "lg:{shop}:n", "global", "", "g", 1000},
		}},
		{"global in shards", func(c *Config) { c.Shards = true }, func(a *Attempt) { a.Shard = 8*1000 + 3 }, []row{
			account, familiar, host, hostFam, sub, subFam,
			{IDGlobal, "lg:{default:3}:g", str, 1, "lg:{default:3}:n", "global", "", "g", 125},
		}},
	}
	for _, tt := range tests {
		a := login(v4)
		if tt.attempt != nil {
			tt.attempt(&a)
		}
		plan := must(t, tt.change).Plan(a)
		if diff := cmp.Diff(tt.want, rows(t, plan)); diff != "" {
			t.Errorf("%s: charges (-want +got):\n%s", tt.name, diff)
		}
		challenged := -1
		for i, r := range plan.Rules {
			if r.ID == IDChallenged {
				challenged = i
			}
		}
		if plan.Take.Challenged != challenged {
			t.Errorf("%s: Challenged is %d, want %d", tt.name, plan.Take.Challenged, challenged)
		}
	}
}

func TestTakeSaysHowToPickTheLane(t *testing.T) {
	wrong := func(source string) store.Remembering { return store.Remembering{Source: "w:" + source, Tag: "R"} }
	base := func(change func(*store.Take)) store.Take {
		k := store.Take{Record: "lg:{" + alice + "}", Network: "203.0.113.0/24", TTL: minutes(2), Remember: minutes(720 * 60), Challenged: -1}
		change(&k)
		return k
	}
	tests := []struct {
		name    string
		change  func(*Config)
		attempt func(*Attempt)
		want    store.Take
	}{
		{"plain", nil, func(a *Attempt) {}, base(func(*store.Take) {})},
		{"device and tag", nil, func(a *Attempt) { a.Device, a.RepeatTag = &Device{phone, 5, 9}, "R" }, base(func(k *store.Take) {
			k.DeviceIssued, k.DeviceExpires = 5, 9
			k.RepeatDevice, k.RepeatNetwork = wrong(phone), wrong("203.0.113.0/24")
		})},
		{"hosting is never familiar, but repeats", nil, func(a *Attempt) { a.Class, a.RepeatTag = netprefix.Hosting, "R" },
			base(func(k *store.Take) { k.Network, k.RepeatNetwork = "", wrong("203.0.113.0/24") })},
		{"exempt may be familiar", nil, func(a *Attempt) { a.Class = netprefix.Exempt }, base(func(*store.Take) {})},
		{"no account, no record", nil, func(a *Attempt) { a.Account, a.Device, a.RepeatTag = "", &Device{phone, 5, 9}, "R" },
			base(func(k *store.Take) { k.Record, k.Network = "", "" })},
		{"no networks", nil, func(a *Attempt) { a.Networks, a.RepeatTag = nil, "R" }, base(func(k *store.Take) { k.Network = "" })},
		{"repeat off: a repeat must not be free", func(c *Config) { c.Limits.Repeat.Mode = Off },
			func(a *Attempt) { a.Device, a.RepeatTag = &Device{phone, 5, 9}, "R" },
			base(func(k *store.Take) { k.DeviceIssued, k.DeviceExpires = 5, 9 })},
		{"spans of the configuration", func(c *Config) { c.AttemptTTL, c.Remember = time.Minute, time.Hour }, func(*Attempt) {},
			base(func(k *store.Take) { k.TTL, k.Remember = minutes(1), minutes(60) })},
	}
	for _, tt := range tests {
		a := login(v4)
		tt.attempt(&a)
		got := must(t, tt.change).Plan(a).Take
		got.Charges = nil
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestPlanKeepsAttemptAsItWas(t *testing.T) {
	p := must(t, nil)
	a := login(append([]netprefix.Network(nil), v6...))
	first := p.Plan(a)
	second := p.Plan(a)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("two plans of one attempt differ:\n%s", diff)
	}
	if diff := cmp.Diff(v6, a.Networks); diff != "" {
		t.Errorf("networks changed:\n%s", diff)
	}
}

func BenchmarkPlan(b *testing.B) {
	p := must(b, nil)
	for name, a := range map[string]Attempt{"v4": login(v4), "v6": login(v6)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Plan(a)
			}
		})
	}
}
