// Package store holds the tests of package store that need a redis-server.
package store

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"loginguard/store"
	"loginguard/test/internal/redisd"
)

const second = int64(1e6)

// start is the moment at which virtual clocks begin.
const start = int64(1790000000000000)

// drawLimit returns any limit within the bounds that the policy accepts.
func drawLimit(t *rapid.T, name string, backoff, population bool) store.Limit {
	l := store.Limit{
		Capacity: rapid.Int64Range(1, 12).Draw(t, name+" capacity"),
		Interval: rapid.SampledFrom([]int64{100 * second, 333333334, 2160 * second, 3600 * second, 90000001}).Draw(t, name+" interval"),
	}
	if rapid.IntRange(0, 9).Draw(t, name+" large") == 0 {
		l.Capacity = rapid.Int64Range(1, 1e6).Draw(t, name+" capacity")
	}
	if rapid.Bool().Draw(t, name+" by the hour") {
		// As networks have it by default: the sizes with a short form.
		window := rapid.SampledFrom([]int64{3600 * second, 60 * second, 86400 * second}).Draw(t, name+" window")
		l.Interval = min(3600*second, (window+l.Capacity-1)/l.Capacity)
	}
	l.Debt = 3600*second - l.Interval
	if backoff {
		for w, n := rapid.SampledFrom([]int64{10, 30, 700}).Draw(t, name+" base")*second, rapid.IntRange(1, 9).Draw(t, name+" waits"); n > 0; n-- {
			l.Waits = append(l.Waits, min(w, 3600*second))
			w = w * 3 / 2
		}
		l.Forget = rapid.SampledFrom([]int64{3600, 21600, 172800}).Draw(t, name+" forget") * second
	}
	if population {
		l.PerUser = rapid.SampledFrom([]int64{150000, 50000, 1000000, 2500001}).Draw(t, name+" per user")
		l.MaxCapacity = l.Capacity + rapid.Int64Range(0, 2000).Draw(t, name+" max")
		l.MaxCapacity = min(l.MaxCapacity, 1e6)
	}
	return l
}

// drawTake returns any attempt on a handful of accounts, networks and limits.
func drawTake(t *rapid.T, n int) store.Take {
	account := rapid.SampledFrom([]string{"lg:{A}", "lg:{B}", ""}).Draw(t, "record")
	network := rapid.SampledFrom([]string{"198.51.100.0/24", "carrier-a", "2001:db8:1::/48"}).Draw(t, "network")
	k := store.Take{
		Record: account, Remember: 30 * 86400 * second, Challenged: -1,
		Attempt: fmt.Sprintf("attempt%d", n), MaxUses: 4, TTL: 120 * second,
		Peek: rapid.IntRange(0, 5).Draw(t, "peek") == 0, Debit: rapid.IntRange(0, 7).Draw(t, "debit") == 0,
	}
	if rapid.Bool().Draw(t, "familiar possible") {
		k.Network = network
	}
	source := network
	if rapid.Bool().Draw(t, "device") {
		k.DeviceIssued = start - rapid.Int64Range(-4000, 4000).Draw(t, "issued")*second
		k.DeviceExpires = k.DeviceIssued + 7200*second
	}
	if account != "" && rapid.Bool().Draw(t, "tag") {
		tag := rapid.SampledFrom([]string{"t1", "t2", "t3", "t4", "t5"}).Draw(t, "tag value")
		k.RepeatNetwork = store.Remembering{Source: "w:" + source, Tag: tag}
		k.RepeatDevice = store.Remembering{Source: "w:dev1", Tag: tag}
	}
	if rapid.IntRange(0, 2).Draw(t, "idempotent") == 0 {
		k.Idempotence = rapid.SampledFrom([]string{"lg:{i:1}", "lg:{i:2}"}).Draw(t, "id")
		k.Note = "note"
		k.Binding = rapid.SampledFrom([]string{"b1", "b2"}).Draw(t, "binding")
	}
	add := func(key, field string, when store.Lane, l store.Limit, population string) {
		cost := int64(1)
		if field == "" {
			cost = rapid.Int64Range(1, min(5, l.Capacity)).Draw(t, "cost")
		}
		k.Charges = append(k.Charges, store.Charge{
			Key: key, Field: field, Limit: l, Cost: cost, When: when, Population: population, Mark: fmt.Sprintf("m%d", len(k.Charges)),
			LogOnly: rapid.IntRange(0, 4).Draw(t, "log only") == 0, Challenge: rapid.IntRange(0, 2).Draw(t, "challenge") > 0,
		})
	}
	if account != "" {
		add(account, "a", store.LaneStranger, drawLimit(t, "account", true, false), "")
		add(account, "d:dev1", store.LaneDevice, drawLimit(t, "device", true, false), "")
		add(account, "f:"+source, store.LaneFamiliar, drawLimit(t, "familiar", true, false), "")
		add(account, "r:dev1", store.LaneRepeatDevice, drawLimit(t, "repeat", false, false), "")
		add(account, "r:"+source, store.LaneRepeatNetwork, drawLimit(t, "repeat", false, false), "")
	}
	tag := "lg:{default/" + network + "}:"
	add(tag+"h:1", "", store.LaneStranger, drawLimit(t, "host", false, false), "")
	add(tag+"hf:1", "", store.LaneFamiliar, drawLimit(t, "host familiar", false, true), tag+"nh:1")
	add(tag+"s", "", store.LaneStranger, drawLimit(t, "subnet", false, false), "")
	add("lg:{default}:g", "", store.LaneStranger, drawLimit(t, "global", false, true), "lg:{default}:n")
	if account != "" && rapid.Bool().Draw(t, "challenge passed") {
		k.Challenged = len(k.Charges)
		add(account, "c", 31, drawLimit(t, "challenged", false, false), "")
	}
	if rapid.IntRange(0, 5).Draw(t, "in parts") == 0 {
		// Parts share no idempotence key: that is a part of its own.
		k.Idempotence = ""
		k.Lane = rapid.SampledFrom([]store.Lane{0, store.LaneDevice, store.LaneFamiliar, store.LaneStranger}).Draw(t, "lane")
		if k.Replace = rapid.Bool().Draw(t, "replace"); k.Challenged < 0 && rapid.Bool().Draw(t, "elsewhere") {
			k.Challenged = store.Elsewhere
		}
	}
	return k
}

