package topology

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"

	"loginguard/test/internal/proxy"
	"loginguard/test/internal/redisd"
)

const (
	sentinels  = 3
	masterName = "mymaster"

	// failoverTimeout is the sentinels' failover-timeout, in milliseconds; half
	// as often may a master be replaced. A group that is to fail over again and
	// again has the shorter one.
	failoverTimeout      = 3000
	failoverTimeoutShort = 2000
)

// Sentinel is a master, a replica and three sentinels that watch them.
type Sentinel struct {
	Master, Replica *redisd.Server // as they were started

	t     testing.TB
	addrs []string                        // of the sentinels
	ways  map[*redisd.Server]*proxy.Proxy // to each server, nil where it is reached directly
}

// StartSentinel starts the group and returns when each sentinel knows all
// others and the replica: one that is told of a failure before it knows the
// replica does not fail over.
func StartSentinel(t testing.TB, args ...string) *Sentinel {
	t.Helper()
	s := &Sentinel{t: t}
	args = append([]string{"--repl-diskless-sync-delay", "0"}, args...)
	s.Master = redisd.Start(t, args...)
	s.Replica = redisd.Start(t, append(args, "--replicaof", "127.0.0.1 "+fmt.Sprint(s.Master.Port))...)
	s.watch(failoverTimeout)
	return s
}

// StartDividedSentinel is StartSentinel with a network around each of the two
// servers, see [Sentinel.Way]: the sentinels, the other server and all clients
// know it by the address of that. It can fail over every four seconds.
func StartDividedSentinel(t testing.TB, args ...string) *Sentinel {
	t.Helper()
	s := &Sentinel{t: t, ways: make(map[*redisd.Server]*proxy.Proxy)}
	behind := func(more ...string) *redisd.Server {
		way := proxy.Start(t, "127.0.0.1:1") // nobody, until the server runs
		_, port := hostPort(t, way.Addr)
		all := append([]string{"--repl-diskless-sync-delay", "0", "--replica-announce-ip", "127.0.0.1", "--replica-announce-port", port}, args...)
		r := redisd.Start(t, append(all, more...)...)
		way.Retarget(r.Addr)
		s.ways[r] = way
		return r
	}
	s.Master = behind()
	s.Replica = behind("--replicaof", spaced(s.address(s.Master)))
	s.watch(failoverTimeoutShort)
	return s
}

// Way returns the network around one of the two servers.
func (s *Sentinel) Way(r *redisd.Server) *proxy.Proxy { return s.ways[r] }

// address returns where others reach a server.
func (s *Sentinel) address(r *redisd.Server) string {
	if way := s.ways[r]; way != nil {
		return way.Addr
	}
	return r.Addr
}

// spaced writes an address as Redis wants it: host and port apart.
func spaced(addr string) string { return strings.Replace(addr, ":", " ", 1) }

// hostPort splits an address of the form that tests use.
func hostPort(t testing.TB, addr string) (host, port string) {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	return host, port
}

// watch starts the sentinels.
func (s *Sentinel) watch(failoverTimeout int) {
	t := s.t
	t.Helper()
	AwaitLink(t, s.Replica)
	for range sentinels {
		port := redisd.FreePort(t)
		s.addrs = append(s.addrs, fmt.Sprintf("127.0.0.1:%d", port))
		startSentinel(t, port, spaced(s.address(s.Master)), failoverTimeout)
	}
	for _, addr := range s.addrs {
		c := redis.NewSentinelClient(&redis.Options{Addr: addr})
		t.Cleanup(func() { _ = c.Close() })
		Await(t, "the sentinels to know the group", func() bool {
			m, err := c.Master(context.Background(), masterName).Result()
			return err == nil && m["num-slaves"] == "1" && m["num-other-sentinels"] == fmt.Sprint(sentinels-1) && m["flags"] == "master"
		})
	}
}

// startSentinel starts one sentinel that watches a master.
func startSentinel(t testing.TB, port int, master string, failoverTimeout int) {
	t.Helper()
	runSentinel(t, append(watching(master, failoverTimeout), fmt.Sprintf("port %d", port)))
}

// watching is the part of a sentinel's configuration that says whom it watches,
// given as host and port.
func watching(master string, failoverTimeout int) []string {
	return []string{
		fmt.Sprintf("sentinel monitor %s %s 2", masterName, master),
		fmt.Sprintf("sentinel down-after-milliseconds %s 500", masterName),
		fmt.Sprintf("sentinel failover-timeout %s %d", masterName, failoverTimeout),
		fmt.Sprintf("sentinel parallel-syncs %s 1", masterName),
	}
}

