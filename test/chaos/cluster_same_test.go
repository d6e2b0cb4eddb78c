package chaos

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"loginguard/store"
	"loginguard/test/internal/topology"
)

// drawSize returns a limit of the kinds that the policy makes.
func drawSize(t *rapid.T, name string, backoff bool) store.Limit {
	l := store.Limit{
		Capacity: rapid.Int64Range(1, 6).Draw(t, name+" capacity"),
		Interval: rapid.SampledFrom([]int64{100 * second, 333333334, 2160 * second}).Draw(t, name+" interval"),
	}
	if rapid.Bool().Draw(t, name+" by the hour") {
		l.Interval = 3600 * second / l.Capacity // 1..6: exact, the sizes with a short form
	}
	l.Debt = 3600*second - l.Interval
	if backoff {
		l.Waits, l.Forget = []int64{30 * second, 60 * second, 120 * second, 2160 * second}, 21600*second
	}
	return l
}

// drawAttempt returns an attempt on two accounts and three networks, with all
// groups that an attempt has.
func drawAttempt(t *rapid.T, n int, sizes map[string]store.Limit) store.Take {
	account := rapid.SampledFrom([]string{"lg:{A}", "lg:{B}", ""}).Draw(t, "record")
	network := rapid.SampledFrom([]string{"198.51.100.0/24", "carrier-a", "2001:db8:1::/48"}).Draw(t, "network")
	k := store.Take{
		Record: account, Network: network, Remember: 30 * 86400 * second, Challenged: -1,
		Attempt: fmt.Sprintf("attempt%d", n), MaxUses: 3, TTL: 120 * second,
		Peek: rapid.IntRange(0, 6).Draw(t, "peek") == 0, Debit: rapid.IntRange(0, 9).Draw(t, "debit") == 0,
	}
	if account != "" && rapid.Bool().Draw(t, "device") {
		k.DeviceIssued, k.DeviceExpires = start-second, start+86400*second
	}
	if account != "" && rapid.Bool().Draw(t, "tag") {
		tag := rapid.SampledFrom([]string{"t1", "t2"}).Draw(t, "tag value")
		k.RepeatNetwork = store.Remembering{Source: "w:" + network, Tag: tag}
		k.RepeatDevice = store.Remembering{Source: "w:dev", Tag: tag}
	}
	if rapid.IntRange(0, 2).Draw(t, "named") == 0 {
		k.Idempotence = rapid.SampledFrom([]string{"lg:{i:1}", "lg:{i:2}"}).Draw(t, "id")
		k.Note, k.Binding = "note", rapid.SampledFrom([]string{"b1", "b2"}).Draw(t, "binding")
	}
	// A limit is the same for all attempts of a run, as a policy has it, and
	// does not grow with its population: a charge that a cluster gives back
	// leaves the bucket in the new size, and from then on it refills at the new
	// rate, while in memory a denial leaves it as it was. How buckets grow, the
	// conformance suite checks.
	add := func(limit, key, field string, when store.Lane, backoff bool, population string) {
		l, ok := sizes[limit]
		if !ok {
			l = drawSize(t, limit, backoff)
			sizes[limit] = l
		}
		k.Charges = append(k.Charges, store.Charge{
			Key: key, Field: field, Limit: l, Cost: 1, When: when, Population: population, Mark: fmt.Sprintf("m%d", len(k.Charges)),
			LogOnly: rapid.IntRange(0, 9).Draw(t, "log only") == 0, Challenge: rapid.IntRange(0, 2).Draw(t, "challenge") > 0,
		})
	}
	if account != "" {
		add("account", account, "a", store.LaneStranger, true, "")
		add("device", account, "d:dev", store.LaneDevice, true, "")
		add("familiar", account, "f:"+network, store.LaneFamiliar, true, "")
		add("repeat", account, "r:dev", store.LaneRepeatDevice, false, "")
		add("repeat", account, "r:"+network, store.LaneRepeatNetwork, false, "")
	}
	tag := "lg:{default/" + network + "}:"
	add("host", tag+"h:1", "", store.LaneStranger, false, "")
	add("host familiar", tag+"hf:1", "", store.LaneFamiliar, false, tag+"nh:1")
	add("subnet", tag+"s", "", store.LaneStranger, false, "")
	shard := rapid.IntRange(0, 2).Draw(t, "shard")
	add("global", fmt.Sprintf("lg:{default:%d}:g", shard), "", store.LaneStranger, false, fmt.Sprintf("lg:{default:%d}:n", shard))
	if rapid.Bool().Draw(t, "password") {
		add("password", "lg:{default:p:x}", "", store.LaneStranger, false, "")
	}
	if account != "" && rapid.Bool().Draw(t, "challenge passed") {
		k.Challenged = len(k.Charges)
		add("challenged", account, "c", 31, false, "")
	}
	return k
}

// view is what of an answer must be the same. Buckets that could pay and were
// not charged are left out: a cluster that denies does not look at all of them.
// Of a conflict nothing else is ever shown.
func view(taken store.Taken) store.Taken {
	if taken.Outcome == store.Conflict {
		return store.Taken{Outcome: store.Conflict}
	}
	taken.Sources = nil // told by the account's group, where that is what denies
	for i := range taken.Buckets {
		b := &taken.Buckets[i]
		if !b.Dry && !b.Charged {
			*b = store.Bucket{}
		}
	}
	return taken
}

