// Package redisd starts real redis-server processes for tests: each on a free
// loopback port, in a folder of its own, stopped by its own pid when the test
// ends. Call [Start]; a [Server] can be killed, paused and brought back. The
// package does not install redis-server: test/run does.
package redisd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// patience is how long a server may take to answer before the test fails.
const patience = 20 * time.Second

// Server is one redis-server process.
type Server struct {
	Addr string
	Port int

	t    testing.TB
	dir  string
	args []string
	cmd  *exec.Cmd
	done chan struct{}
}

// FreePort returns a loopback port that nobody listens on. It lies below those
// that the system gives to outgoing connections, so that none of these takes
// it before a server does.
func FreePort(t testing.TB) int {
	t.Helper()
	for range 1000 {
		port := 10000 + rand.IntN(20000)
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

// Start runs a server with extra arguments and waits until it answers.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	return StartAt(t, FreePort(t), args...)
}

// StartAt is Start on a port that the caller has chosen.
func StartAt(t testing.TB, port int, args ...string) *Server {
	t.Helper()
	s := prepare(t, port)
	s.args = append([]string{"--port", strconv.Itoa(s.Port), "--bind", "127.0.0.1", "--dir", s.dir, "--save", "", "--appendonly", "no"}, args...)
	s.Run()
	return s
}

// StartSentinel runs a sentinel that watches the master under a name.
func StartSentinel(t testing.TB, name string, master *Server) *Server {
	t.Helper()
	s := prepare(t, FreePort(t))
	file := filepath.Join(s.dir, "sentinel.conf")
	conf := fmt.Sprintf("port %d\nbind 127.0.0.1\ndir %s\nsentinel monitor %s 127.0.0.1 %d 1\n", s.Port, s.dir, name, master.Port)
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	s.args = []string{file, "--sentinel"}
	s.Run()
	return s
}

func prepare(t testing.TB, port int) *Server {
	t.Helper()
	s := &Server{Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), Port: port, t: t, dir: t.TempDir()}
	t.Cleanup(s.Kill)
	return s
}

// URL returns the store URL of the server.
func (s *Server) URL() string { return "redis://" + s.Addr + "/0" }

// Dir returns the folder in which the server keeps its snapshots.
func (s *Server) Dir() string { return s.dir }

// Run starts the process again after Kill, on the same port, empty.
func (s *Server) Run() {
	s.t.Helper()
	s.cmd = exec.Command("redis-server", s.args...)
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatalf("start redis-server (./test/run installs it): %v", err)
	}
	s.done = make(chan struct{})
	tail := make(chan string, 1)
	go func(cmd *exec.Cmd, done chan struct{}) {
		var last []string
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if last = append(last, lines.Text()); len(last) > 5 {
				last = last[1:]
			}
		}
		_ = cmd.Wait()
		tail <- strings.Join(last, "\n")
		close(done)
	}(s.cmd, s.done)
	c := s.Client()
	defer c.Close()
	for end := time.Now().Add(patience); ; {
		if c.Ping(context.Background()).Err() == nil {
			return
		}
		select {
		case <-s.done:
			s.t.Fatalf("redis-server ended: %s", <-tail)
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(end) {
			s.t.Fatal("redis-server does not answer")
		}
	}
}

// Kill ends the process as kill -9 does, and waits for its end.
func (s *Server) Kill() {
	if s.cmd == nil || s.cmd.Process == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGCONT)
	_ = s.cmd.Process.Kill()
	<-s.done
}

// Pause stops the process with SIGSTOP: it keeps its connections and answers
// nothing.
func (s *Server) Pause() { s.signal(syscall.SIGSTOP) }

// Resume lets a paused process go on.
func (s *Server) Resume() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig os.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// Client returns a plain client of the server. The caller closes it.
func (s *Server) Client() *redis.Client { return redis.NewClient(&redis.Options{Addr: s.Addr}) }

// Do runs one command and returns its reply; the test fails on an error.
func (s *Server) Do(args ...any) any {
	s.t.Helper()
	c := s.Client()
	defer c.Close()
	v, err := c.Do(context.Background(), args...).Result()
	if err != nil && err != redis.Nil {
		s.t.Fatalf("redis %v: %v", args, err)
	}
	return v
}

// Keys returns every key with its value, as Values does.
func (s *Server) Keys() map[string]string {
	s.t.Helper()
	return s.Values(s.t)
}

// Values returns every key with its value; HyperLogLogs have the value "log".
// The test t, which may be a part of the one that started the server, fails on
// a key that has no expiry.
func (s *Server) Values(t testing.TB) map[string]string {
	t.Helper()
	c := s.Client()
	defer c.Close()
	ctx := context.Background()
	keys, err := c.Keys(ctx, "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]string, len(keys))
	if len(keys) == 0 {
		return found
	}
	pipe := c.Pipeline()
	ends, values := make([]*redis.DurationCmd, len(keys)), make([]*redis.StringCmd, len(keys))
	for i, key := range keys {
		ends[i], values[i] = pipe.PTTL(ctx, key), pipe.Get(ctx, key)
	}
	// Errors are looked at one by one: a key may have expired since.
	_, _ = pipe.Exec(ctx)
	for i, key := range keys {
		value, err := values[i].Result()
		if errors.Is(err, redis.Nil) {
			continue
		}
		if err != nil {
			t.Fatalf("get %s: %v", key, err)
		}
		if ends[i].Val() < 0 {
			t.Errorf("key %s has no expiry", key)
		}
		if strings.HasPrefix(value, "HYLL") {
			value = "log"
		}
		found[key] = value
	}
	return found
}

// String names the server for messages.
func (s *Server) String() string { return fmt.Sprintf("redis on %s", s.Addr) }
