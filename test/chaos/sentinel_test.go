package chaos

import (
	"testing"
	"time"

	"loginguard/test/internal/proxy"
	"loginguard/test/internal/redisd"
	"loginguard/test/internal/service"
	"loginguard/test/internal/topology"
)

// TestSentinelFailover kills the master under load: all answers are in time
// and deny, and attempts are allowed again within a second of the promotion.
func TestSentinelFailover(t *testing.T) {
	t.Parallel() // it waits for time to pass
	group := topology.StartSentinel(t)
	s := service.Start(t, service.Options{Redis: group.URL(), Env: realBudget, Config: roomy})
	working(t, s)
	l := begin(t, s, 100, 16)
	l.mark()
	l.back()

	group.Master.Kill()
	topology.Await(t, "the replica to be promoted", func() bool { return topology.Role(group.Replica) == "master" })
	role := time.Now()
	// Its role changes first. The sentinels look for that once a second, and until
	// they have seen it they send everybody to the master that is gone.
	topology.Await(t, "a sentinel to name the new master", func() bool { return group.Names(group.Replica) })
	promoted := time.Now()
	l.recovers(promoted, "after the promotion")
	t.Logf("named %v after its role changed", promoted.Sub(role))
	l.end()
}

// TestSentinelSwitch demotes the master while it keeps running, so that its
// connections stay open: no answer may be READONLY for longer than the switch
// takes.
func TestSentinelSwitch(t *testing.T) {
	t.Parallel() // it waits for time to pass
	group := topology.StartSentinel(t)
	s := service.Start(t, service.Options{Redis: group.URL(), Env: realBudget, Config: roomy})
	working(t, s)
	l := begin(t, s, 100, 16)
	group.Failover()
	topology.Await(t, "the replica to be promoted", func() bool { return topology.Role(group.Replica) == "master" })
	topology.Await(t, "the master to be demoted", func() bool { return topology.Role(group.Master) == "slave" })
	demoted := time.Now()
	l.recovers(demoted, "after the switch")
	l.end()
}

// TestReadOnlyBehindOneAddress: the address of a single Redis leads to another
// server from now on, and the one before is demoted with its connections open.
// READONLY must end by itself, as soon as the address leads to a master.
func TestReadOnlyBehindOneAddress(t *testing.T) {
	t.Parallel() // it waits for time to pass
	old, next := redisd.Start(t), redisd.Start(t)
	address := proxy.Start(t, old.Addr)
	s := service.Start(t, service.Options{Redis: "redis://" + address.Addr, Env: realBudget, Config: roomy})
	working(t, s)
	l := begin(t, s, 100, 16)
	l.mark()
	l.back()

	old.Do("REPLICAOF", "127.0.0.1", next.Port)
	topology.AwaitLink(t, old)
	service.Await(t, 30*time.Second, "the demotion to be noticed", func() bool { return l.busy.Load() > 0 })
	address.Retarget(next.Addr)
	moved := time.Now()
	l.recovers(moved, "after the address had moved")
	l.end()
}