// clusterDecidesAsMemoryDoes runs the same random attempts and reports, one
// after the other, on a cluster and on the memory store.
func clusterDecidesAsMemoryDoes(t *testing.T, c *topology.Cluster) {
	r := open(t, c.URL(), unhurried)
	ctx := context.Background()
	tb := testing.TB(t)
	rapid.Check(t, func(t *rapid.T) {
		c.Flush()
		now := start
		m := store.NewMemory(store.MemoryOptions{Now: func() int64 { return 1 }})
		defer m.Close()
		type attempt struct {
			k     store.Take
			taken store.Taken
		}
		var admitted []attempt
		sizes := make(map[string]store.Limit)
		for n := range rapid.IntRange(1, 20).Draw(t, "steps") {
			now += rapid.SampledFrom([]int64{0, 1, second, 31 * second, 61 * second, 2160 * second, 86400 * second}).Draw(t, "clock")
			if op := rapid.IntRange(0, 9).Draw(t, "operation"); op < 7 || len(admitted) == 0 {
				k := drawAttempt(t, n, sizes)
				k.Now = now
				a, errA := m.Take(ctx, k)
				b, errB := r.Take(ctx, k)
				if errA != nil || errB != nil {
					t.Fatalf("step %d: memory %v, cluster %v", n, errA, errB)
				}
				if diff := cmp.Diff(view(a), view(b)); diff != "" {
					t.Fatalf("step %d: take (-memory +cluster):\n%s", n, diff)
				}
				if a.Outcome == store.Admitted {
					admitted = append(admitted, attempt{k, a})
				}
				continue
			} else if op == 7 {
				f := store.Forget{Record: "lg:{A}", Credentials: rapid.Bool().Draw(t, "credentials"), Keep: 7200 * second, Remember: 30 * 86400 * second, Now: now}
				if errA, errB := m.Forget(ctx, f), r.Forget(ctx, f); errA != nil || errB != nil {
					t.Fatalf("step %d: forget: memory %v, cluster %v", n, errA, errB)
				}
				continue
			}
			one := rapid.SampledFrom(admitted).Draw(t, "attempt")
			s := settleOf(one.k, one.taken)
			s.Now = now
			s.Refund, s.Learn, s.Fail = rapid.Bool().Draw(t, "refund"), rapid.Bool().Draw(t, "learn"), rapid.Bool().Draw(t, "fail")
			a, errA := m.Settle(ctx, s)
			b, errB := r.Settle(ctx, s)
			if errA != nil || errB != nil {
				t.Fatalf("step %d: settle: memory %v, cluster %v", n, errA, errB)
			}
			if diff := cmp.Diff(a, b); diff != "" {
				t.Fatalf("step %d: settle (-memory +cluster):\n%s", n, diff)
			}
			if diff := cmp.Diff(live(m.Values(), now), live(c.Values(tb), now)); diff != "" {
				t.Fatalf("step %d: values (-memory +cluster):\n%s", n, diff)
			}
		}
	})
}

// founded is the entry of a record that a cluster does not keep: the
// populations that the account was the first member of.
var founded = regexp.MustCompile(`(^| )P=\d+@\d+`)

// live drops the buckets that are full by now, since a charge that is given
// back deletes what is left of one, and what a cluster does not keep.
func live(values map[string]string, now int64) map[string]string {
	for key, value := range values {
		if rest := strings.TrimPrefix(founded.ReplaceAllString(value, ""), " "); rest != value {
			if value, values[key] = rest, rest; rest == "" {
				delete(values, key)
			}
		}
		full, size, long := strings.Cut(value, "/")
		if n := len(full) - 15; !long && n > 0 {
			// The short form: microseconds since 2020 in the last 15 digits.
			micros, _ := strconv.ParseInt(full[n:], 10, 64)
			full, size = strconv.FormatInt(micros+1_577_836_800_000_000, 10), "x"
		}
		if n, err := strconv.ParseInt(full, 10, 64); err == nil && n <= now && strings.Contains(size, "x") && !strings.Contains(size, "/") {
			delete(values, key)
		}
	}
	return values
}

// settleOf ends the attempt that was admitted, with its charges laid out.
func settleOf(k store.Take, taken store.Taken) store.Settle {
	marker := k.Record + ":t:" + taken.Attempt
	if k.Record == "" {
		marker = "lg:{t:" + taken.Attempt + "}"
	}
	s := store.Settle{
		Marker: marker, Idempotence: k.Idempotence, Record: k.Record, Issued: taken.Issued, Expires: taken.Issued + k.TTL,
		Remember: k.Remember, Sources: 8, Network: k.Network, Wrong: k.RepeatNetwork,
	}
	if k.Record != "" {
		s.Member = k.Record
	}
	for i, b := range taken.Buckets {
		c := k.Charges[i]
		if b.Charged {
			s.Refunds = append(s.Refunds, store.Refund{Key: c.Key, Field: c.Field, Cost: c.Cost})
		}
		if c.Population != "" {
			s.Populations = append(s.Populations, c.Population)
		}
	}
	return s
}
