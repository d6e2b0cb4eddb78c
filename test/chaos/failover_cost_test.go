package chaos

import (
	"context"
	"fmt"
	"testing"
	"time"

	"loginguard/store"
	"loginguard/test/internal/proxy"
	"loginguard/test/internal/redisd"
	"loginguard/test/internal/topology"
)

// TestFailoverCost kills a master after a bucket was spent, promotes its
// replica and counts what the bucket admits once more: nothing where the
// replica was up to date, never more than its capacity where it was not, and
// where the master demands a replica that follows, only what it took before it
// noticed that there was none. The manual quotes the figures of the log.
func TestFailoverCost(t *testing.T) {
	const capacity = 10
	for _, c := range []struct {
		name     string
		args     []string
		cut      bool // the replica's link is dead while the bucket is spent
		settle   bool // the master is given the time to notice
		min, max int
	}{
		{"the replica follows", nil, false, false, 0, 0},
		{"the replica has lost its link", nil, true, false, capacity, capacity},
		{"the replica has lost its link, and the master wants one", []string{"--min-replicas-to-write", "1", "--min-replicas-max-lag", "1"}, true, true, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			master := redisd.Start(t, append([]string{"--repl-diskless-sync-delay", "0"}, c.args...)...)
			link := proxy.Start(t, master.Addr)
			var port int
			if _, err := fmt.Sscanf(link.Addr, "127.0.0.1:%d", &port); err != nil {
				t.Fatal(err)
			}
			replica := redisd.Start(t, "--replicaof", fmt.Sprintf("127.0.0.1 %d", port))
			topology.AwaitLink(t, replica)
			address := proxy.Start(t, master.Addr)
			r := open(t, "redis://"+address.Addr, 2*time.Second)
			ctx := context.Background()
			guess := func() (bool, error) {
				k := attempt("A", "net", capacity, 0)
				k.Charges = k.Charges[1:2]
				out, err := r.Take(ctx, k)
				return out.Outcome == store.Admitted, err
			}
			topology.Await(t, "the master to take writes", func() bool { return r.Ping(ctx) == nil })
			if c.cut {
				link.Blackhole()
			}
			if c.settle {
				topology.Await(t, "the master to notice", func() bool { return store.Class(r.Ping(ctx)) == "noreplicas" })
			}
			spent := 0
			for range 3 * capacity {
				if ok, err := guess(); ok {
					spent++
				} else if err != nil && store.Class(err) != "noreplicas" {
					t.Fatal(err)
				}
			}
			if !c.cut {
				topology.Await(t, "the replica to have it", func() bool { return replica.Do("GET", networkKey("net")) != nil })
			}
			master.Kill()
			replica.Do("REPLICAOF", "NO", "ONE")
			address.Retarget(replica.Addr)
			topology.Await(t, "the new master to be found", func() bool { return r.Ping(ctx) == nil })
			again := 0
			for range 3 * capacity {
				ok, err := guess()
				if err != nil {
					t.Fatal(err)
				}
				if ok {
					again++
				}
			}
			extra := max(0, spent+again-capacity)
			if extra < c.min || extra > c.max {
				t.Errorf("%d were admitted before and %d after: %d too many, want %d to %d", spent, again, extra, c.min, c.max)
			}
			t.Logf("%d admitted before the kill, %d after: %d more than the capacity of %d", spent, again, extra, capacity)
		})
	}
}

// TestRestartCost: what a restart of a single server costs, without
// persistence, and with an append-only file that is written at every write.
func TestRestartCost(t *testing.T) {
	const capacity = 10
	for _, c := range []struct {
		name  string
		args  []string
		again int
	}{
		{"nothing is kept", nil, capacity},
		{"appendfsync always", []string{"--appendonly", "yes", "--appendfsync", "always"}, 0},
		{"appendfsync everysec", []string{"--appendonly", "yes", "--appendfsync", "everysec"}, 0}, // the process dies, not the machine
	} {
		t.Run(c.name, func(t *testing.T) {
			server := redisd.Start(t, c.args...)
			r := open(t, server.URL(), 2*time.Second)
			spend := func() (admitted int) {
				for range 2 * capacity {
					k := attempt("A", "net", capacity, 0)
					k.Charges = k.Charges[1:2]
					out, err := r.Take(context.Background(), k)
					if err != nil {
						t.Fatal(err)
					}
					if out.Outcome == store.Admitted {
						admitted++
					}
				}
				return admitted
			}
			if got := spend(); got != capacity {
				t.Fatalf("%d admitted, want %d", got, capacity)
			}
			server.Kill()
			server.Run()
			topology.Await(t, "the server to be back", func() bool { return r.Ping(context.Background()) == nil })
			if got := spend(); got != c.again {
				t.Errorf("%d admitted after the restart, want %d", got, c.again)
			}
		})
	}
}
