package chaos

import (
	"testing"
	"time"

	"loginguard/test/internal/redisd"
	"loginguard/test/internal/topology"
)

// cautious are the lines of the manual for a master with a replica.
var cautious = []string{"--min-replicas-to-write", "1", "--min-replicas-max-lag", "1"}

// TestConsistencyOverFailovers is the short edition.
func TestConsistencyOverFailovers(t *testing.T) {
	t.Parallel() // it waits for time to pass
	consistencyOverFailovers(t, 10*time.Second, (*sentinelNemesis).killStale, (*sentinelNemesis).handOver, (*sentinelNemesis).divide)
}

// TestConsistencyOverClusterFailovers is the short edition.
func TestConsistencyOverClusterFailovers(t *testing.T) {
	t.Parallel() // it waits for time to pass
	consistencyOverClusterFailovers(t, 10*time.Second)
}

// consistencyOverFailovers is [consistency] on a master and its replica, one
// taking the place of the other as the sentinels see fit: each time at most
// what one capacity had counted is lost.
func consistencyOverFailovers(t *testing.T, length time.Duration, ways ...func(*sentinelNemesis)) {
	n := &sentinelNemesis{t: t, group: topology.StartDividedSentinel(t, cautious...)}
	var x trial
	for i := range x.urls {
		x.urls[i] = n.group.URL()
	}
	failovers := 0
	x.nemesis = func(h *history, end time.Time) {
		for ; time.Now().Before(end); failovers++ {
			topology.Await(t, "the group to be whole", n.group.Whole)
			time.Sleep(500 * time.Millisecond) // for buckets to run dry
			h.loses(func() { ways[failovers%len(ways)](n) })
		}
	}
	h := x.run(t, length)
	h.judge(t)
	t.Logf("%d failovers", failovers)
	if failovers < 2 {
		t.Errorf("%d failovers: nothing was tried", failovers)
	}
}

// sentinelNemesis replaces the master of a group, in several ways. After each
// the other server is the master, and the old one its replica.
type sentinelNemesis struct {
	t     *testing.T
	group *topology.Sentinel
}

// promoted waits until the other server is the master for all sentinels.
func (n *sentinelNemesis) promoted(next *redisd.Server) {
	n.t.Helper()
	topology.Await(n.t, "the replica to be promoted", func() bool {
		named, _ := n.group.Named()
		return named == next && topology.Role(next) == "master"
	})
}

// demoted has the old master follow the other server.
func (n *sentinelNemesis) demoted(old *redisd.Server) {
	n.t.Helper()
	if topology.Role(old) == "master" {
		n.group.Follow(old)
	}
	topology.Await(n.t, "the old master to follow", func() bool { return topology.Role(old) == "slave" })
}

// kill ends the master as kill -9 does. It comes back, empty, when nobody takes
// it for the master any more: earlier, it would be one more that admits.
func (n *sentinelNemesis) kill() {
	old, next := n.group.Named()
	old.Kill()
	n.promoted(next)
	old.Run()
	n.demoted(old)
}

// killStale cuts the master off from its replica, and kills it some time later:
// what it counted in between is lost.
func (n *sentinelNemesis) killStale() {
	old, _ := n.group.Named()
	n.group.Way(old).BlackholeOf("REPLCONF")
	time.Sleep(700 * time.Millisecond)
	n.kill()
	n.group.Way(old).Heal()
}

// handOver has the sentinels replace a master that is well, as an operator does.
// It keeps its connections.
func (n *sentinelNemesis) handOver() {
	old, next := n.group.Named()
	var asked time.Time
	topology.Await(n.t, "the replica to be promoted by request", func() bool {
		named, _ := n.group.Named()
		if named == old && time.Since(asked) > 5*time.Second {
			// Again, where a sentinel was too busy to end what it had begun.
			if err := n.group.TryFailover(); err != nil {
				n.t.Logf("sentinel: %v", err)
			}
			asked = time.Now()
		}
		return named == next
	})
	n.demoted(old)
}

// divide cuts the master off from its replica and from the sentinels, while
// the instances reach both: for a moment there are two masters.
func (n *sentinelNemesis) divide() {
	old, next := n.group.Named()
	n.group.Way(old).BlackholeOf("REPLCONF", "sentinel-")
	n.promoted(next)
	n.group.Way(old).Heal()
	n.demoted(old)
}

// clusterHandOver has a replica take over from a master that is well. A node
// gives up when that takes it more than five seconds, so it is asked again.
func clusterHandOver(t *testing.T, next *redisd.Server) {
	t.Helper()
	var asked time.Time
	topology.Await(t, "the replica to take over by request", func() bool {
		if topology.Role(next) == "master" {
			return true
		}
		if time.Since(asked) > 6*time.Second {
			next.Do("CLUSTER", "FAILOVER")
			asked = time.Now()
		}
		return false
	})
}

// consistencyOverClusterFailovers is [consistency] on a cluster, of which one
// master after the other is killed, and comes back, empty, as a replica of its
// replica; in between one is demoted by CLUSTER FAILOVER, which loses nothing.
func consistencyOverClusterFailovers(t *testing.T, length time.Duration) {
	c := topology.StartCluster(t)
	var x trial
	for i := range x.urls {
		x.urls[i] = c.URL()
	}
	failovers := 0
	x.nemesis = func(h *history, end time.Time) {
		for ; time.Now().Before(end); failovers++ {
			time.Sleep(500 * time.Millisecond) // for buckets to run dry
			i := failovers / 2 % 3
			old, next := c.Nodes[i], c.ReplicaOf(c.Nodes[i])
			if topology.Role(old) != "master" {
				old, next = next, old
			}
			if failovers%2 == 1 {
				clusterHandOver(t, next)
			} else {
				h.loses(func() {
					old.Kill()
					topology.Await(t, "the replica to take over", func() bool { return topology.Role(next) == "master" })
				})
				old.Run()
			}
			topology.Await(t, "the old master to follow", func() bool { return topology.Role(old) == "slave" })
			topology.AwaitLink(t, old)
		}
	}
	h := x.run(t, length)
	h.judge(t)
	t.Logf("%d failovers", failovers)
	if failovers < 2 {
		t.Errorf("%d failovers: nothing was tried", failovers)
	}
}
