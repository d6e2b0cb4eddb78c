package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"loginguard/store"
	"loginguard/test/internal/redisd"
	"loginguard/test/internal/topology"
)

const day = 86400 * second

// plain is a limit without backoff that does not refill while a test runs.
func plain(capacity int64) store.Limit {
	return store.Limit{Capacity: capacity, Interval: 3600 * second}
}

// attempt lays out an attempt as the policy does on a cluster: an account of
// ten guesses, a network of its own size, and a shard of the global limit.
func attempt(account, network string, size int64, shard int) store.Take {
	k := store.Take{
		Record: "lg:{" + account + "}", Network: network, Remember: 30 * day, Challenged: -1,
		Attempt: fmt.Sprintf("%s-%s-%d", account, network, rand.Uint64()), MaxUses: 4, TTL: 120 * second,
	}
	l := plain(10)
	l.Interval, l.Waits, l.Forget = 2160*second, []int64{30 * second, 60 * second}, 21600*second
	k.Charges = []store.Charge{
		{Field: "a", Limit: l, Cost: 1, When: store.LaneStranger, Mark: "a"},
		{Key: networkKey(network), Limit: plain(size), Cost: 1, When: store.LaneStranger, Mark: "n"},
		{Key: shardKey(shard), Limit: plain(1e6), Cost: 1, When: store.LaneStranger, Mark: "g"},
	}
	return k
}

func networkKey(name string) string { return "lg:{default/" + name + "}:h:1" }
func shardKey(shard int) string     { return fmt.Sprintf("lg:{default:%d}:g", shard) }

// charged returns how many tokens are missing from the bucket with this text,
// as seen at about now.
func charged(t *testing.T, value string) int64 {
	t.Helper()
	full, size, _ := strings.Cut(value, "/")
	size, _, _ = strings.Cut(size, "/")
	_, interval, _ := strings.Cut(size, "x")
	f, err1 := strconv.ParseInt(full, 10, 64)
	i, err2 := strconv.ParseInt(interval, 10, 64)
	if err1 != nil || err2 != nil {
		t.Fatalf("bucket %q", value)
	}
	return (f - time.Now().UnixMicro() + i/2) / i
}

// clusterStores opens so many clients of a cluster.
func clusterStores(t *testing.T, c *topology.Cluster, n int) []*store.Redis {
	t.Helper()
	var list []*store.Redis
	for range n {
		list = append(list, open(t, c.URL(), unhurried))
	}
	return list
}

// clusterBoundsParallelGuesses: 200 at once, over three clients, each from
// a network of its own.
func clusterBoundsParallelGuesses(t *testing.T, c *topology.Cluster) {
	c.Flush()
	stores := clusterStores(t, c, 3)
	got := storm(t, 200, func(i int) (store.Taken, error) {
		return stores[i%3].Take(context.Background(), attempt("A", fmt.Sprint("net", i), 100, i%8))
	})
	if got[store.Admitted] != 10 || got[store.Denied] != 190 {
		t.Fatalf("outcomes %v, want 10 admitted", got)
	}
	// What was given back is gone: ten networks are left, ten charges on the
	// shards.
	networks, shards := 0, int64(0)
	for key, value := range c.Values(t) {
		if strings.HasPrefix(key, "lg:{default/") {
			networks++
		}
		if strings.HasSuffix(key, ":g") {
			shards += charged(t, value)
		}
	}
	if networks != 10 || shards != 10 {
		t.Errorf("%d networks and %d global tokens are charged, want 10 of each", networks, shards)
	}
}

// clusterShardsSumToTheLimit: eight shards of five tokens admit forty
// attempts in all, however they come.
func clusterShardsSumToTheLimit(t *testing.T, c *topology.Cluster) {
	c.Flush()
	stores := clusterStores(t, c, 3)
	got := storm(t, 400, func(i int) (store.Taken, error) {
		k := attempt(fmt.Sprint("account", i), fmt.Sprint("net", i), 100, rand.IntN(8))
		k.Charges[2].Limit = plain(5)
		return stores[i%3].Take(context.Background(), k)
	})
	if got[store.Admitted] != 40 || got[store.Denied] != 360 {
		t.Fatalf("outcomes %v, want 40 admitted", got)
	}
}

// clusterDryNetworkStrikesNobody: what another group denies leaves no
// trace at the account.
func clusterDryNetworkStrikesNobody(t *testing.T, c *topology.Cluster) {
	c.Flush()
	r := open(t, c.URL(), unhurried)
	for i := range 30 {
		out, err := r.Take(context.Background(), attempt(fmt.Sprint("account", i), "net", 10, 0))
		if err != nil || (out.Outcome == store.Admitted) != (i < 10) {
			t.Fatalf("attempt %d: outcome %d, %v", i, out.Outcome, err)
		}
	}
	for key := range c.Values(t) {
		if n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(key, "lg:{account"), "}")); err == nil && n >= 10 {
			t.Errorf("%s was written", key)
		}
	}
}

// clusterForgetsScriptsOnOneNode: the script cache of one master is
// emptied while attempts run: none fails, each is charged once.
func clusterForgetsScriptsOnOneNode(t *testing.T, c *topology.Cluster) {
	c.Flush()
	r := open(t, c.URL(), unhurried)
	for i := range 60 {
		c.Nodes[i%3].Do("SCRIPT", "FLUSH")
		out, err := r.Take(context.Background(), attempt(fmt.Sprint("account", i), "net", 100, 0))
		if err != nil || out.Outcome != store.Admitted {
			t.Fatalf("attempt %d: outcome %d, %v", i, out.Outcome, err)
		}
	}
	values := c.Values(t)
	if n := charged(t, values[networkKey("net")]); n != 60 {
		t.Errorf("the network was charged %d, want 60", n)
	}
	if n := charged(t, values[shardKey(0)]); n != 60 {
		t.Errorf("global was charged %d, want 60", n)
	}
}

// storm makes n takes at once and returns how many had each outcome.
func storm(t *testing.T, n int, take func(i int) (store.Taken, error)) map[store.Outcome]int {
	t.Helper()
	var (
		counts [store.Conflict + 1]atomic.Int64
		all    sync.WaitGroup
		gate   = make(chan struct{})
	)
	for i := range n {
		all.Go(func() {
			<-gate
			out, err := take(i)
			if err != nil {
				t.Errorf("take %d: %v", i, err)
				return
			}
			counts[out.Outcome].Add(1)
		})
	}
	close(gate)
	all.Wait()
	m := make(map[store.Outcome]int)
	for o := range counts {
		if got := int(counts[o].Load()); got > 0 {
			m[store.Outcome(o)] = got
		}
	}
	return m
}

// on returns a name whose key lives on the node, by what the name becomes.
func on(t *testing.T, c *topology.Cluster, node *redisd.Server, key func(name string) string) string {
	t.Helper()
	for i := range 1000 {
		if name := fmt.Sprint("x", i); c.Of(key(name)) == node {
			return name
		}
	}
	t.Fatal("no name for the node")
	return ""
}

// onShard returns a shard whose key lives on the node.
func onShard(t *testing.T, c *topology.Cluster, node *redisd.Server) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimPrefix(on(t, c, node, func(name string) string {
		n, _ := strconv.Atoi(strings.TrimPrefix(name, "x"))
		return shardKey(n)
	}), "x"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
