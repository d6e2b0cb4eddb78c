//go:build slow

package chaos

import (
	"testing"
	"time"

	"loginguard/test/internal/service"
	"loginguard/test/internal/topology"
)

// TestHangingStoreHoldsNothingForAMinute is the long edition.
func TestHangingStoreHoldsNothingForAMinute(t *testing.T) { hang(t, 2000, 512, time.Minute) }

// TestConsistencyForLong is the long edition.
func TestConsistencyForLong(t *testing.T) { consistency(t, 2*time.Minute) }

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
