package topology

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"loginguard/test/internal/redisd"
)

const (
	// patience is how long a group may take to form or to fail over.
	patience = 30 * time.Second

	// masters and nodes of a cluster: the second half are replicas.
	masters = 3
	nodes   = 2 * masters
	slots   = 16384

	// busOffset is how far a node's bus is from its port.
	busOffset = 10000
)

// Cluster is three masters with a replica each.
type Cluster struct {
	Nodes []*redisd.Server // masters first, as the cluster was made

	t testing.TB
}

// StartCluster starts a cluster and returns when all of its nodes agree that
// every slot is served.
func StartCluster(t testing.TB) *Cluster {
	t.Helper()
	return startCluster(t, func() (int, []string) { return 0, nil })
}

// startCluster starts a cluster whose nodes have extra arguments, and talk to
// each other at a port of their own unless that is 0.
func startCluster(t testing.TB, extra func() (port int, args []string)) *Cluster {
	t.Helper()
	c := &Cluster{t: t}
	var ports []int
	for range nodes {
		port, args := extra()
		n := redisd.StartAt(t, busPort(t), append([]string{"--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf",
			"--cluster-node-timeout", "2000", "--cluster-require-full-coverage", "no",
			"--repl-diskless-sync-delay", "0", "--cluster-replica-validity-factor", "0"}, args...)...)
		if port == 0 {
			port = n.Port
		}
		c.Nodes, ports = append(c.Nodes, n), append(ports, port)
	}
	first := c.Nodes[0]
	for i, n := range c.Nodes {
		n.Do("CLUSTER", "SET-CONFIG-EPOCH", i+1)
		if i > 0 {
			first.Do("CLUSTER", "MEET", "127.0.0.1", ports[i])
		}
	}
	for i, n := range c.Nodes[:masters] {
		n.Do("CLUSTER", "ADDSLOTSRANGE", i*slots/masters, (i+1)*slots/masters-1)
	}
	c.await("the nodes to know each other", func(n *redisd.Server) bool {
		return strings.Count(fmt.Sprint(n.Do("CLUSTER", "NODES")), "connected") >= nodes && !strings.Contains(fmt.Sprint(n.Do("CLUSTER", "NODES")), "handshake")
	})
	for i, n := range c.Nodes[masters:] {
		n.Do("CLUSTER", "REPLICATE", c.Nodes[i].Do("CLUSTER", "MYID"))
	}
	c.await("the replicas to follow", func(n *redisd.Server) bool {
		return strings.Count(fmt.Sprint(n.Do("CLUSTER", "NODES")), "slave") == nodes-masters
	})
	for _, n := range c.Nodes[masters:] {
		AwaitLink(t, n)
	}
	c.await("all slots to be served", func(n *redisd.Server) bool {
		return strings.Contains(fmt.Sprint(n.Do("CLUSTER", "INFO")), "cluster_state:ok")
	})
	return c
}

// URL returns the store URL of the cluster. It names two nodes: the others are
// found.
func (c *Cluster) URL() string {
	return "redis+cluster://" + c.Nodes[0].Addr + "," + c.Nodes[nodes-1].Addr
}

// Allow makes the user of [Secure] on every node, with these rights and no
// others, and returns the store URL as that user.
func (c *Cluster) Allow(rights []string) string {
	for _, n := range c.Nodes {
		n.Do(grant(User, Password, rights)...)
	}
	return strings.Replace(c.URL(), "://", "://"+User+":"+Password+"@", 1)
}

// Flush empties the cluster.
func (c *Cluster) Flush() {
	for _, n := range c.Masters() {
		n.Do("FLUSHALL")
	}
}

// Masters returns the nodes that answer and are masters now.
func (c *Cluster) Masters() []*redisd.Server {
	var found []*redisd.Server
	for _, n := range c.Nodes {
		if Role(n) == "master" {
			found = append(found, n)
		}
	}
	return found
}

// Values returns every key with its value, as [redisd.Server.Values] does.
func (c *Cluster) Values(t testing.TB) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, n := range c.Masters() {
		for key, value := range n.Values(t) {
			all[key] = value
		}
	}
	return all
}

// Of returns the node that was made the master of a key's slot.
func (c *Cluster) Of(key string) *redisd.Server {
	c.t.Helper()
	slot, ok := c.Nodes[masters].Do("CLUSTER", "KEYSLOT", key).(int64)
	if !ok {
		c.t.Fatalf("no slot for %s", key)
	}
	for i := range masters {
		if slot < int64((i+1)*slots/masters) {
			return c.Nodes[i]
		}
	}
	return nil
}

// ReplicaOf returns the node that was made the replica of a master.
func (c *Cluster) ReplicaOf(master *redisd.Server) *redisd.Server {
	for i, n := range c.Nodes[:masters] {
		if n == master {
			return c.Nodes[masters+i]
		}
	}
	return nil
}

// Client returns a plain client of the cluster; it is closed with the test.
func (c *Cluster) Client() *redis.ClusterClient {
	r := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{c.Nodes[0].Addr, c.Nodes[1].Addr}})
	c.t.Cleanup(func() { _ = r.Close() })
	return r
}

// await waits until every node says so.
func (c *Cluster) await(what string, ok func(*redisd.Server) bool) {
	c.t.Helper()
	for _, n := range c.Nodes {
		Await(c.t, what, func() bool { return ok(n) })
	}
}

// Role returns what a server takes itself for: master or slave; "" when it
// does not answer.
func Role(s *redisd.Server) string { return info(s, "role") }

// AwaitLink waits until a replica has all that its master has.
func AwaitLink(t testing.TB, s *redisd.Server) {
	t.Helper()
	Await(t, "the replica to be linked", func() bool { return info(s, "master_link_status") == "up" })
}

// info returns one field of INFO replication, "" when there is no answer.
func info(s *redisd.Server, field string) string {
	c := s.Client()
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	text, err := c.Info(ctx, "replication").Result()
	if err != nil {
		return ""
	}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && name == field {
			return value
		}
	}
	return ""
}

// Await waits for a condition, and fails the test when it does not come.
func Await(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !ok(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("waited too long for %s", what)
		}
	}
}

// busPort returns a port that is free, as is that of the bus. Both lie below
// the range from which the system takes ports for connections.
func busPort(t testing.TB) int {
	t.Helper()
	for range 200 {
		port := 11000 + rand.IntN(10000)
		if free(port) && free(port+busOffset) {
			return port
		}
	}
	t.Fatal("no two free ports for a cluster node")
	return 0
}

func free(port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	_ = l.Close()
	return true
}
