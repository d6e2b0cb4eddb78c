package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"loginguard/store"
	"loginguard/test/internal/redisd"
	"loginguard/test/internal/topology"
)

// record returns the key of an account's record.
func record(name string) string { return "lg:{" + name + "}" }

// TestClusterNodeDown stops one master, in both ways: what lives there is
// denied, what lives elsewhere goes on within its budget. A killed one comes
// back by its replica, to the same client.
func TestClusterNodeDown(t *testing.T) {
	c := topology.StartCluster(t)
	lost, other := c.Nodes[0], c.Nodes[1]
	r := open(t, c.URL(), 200*time.Millisecond)
	ctx := context.Background()
	account, network, shard := on(t, c, other, record), on(t, c, c.Nodes[2], networkKey), onShard(t, c, other)
	lostAccount, lostNetwork, lostShard := on(t, c, lost, record), on(t, c, lost, networkKey), onShard(t, c, lost)
	cases := map[string]struct {
		k    store.Take
		fine bool
	}{
		"all elsewhere":   {attempt(account, network, 1000, shard), true},
		"account there":   {attempt(lostAccount, network, 1000, shard), false},
		"network there":   {attempt(account, lostNetwork, 1000, shard), false},
		"one shard there": {attempt(account, network, 1000, lostShard), false},
	}
	roomy := func(k store.Take) store.Take {
		k.Charges[0].Limit = plain(1000)
		return k
	}
	for name, x := range cases {
		if out, err := r.Take(ctx, roomy(x.k)); err != nil || out.Outcome != store.Admitted {
			t.Fatalf("%s, before: outcome %d, %v", name, out.Outcome, err)
		}
	}
	for _, way := range []struct {
		name   string
		stop   func()
		rounds int
	}{
		{"paused", lost.Pause, 1}, // for less than makes the replica take over
		{"killed", func() { lost.Resume(); lost.Kill() }, 3},
	} {
		way.stop()
		for range way.rounds {
			for name, x := range cases {
				began := time.Now()
				out, err := r.Take(ctx, roomy(x.k))
				if fine := err == nil && out.Outcome == store.Admitted; fine != x.fine {
					t.Errorf("%s, %s: outcome %d, %v", way.name, name, out.Outcome, err)
				}
				if took := time.Since(began); took > 2*time.Second {
					t.Errorf("%s, %s: took %v", way.name, name, took)
				}
			}
			if err := r.Ping(ctx); err != nil {
				t.Errorf("%s: two of three masters answer, but: %v", way.name, err)
			}
		}
	}
	topology.Await(t, "the replica to take over", func() bool { return topology.Role(c.ReplicaOf(lost)) == "master" })
	promoted := time.Now()
	topology.Await(t, "what lived there to be decided again", func() bool {
		out, err := r.Take(ctx, roomy(cases["account there"].k))
		return err == nil && out.Outcome == store.Admitted
	})
	t.Logf("admitted again %v after the promotion", time.Since(promoted))
}

// TestClusterCompensationIsStrict pauses masters at random while attempts are
// decided by clients with small budgets, so that attempts break off between
// their groups in all the ways there are. In the end no bucket may be charged
// less than what was admitted on it.
func TestClusterCompensationIsStrict(t *testing.T) {
	c := topology.StartCluster(t)
	var stores []*store.Redis
	for range 3 {
		stores = append(stores, open(t, c.URL(), 20*time.Millisecond))
	}
	const accounts, networks, shards = 6, 4, 3
	var admitted sync.Map // key or record of a bucket: *atomic.Int64
	count := func(key string) {
		n, _ := admitted.LoadOrStore(key, new(atomic.Int64))
		n.(*atomic.Int64).Add(1)
	}
	var (
		all               sync.WaitGroup
		failed, let, deny atomic.Int64
	)
	stop := make(chan struct{})
	for w := range 12 {
		all.Go(func() {
			draw := rand.New(rand.NewPCG(uint64(w), 1))
			for {
				select {
				case <-stop:
					return
				default:
				}
				k := attempt(fmt.Sprint("account", draw.IntN(accounts)), fmt.Sprint("net", draw.IntN(networks)), 400, draw.IntN(shards))
				k.Charges[0].Limit = plain(150)
				out, err := stores[w%3].Take(context.Background(), k)
				switch {
				case err != nil:
					failed.Add(1)
				case out.Outcome == store.Admitted:
					let.Add(1)
					count(k.Record)
					count(k.Charges[1].Key)
					count(k.Charges[2].Key)
				default:
					deny.Add(1)
				}
			}
		})
	}
	// A pause is shorter than what makes a replica take over.
	draw := rand.New(rand.NewPCG(7, 7))
	for range 12 {
		n := c.Nodes[draw.IntN(3)]
		n.Pause()
		time.Sleep(time.Duration(50+draw.IntN(200)) * time.Millisecond)
		n.Resume()
		time.Sleep(100 * time.Millisecond)
	}
	close(stop)
	all.Wait()
	if failed.Load() == 0 || let.Load() == 0 {
		t.Fatalf("%d failed, %d admitted: nothing was tried", failed.Load(), let.Load())
	}
	t.Logf("%d admitted, %d denied, %d failed", let.Load(), deny.Load(), failed.Load())
	values := c.Values(t)
	admitted.Range(func(key, n any) bool {
		name, want := key.(string), n.(*atomic.Int64).Load()
		value := values[name]
		if strings.HasPrefix(name, "lg:{account") {
			value = strings.TrimPrefix(value, "a=")
			if want > 150 {
				t.Errorf("%s: %d admitted, more than its 150", name, want)
			}
		}
		if got := charged(t, value); got < want {
			t.Errorf("%s: charged %d, but %d were admitted", name, got, want)
		}
		return true
	})
}

// TestClusterInspectsEveryNode: also a replica may one day be the master.
func TestClusterInspectsEveryNode(t *testing.T) {
	t.Parallel() // it waits for the nodes to learn of each other
	c := topology.StartCluster(t)
	r := open(t, c.URL(), unhurried)
	if err := r.Inspect(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, n := range []*redisd.Server{c.Nodes[1], c.Nodes[4]} {
		n.Do("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
		// The map of the cluster shows a replica some time after it was linked.
		topology.Await(t, "the inspection to find "+n.Addr, func() bool {
			err := r.Inspect(context.Background())
			return errors.Is(err, store.ErrEviction) && strings.Contains(err.Error(), n.Addr)
		})
		n.Do("CONFIG", "SET", "maxmemory-policy", "noeviction")
	}
}
