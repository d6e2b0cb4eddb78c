package store

import (
	"context"
	"fmt"
	"testing"
)

// BenchmarkMemoryTake is an allowed attempt on five buckets among a hundred
// thousand accounts, each on a network of its own. Compare two versions with
// benchstat over -count 10.
func BenchmarkMemoryTake(b *testing.B) {
	m := NewMemory(MemoryOptions{})
	b.Cleanup(func() { _ = m.Close() })
	takes := make([]Take, 100_000)
	for i := range takes {
		network := fmt.Sprintf("2001:db8:%x::/48", i)
		t := Take{
			Record: fmt.Sprintf("lg:{account%015d}", i), Network: network, Challenged: -1,
			Attempt: "attempt", TTL: 120 * second, Remember: 30 * 24 * hour,
		}
		add := func(key, field string, when Lane, l Limit) {
			t.Charges = append(t.Charges, Charge{Key: key, Field: field, When: when, Cost: 1, Limit: l})
		}
		own := Limit{Capacity: 1e6, Interval: second, Waits: []int64{30 * second, minute, hour}, Forget: 6 * hour}
		add("", "a", LaneStranger, own)
		add("", "f:"+network, LaneFamiliar, own)
		for _, level := range []string{"h:1/64", "i:0/56", "s"} {
			add("lg:{default/"+network+"}:"+level, "", LaneStranger, Limit{Capacity: 7000, Interval: hour / 7000})
		}
		add("lg:{default}:g", "", LaneStranger, Limit{Capacity: 1e6, Interval: 1})
		takes[i] = t
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if out, err := m.Take(context.Background(), takes[i%len(takes)]); err != nil || out.Outcome != Admitted {
			b.Fatalf("outcome %d, %v", out.Outcome, err)
		}
	}
}