// drawSettle ends one of the attempts so far, or reports one nobody checked.
func drawSettle(t *rapid.T, k store.Take, taken store.Taken, now int64) store.Settle {
	s := store.Settle{
		Marker: k.Record + ":t:" + taken.Attempt, Idempotence: k.Idempotence, Record: k.Record, Issued: taken.Issued,
		Expires: taken.Issued + k.TTL, Remember: k.Remember, Sources: rapid.Int64Range(1, 3).Draw(t, "sources"),
		Network: k.Network, Wrong: k.RepeatNetwork,
		Refund: rapid.Bool().Draw(t, "refund"), Learn: rapid.Bool().Draw(t, "learn"), Fail: rapid.Bool().Draw(t, "fail"),
	}
	if k.Record != "" {
		s.Member = fmt.Sprintf("member%d", rapid.IntRange(1, 40).Draw(t, "member"))
		s.Populations = []string{"lg:{default}:n", "lg:{default/198.51.100.0/24}:nh:1"}
	}
	for i, b := range taken.Buckets {
		if c := k.Charges[i]; b.Charged {
			s.Refunds = append(s.Refunds, store.Refund{Key: c.Key, Field: c.Field, Cost: c.Cost})
		}
	}
	if rapid.IntRange(0, 9).Draw(t, "unchecked") == 0 {
		s.Marker, s.Idempotence, s.Issued, s.Expires = "", "", 0, 0
	}
	s.Now = now
	return s
}

// TestLuaAndGoAgree runs the same random operations, with limits that change
// and a clock that steps back and forth, on both stores: every answer and
// every stored value must be the same, to the bit.
func TestLuaAndGoAgree(t *testing.T) {
	server := redisd.Start(t)
	r, err := store.OpenRedis(store.RedisOptions{URL: server.URL(), Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		server.Do("FLUSHALL")
		now := start
		// The sweeper's clock stands still: Redis keeps what has expired on a
		// virtual clock, so memory must too.
		m := store.NewMemory(store.MemoryOptions{Now: func() int64 { return 1 }})
		defer m.Close()
		type attempt struct {
			k     store.Take
			taken store.Taken
		}
		var admitted []attempt
		for n := range rapid.IntRange(1, 25).Draw(t, "steps") {
			now += rapid.SampledFrom([]int64{0, 1, second, 30 * second, 61 * second, 2160 * second, 21600 * second, 86400 * second, 8 * 86400 * second, -second, -3600 * second, 123456789}).Draw(t, "clock")
			switch op := rapid.IntRange(0, 9).Draw(t, "operation"); {
			case op < 7 || len(admitted) == 0:
				k := drawTake(t, n)
				k.Now = now
				a, errA := m.Take(ctx, k)
				b, errB := r.Take(ctx, k)
				if errA != nil || errB != nil {
					t.Fatalf("step %d: memory %v, redis %v", n, errA, errB)
				}
				if diff := cmp.Diff(a, b); diff != "" {
					t.Fatalf("step %d: take (-memory +redis):\n%s", n, diff)
				}
				if a.Outcome == store.Admitted || a.Outcome == store.Repeated {
					admitted = append(admitted, attempt{k, a})
				}
			case op == 7:
				f := store.Forget{Record: "lg:{A}", Credentials: rapid.Bool().Draw(t, "credentials"), Keep: 7200 * second, Remember: 30 * 86400 * second, Now: now}
				if errA, errB := m.Forget(ctx, f), r.Forget(ctx, f); errA != nil || errB != nil {
					t.Fatalf("step %d: forget: memory %v, redis %v", n, errA, errB)
				}
			default:
				one := rapid.SampledFrom(admitted).Draw(t, "attempt")
				s := drawSettle(t, one.k, one.taken, now)
				a, errA := m.Settle(ctx, s)
				b, errB := r.Settle(ctx, s)
				if errA != nil || errB != nil {
					t.Fatalf("step %d: settle: memory %v, redis %v", n, errA, errB)
				}
				if diff := cmp.Diff(a, b); diff != "" {
					t.Fatalf("step %d: settle (-memory +redis):\n%s", n, diff)
				}
			}
			mem, red := m.Values(), server.Keys()
			if diff := cmp.Diff(mem, red); diff != "" {
				t.Fatalf("step %d: values (-memory +redis):\n%s", n, diff)
			}
			for key := range mem {
				if strings.Contains(key, " ") {
					t.Fatalf("key %q has a blank", key)
				}
			}
		}
	})
}
