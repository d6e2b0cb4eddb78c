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

	"loginguard/test/internal/redisd"
)

const (
	sentinels  = 3
	masterName = "mymaster"
)

// Sentinel is a master, a replica and three sentinels that watch them.
type Sentinel struct {
	Master, Replica *redisd.Server // as they were started

	t     testing.TB
	addrs []string // of the sentinels
}

// StartSentinel starts the group and returns when each sentinel knows all
// others and the replica: one that is told of a failure before it knows the
// replica does not fail over.
func StartSentinel(t testing.TB, args ...string) *Sentinel {
	t.Helper()
	args = append([]string{"--repl-diskless-sync-delay", "0"}, args...)
	s := &Sentinel{t: t, Master: redisd.Start(t, args...)}
	s.Replica = redisd.Start(t, append(args, "--replicaof", "127.0.0.1 "+fmt.Sprint(s.Master.Port))...)
	AwaitLink(t, s.Replica)
	for range sentinels {
		port := redisd.FreePort(t)
		s.addrs = append(s.addrs, fmt.Sprintf("127.0.0.1:%d", port))
		startSentinel(t, port, s.Master.Port)
	}
	for _, addr := range s.addrs {
		c := redis.NewSentinelClient(&redis.Options{Addr: addr})
		t.Cleanup(func() { _ = c.Close() })
		Await(t, "the sentinels to know the group", func() bool {
			m, err := c.Master(context.Background(), masterName).Result()
			return err == nil && m["num-slaves"] == "1" && m["num-other-sentinels"] == fmt.Sprint(sentinels-1) && m["flags"] == "master"
		})
	}
	return s
}

// startSentinel starts one sentinel. It rewrites its own configuration.
func startSentinel(t testing.TB, port, master int) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "sentinel.conf")
	lines := []string{
		fmt.Sprintf("port %d", port), "bind 127.0.0.1", "dir " + dir,
		fmt.Sprintf("sentinel monitor %s 127.0.0.1 %d 2", masterName, master),
		fmt.Sprintf("sentinel down-after-milliseconds %s 500", masterName),
		fmt.Sprintf("sentinel failover-timeout %s 3000", masterName),
		fmt.Sprintf("sentinel parallel-syncs %s 1", masterName),
	}
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
// as its replica, with its connections open.
func (s *Sentinel) Failover() {
	s.t.Helper()
	c := redis.NewSentinelClient(&redis.Options{Addr: s.addrs[0]})
	defer c.Close()
	if err := c.Failover(context.Background(), masterName).Err(); err != nil {
		s.t.Fatal(err)
	}
}

// Agrees reports whether the master that a sentinel names takes itself for one.
func (s *Sentinel) Agrees() bool {
	c := redis.NewSentinelClient(&redis.Options{Addr: s.addrs[0]})
	defer c.Close()
	at, err := c.GetMasterAddrByName(context.Background(), masterName).Result()
	if err != nil || len(at) != 2 {
		return false
	}
	for _, r := range []*redisd.Server{s.Master, s.Replica} {
		if r.Addr == net.JoinHostPort(at[0], at[1]) {
			return Role(r) == "master"
		}
	}
	return false
}
