package policy

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loginguard/netprefix"
	"loginguard/store"
)

// charge returns the charge of the plan with that ID.
func charge(t *testing.T, p *Policy, a Attempt, id ID) store.Charge {
	t.Helper()
	plan := p.Plan(a)
	for i, r := range plan.Rules {
		if r.ID == id {
			return plan.Take.Charges[i]
		}
	}
	t.Fatalf("no charge %d in %+v", id, plan.Rules)
	return store.Charge{}
}

func TestWaitsDoubleUntilTheLongest(t *testing.T) {
	s := time.Second
	tests := []struct {
		b    Backoff
		want []int64 // microseconds
	}{
		{Backoff{Base: 30 * s, Factor: 2, Max: time.Hour}, []int64{30e6, 60e6, 120e6, 240e6, 480e6, 960e6, 1920e6, 3600e6}},
		{Backoff{Base: 10 * s, Factor: 2, Max: 15 * time.Minute}, []int64{10e6, 20e6, 40e6, 80e6, 160e6, 320e6, 640e6, 900e6}},
		{Backoff{Base: 30 * s, Factor: 2, Max: 120 * s}, []int64{30e6, 60e6, 120e6}},
		{Backoff{Base: 5 * s, Factor: 1, Max: 5 * s}, []int64{5e6}},
		{Backoff{Base: s, Factor: 10, Max: time.Hour}, []int64{1e6, 10e6, 100e6, 1000e6, 3600e6}},
		// 1.1 is meant as eleven tenths, not as the double above it.
		{Backoff{Base: s, Factor: 1.1, Max: 1300 * time.Millisecond}, []int64{1_000_000, 1_100_000, 1_210_000, 1_300_000}},
		// Rounded up from the exact value, not from the rounded one before it.
		{Backoff{Base: s + time.Nanosecond, Factor: 1.5, Max: 3 * s}, []int64{1_000_001, 1_500_001, 2_250_001, 3_000_000}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, waits(&tt.b)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", tt.b, diff)
		}
	}
}

func TestSizesOfTheDefaults(t *testing.T) {
	p := must(t, nil)
	a := login(v4)
	a.Device = &Device{phone, 1, 2}
	hour := minutes(60)
	tests := []struct {
		id   ID
		want store.Limit
	}{
		{IDAccount, store.Limit{Capacity: 10, Interval: minutes(36), Forget: 6 * hour, Debt: minutes(24),
			Waits: []int64{30e6, 60e6, 120e6, 240e6, 480e6, 960e6, 1920e6, 3600e6}}},
		{IDDevice, store.Limit{Capacity: 10, Interval: 90e6, Forget: hour, Debt: hour - 90e6,
			Waits: []int64{10e6, 20e6, 40e6, 80e6, 160e6, 320e6, 640e6, 900e6}}},
		{IDFamiliar, store.Limit{Capacity: 10, Interval: minutes(12), Forget: 6 * hour, Debt: minutes(48),
			Waits: []int64{30e6, 60e6, 120e6, 240e6, 480e6, 960e6, 1800e6}}},
		{IDHost, store.Limit{Capacity: 30, Interval: minutes(2), Debt: minutes(50)}},
		{IDHostFamiliar, store.Limit{Capacity: 30, Interval: minutes(2), PerUser: 150_000, MaxCapacity: 3000, Debt: minutes(50)}},
		{IDSubnet, store.Limit{Capacity: 100, Interval: 36e6, Debt: minutes(57)}},
		{IDGlobal, store.Limit{Capacity: 1000, Interval: 3.6e6, PerUser: 50_000, MaxCapacity: 100_000, Debt: hour - 18e6}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, charge(t, p, a, tt.id).Limit); diff != "" {
			t.Errorf("bucket %d (-want +got):\n%s", tt.id, diff)
		}
	}
}

func TestHostingScaleRoundsUpAndKeepsRefill(t *testing.T) {
	tests := []struct {
		scale    float64
		capacity int64
		want     int64
	}{
		{0.25, 30, 8}, // 7.5
		{0.1, 30, 5},  // 3, below the cost of a signup
		{0.1, 70, 7},  // exactly; 70 x 0.1 is 7.000000000000001 in floating point
		{0.7, 10, 7},
		{1, 30, 30},
		{1e-9, 30, 5},
	}
	for _, tt := range tests {
		p := must(t, func(c *Config) { c.HostingScale, c.Limits.Host.Capacity = tt.scale, tt.capacity })
		a := login(v4)
		a.Class = netprefix.Hosting
		l := charge(t, p, a, IDHost).Limit
		if l.Capacity != tt.want || l.Interval != minutes(2) {
			t.Errorf("%d x %v: capacity %d every %d, want %d every %d", tt.capacity, tt.scale, l.Capacity, l.Interval, tt.want, minutes(2))
		}
		if g := charge(t, p, a, IDGlobal).Limit.Capacity; g != 1000 {
			t.Errorf("scale %v: global is %d", tt.scale, g)
		}
	}
}

