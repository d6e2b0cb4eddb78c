//go:build slow

package chaos

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"loginguard/store"
	"loginguard/test/internal/redisd"
	"loginguard/test/internal/topology"
)

const (
	// measuredRounds is how often each way is tried.
	measuredRounds = 3

	// measuredNetworks is how many buckets the load is spread over. None runs
	// dry, and none gets anything back in the time.
	measuredNetworks = 50
)

// TestFailoverLossMeasured counts the admissions that a failover under load
// loses: what was admitted on each bucket, less what the new master knows of.
// The manual quotes the figures of the log, which depend on the machine. A
// master that hands over by itself loses nothing.
func TestFailoverLossMeasured(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
	}{
		{"without min-replicas-to-write", nil},
		{"with min-replicas-to-write 1", cautious},
	} {
		for _, way := range []struct {
			name     string
			do       func(*sentinelNemesis)
			lossless bool
		}{
			{"kill -9", (*sentinelNemesis).kill, false},
			{"SENTINEL FAILOVER", (*sentinelNemesis).handOver, false},
			{"FAILOVER TO", (*sentinelNemesis).handOverItself, true},
			{"cut off from its replica for 5 s, then kill -9", func(n *sentinelNemesis) { n.killAfter(5 * time.Second) }, false},
			{"cut off from its replica and the sentinels", (*sentinelNemesis).divide, false},
		} {
			t.Run(c.name+"/"+way.name, func(t *testing.T) {
				n := &sentinelNemesis{t: t, group: topology.StartDividedSentinel(t, c.args...)}
				for range measuredRounds {
					topology.Await(t, "the group to be whole", n.group.Whole)
					m := measureLoss(t, n, way.do)
					t.Logf("%d admitted, %.0f a second before: %d lost, the same as in %.0f ms; of one bucket of some %d at most %d",
						m.admitted, m.rate, m.lost, 1000*float64(m.lost)/m.rate, m.admitted/measuredNetworks, m.worst)
					if way.lossless && m.lost > 0 {
						t.Errorf("%d of %d were lost", m.lost, m.admitted)
					}
				}
			})
		}
	}
}

// killAfter is killStale with a longer time between the cut and the kill.
func (n *sentinelNemesis) killAfter(d time.Duration) {
	old, _ := n.group.Named()
	n.group.Way(old).BlackholeOf("REPLCONF")
	time.Sleep(d)
	n.kill()
	n.group.Way(old).Heal()
}

// loss is what a failover cost.
type loss struct {
	admitted, lost, worst int64   // admissions: all, those forgotten, and of these the most of one bucket
	rate                  float64 // admissions a second before the failover
}

// measureLoss puts attempts on the store, fails over, and compares.
func measureLoss(t *testing.T, n *sentinelNemesis, failover func(*sentinelNemesis)) loss {
	t.Helper()
	r := open(t, n.group.URL(), 50*time.Millisecond)
	ctx := context.Background()
	topology.Await(t, "the master to take writes", func() bool { return r.Ping(ctx) == nil })
	master, _ := n.group.Named()
	master.Do("FLUSHALL")
	var (
		all    sync.WaitGroup
		counts [measuredNetworks]atomic.Int64
	)
	total := func() (sum int64) {
		for i := range counts {
			sum += counts[i].Load()
		}
		return sum
	}
	stop := make(chan struct{})
	for w := range 8 {
		all.Go(func() {
			for i := w; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				k := attempt("A", fmt.Sprint("net", i%measuredNetworks), 1e6, 0)
				k.Charges = k.Charges[1:2]
				if out, err := r.Take(ctx, k); err == nil && out.Outcome == store.Admitted {
					counts[i%measuredNetworks].Add(1)
				} else {
					time.Sleep(time.Millisecond)
				}
			}
		})
	}
	began := time.Now()
	time.Sleep(time.Second)
	m := loss{rate: float64(total()) / time.Since(began).Seconds()}
	func() {
		defer func() {
			close(stop)
			all.Wait()
		}()
		failover(n)
	}()
	m.admitted = total()
	next := newMaster(t, n)
	c := next.Client()
	defer c.Close()
	for i := range counts {
		value := c.Get(ctx, networkKey(fmt.Sprint("net", i))).Val()
		known := int64(0)
		if strings.Contains(value, "/") {
			known = charged(t, value)
		}
		lost := max(0, counts[i].Load()-known)
		m.lost, m.worst = m.lost+lost, max(m.worst, lost)
	}
	return m
}

// newMaster returns the one of the two that is the master by now.
func newMaster(t *testing.T, n *sentinelNemesis) *redisd.Server {
	t.Helper()
	for _, r := range []*redisd.Server{n.group.Master, n.group.Replica} {
		if topology.Role(r) == "master" {
			return r
		}
	}
	t.Fatal("there is no master")
	return nil
}
