//go:build slow

package chaos

import (
	"testing"
	"time"

	"loginguard/test/internal/service"
	"loginguard/test/internal/topology"
)

// TestHangingStoreHoldsNothingForAMinute is the long edition, of the program as
// users get it: ten times the load is not for the race detector.
func TestHangingStoreHoldsNothingForAMinute(t *testing.T) {
	hang(t, service.Options{Shipped: true}, 2000, 512, time.Minute)
}

// TestConsistencyForLong is the long edition.
func TestConsistencyForLong(t *testing.T) { consistency(t, 2*time.Minute) }

// TestConsistencyOverFailoversForLong is the long edition, with a network that
// is divided, and with a master that hands over without asking.
func TestConsistencyOverFailoversForLong(t *testing.T) {
	consistencyOverFailovers(t, 3*time.Minute, (*sentinelNemesis).kill, (*sentinelNemesis).divide, (*sentinelNemesis).handOver,
		(*sentinelNemesis).killStale, (*sentinelNemesis).handOverItself)
}

// TestConsistencyOverClusterFailoversForLong is the long edition.
func TestConsistencyOverClusterFailoversForLong(t *testing.T) {
	consistencyOverClusterFailovers(t, 3*time.Minute)
}

// TestFailoverBehindTheSentinels demotes the master by a command of its own,
// which the sentinels take some 20 seconds to notice: until then they name the
// wrong one, and everything is denied; READONLY ends when they name the right
// one.
func TestFailoverBehindTheSentinels(t *testing.T) {
	group := topology.StartSentinel(t)
	s := service.Start(t, service.Options{Redis: group.URL(), Env: realBudget, Config: roomy})
	working(t, s)
	l := begin(t, s, 100, 16)
	group.Master.Do("FAILOVER", "TO", "127.0.0.1", group.Replica.Port)
	topology.Await(t, "the replica to be the master", func() bool { return topology.Role(group.Replica) == "master" })
	service.Await(t, 30*time.Second, "the demotion to be noticed", func() bool { return l.busy.Load() > 0 })
	service.Await(t, 2*time.Minute, "the sentinels to name a master that is one", group.Agrees)
	named := time.Now()
	l.recovers(named, "after the sentinels named the master")
	l.end()
}

// handOverItself has the master hand over by itself. The sentinels take some 20
// seconds to notice.
func (n *sentinelNemesis) handOverItself() {
	old, next := n.group.Named()
	n.group.Handover(old, next)
	topology.Await(n.t, "the replica to be the master", func() bool { return topology.Role(next) == "master" })
}