func TestPopulationNumbersAreExact(t *testing.T) {
	for perUser, want := range map[float64]int64{0.15: 150_000, 0.1: 100_000, 0.07: 70_000, 100: 100_000_000, 1e-9: 1} {
		p := must(t, func(c *Config) { c.Limits.Host.PerUser = perUser })
		if got := charge(t, p, login(v4), IDHostFamiliar).Limit.PerUser; got != want {
			t.Errorf("per_user %v: %d millionths, want %d", perUser, got, want)
		}
	}
}

func TestShardsDivideGlobalOnly(t *testing.T) {
	p := must(t, func(c *Config) { c.Shards, c.Limits.Global.Shards = true, 7 })
	got := charge(t, p, login(v4), IDGlobal).Limit
	want := store.Limit{Capacity: 143, Interval: 7 * 3.6e6, PerUser: 50000, MaxCapacity: 14286, Debt: minutes(60) - 5*7*3.6e6}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("global (-want +got):\n%s", diff)
	}
	if l := charge(t, p, login(v4), IDHost).Limit; l.Capacity != 30 {
		t.Errorf("host has %d", l.Capacity)
	}
	tiny := must(t, func(c *Config) { c.Shards, c.Limits.Global.Shards, c.Limits.Global.Capacity = true, 64, 6 })
	if l := charge(t, tiny, login(v4), IDGlobal).Limit; l.Capacity != 5 {
		t.Errorf("a shard of 6 has %d, want 5: the largest cost", l.Capacity)
	}
}

func TestEveryShardHasItsKey(t *testing.T) {
	p := must(t, func(c *Config) { c.Shards = true })
	seen := make(map[string]bool)
	for i := range uint32(100) {
		a := login(v4)
		a.Shard = i * 2654435761 // any number
		c := charge(t, p, a, IDGlobal)
		seen[c.Key] = true
		if r := p.Refund(a, IDGlobal, 1); r.Key != c.Key {
			t.Fatalf("shard %d: charged %s, refunded %s", a.Shard, c.Key, r.Key)
		}
	}
	if len(seen) != 8 {
		t.Errorf("%d keys for 8 shards", len(seen))
	}
}

func TestLocalDividesByInstancesWithinBounds(t *testing.T) {
	p := must(t, func(c *Config) {
		c.Instances, c.Shards = 4, true
		c.Overrides = []Override{{Limit: "network", Level: "subnet", Capacity: 401, Reason: "school"}}
	})
	local := p.Local()
	if local.Local() != local {
		t.Error("the local policy of a local policy is another one")
	}
	a := login(v4)
	a.Device = &Device{phone, 1, 2}
	tests := []struct {
		id                 ID
		capacity, interval int64
	}{
		{IDAccount, 3, 2_731_794_469}, // 6h / (log2(120) + 1): 4 x 36m would exceed an hour, and outlast forgetting
		{IDDevice, 3, 360e6},
		{IDFamiliar, 3, minutes(30)}, // not 48: the longest wait
		{IDHost, 8, minutes(8)},
		{IDSubnet, 101, 144e6},
		{IDGlobal, 250, 14.4e6}, // not sharded
	}
	for _, tt := range tests {
		l := charge(t, local, a, tt.id).Limit
		if l.Capacity != tt.capacity || l.Interval != tt.interval {
			t.Errorf("bucket %d: %d every %d, want %d every %d", tt.id, l.Capacity, l.Interval, tt.capacity, tt.interval)
		}
	}
	if key := charge(t, local, a, IDGlobal).Key; key != "lg:{default}:g" {
		t.Errorf("global of a single process is under %s", key)
	}
	if l := charge(t, p, a, IDHost).Limit; l.Capacity != 30 {
		t.Errorf("instances divided the shared limit to %d", l.Capacity)
	}
	many := must(t, func(c *Config) { c.Instances = 1000 }).Local()
	if l := charge(t, many, a, IDHost).Limit; l.Capacity != 5 || l.Interval != minutes(12) {
		t.Errorf("host among 1000: %d every %d, want the largest cost, 5, within an hour", l.Capacity, l.Interval)
	}
	one := must(t, nil)
	if diff := cmp.Diff(one.Plan(a), one.Local().Plan(a)); diff != "" {
		t.Errorf("one instance alone decides otherwise:\n%s", diff)
	}
}

// A size that only one route is charged at needs to pay no more than that route.
func TestOverrideOfARouteIsRoundedUpToItsCostOnly(t *testing.T) {
	p := must(t, func(c *Config) {
		c.Instances = 1000
		c.Overrides = []Override{{Limit: "network", Match: Match{Route: "login"}, Capacity: 40, Reason: "test"}}
	})
	if l := charge(t, p.Local(), login(v4), IDHost).Limit; l.Capacity != 1 || l.Interval != minutes(60) {
		t.Errorf("host among 1000: %d every %d, want 1 every hour", l.Capacity, l.Interval)
	}
}