// runSentinel starts a sentinel with this configuration, which it rewrites.
func runSentinel(t testing.TB, lines []string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "sentinel.conf")
	lines = append([]string{"bind 127.0.0.1", "dir " + dir}, lines...)
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("redis-server", path, "--sentinel")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start a sentinel (./test/run installs redis-server): %v", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		var exit *exec.ExitError
		if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
			t.Errorf("sentinel: %v", err)
		}
	})
}

// URL returns the store URL of the group.
func (s *Sentinel) URL() string {
	return "redis+sentinel://" + strings.Join(s.addrs, ",") + "/" + masterName
}

// Failover asks a sentinel to make the replica the master; the master goes on
// as its replica, with its connections open. The sentinel begins, and gives up
// when that takes it longer than its failover-timeout.
func (s *Sentinel) Failover() {
	s.t.Helper()
	if err := s.TryFailover(); err != nil {
		s.t.Fatal(err)
	}
}

// TryFailover is Failover where one may be under way already.
func (s *Sentinel) TryFailover() error {
	c := redis.NewSentinelClient(&redis.Options{Addr: s.addrs[0]})
	defer c.Close()
	return c.Failover(context.Background(), masterName).Err()
}

// Named returns the server that the sentinels name as the master, and the other
// one; nil twice where one does not answer or they differ.
func (s *Sentinel) Named() (master, other *redisd.Server) {
	for i, addr := range s.addrs {
		c := redis.NewSentinelClient(&redis.Options{Addr: addr})
		at, err := c.GetMasterAddrByName(context.Background(), masterName).Result()
		_ = c.Close()
		if err != nil || len(at) != 2 {
			return nil, nil
		}
		named := s.Replica
		if net.JoinHostPort(at[0], at[1]) == s.address(s.Master) {
			named = s.Master
		}
		if i > 0 && named != master {
			return nil, nil
		}
		master = named
	}
	if master == s.Master {
		return master, s.Replica
	}
	return master, s.Master
}

// Names reports whether one of the sentinels names a server as the master: the
// first that ends a failover does, before the others have heard of it.
func (s *Sentinel) Names(r *redisd.Server) bool {
	for _, addr := range s.addrs {
		c := redis.NewSentinelClient(&redis.Options{Addr: addr})
		at, err := c.GetMasterAddrByName(context.Background(), masterName).Result()
		_ = c.Close()
		if err == nil && len(at) == 2 && net.JoinHostPort(at[0], at[1]) == s.address(r) {
			return true
		}
	}
	return false
}

// Agrees reports whether the master that the sentinels name takes itself for
// one.
func (s *Sentinel) Agrees() bool {
	master, _ := s.Named()
	return master != nil && Role(master) == "master"
}

// Whole reports whether the group can fail over: the named master takes itself
// for one, the other server follows it, and every sentinel holds both for well.
func (s *Sentinel) Whole() bool {
	master, other := s.Named()
	if master == nil || Role(master) != "master" || Role(other) != "slave" || info(other, "master_link_status") != "up" {
		return false
	}
	for _, addr := range s.addrs {
		c := redis.NewSentinelClient(&redis.Options{Addr: addr})
		m, err := c.Master(context.Background(), masterName).Result()
		replicas, err2 := c.Replicas(context.Background(), masterName).Result()
		_ = c.Close()
		if err != nil || err2 != nil || m["flags"] != "master" || net.JoinHostPort(m["ip"], m["port"]) != s.address(master) ||
			len(replicas) != 1 || replicas[0]["flags"] != "slave" || replicas[0]["master-link-status"] != "ok" {
			return false
		}
	}
	return true
}

// Follow makes a server the replica of the other one at once, where the
// sentinels would take some ten seconds to make sure that it is not the master.
func (s *Sentinel) Follow(r *redisd.Server) {
	s.t.Helper()
	other := s.Master
	if r == other {
		other = s.Replica
	}
	host, port := hostPort(s.t, s.address(other))
	r.Do("REPLICAOF", host, port)
}

// Handover has the master itself hand over to its replica, with nothing lost;
// the sentinels are not asked.
func (s *Sentinel) Handover(master, replica *redisd.Server) {
	s.t.Helper()
	host, port := hostPort(s.t, s.address(replica))
	master.Do("FAILOVER", "TO", host, port)
}
