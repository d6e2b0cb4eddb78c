package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// scripted is a server that answers every command by a function of its words.
// It returns the address and the number of connections so far.
func scripted(t *testing.T, answer func(words []string) string) (addr string, conns *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	conns = new(atomic.Int64)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns.Add(1)
			go func() {
				defer c.Close()
				for in := bufio.NewReader(c); ; {
					words, err := readCommand(in)
					if err != nil {
						return
					}
					if _, err := c.Write([]byte(answer(words))); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String(), conns
}

// readCommand reads one command as clients send it.
func readCommand(in *bufio.Reader) ([]string, error) {
	var n int
	if _, err := fmt.Fscanf(in, "*%d\r\n", &n); err != nil {
		return nil, err
	}
	var words []string
	for range n {
		var size int
		if _, err := fmt.Fscanf(in, "$%d\r\n", &size); err != nil {
			return nil, err
		}
		b := make([]byte, size+2)
		for at := 0; at < len(b); {
			m, err := in.Read(b[at:])
			if err != nil {
				return nil, err
			}
			at += m
		}
		words = append(words, string(b[:size]))
	}
	return words, nil
}

// TestReadOnlyDropsEveryConnection: also where the server wraps it in a script
// error, as those before Redis 7 do, which the client library does not see.
// The address leads to a master by then, and the first call after finds it.
func TestReadOnlyDropsEveryConnection(t *testing.T) {
	addr, conns := scripted(t, func(words []string) string {
		if words[0] == "set" {
			return "+OK\r\n"
		}
		return "-ERR Error running script (call to f_1): @user_script:1: @user_script: 1: -READONLY You can't write against a read only replica.\r\n"
	})
	r, err := OpenRedis(RedisOptions{URL: "redis://" + addr, Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	until := func(what string, ok func() bool) {
		t.Helper()
		for end := time.Now().Add(10 * time.Second); !ok(); <-time.After(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal(what)
			}
		}
	}
	// The idle connections of the pool are there.
	if err := r.Ping(context.Background()); err != nil {
		t.Fatal(err)
	}
	until("the pool does not fill", func() bool { return len(r.dial.list()) >= poolIdle })
	before, dialled := r.dial.list(), conns.Load()
	if _, err := r.Take(context.Background(), Take{Challenged: -1}); Class(err) != "readonly" {
		t.Fatalf("%v, want readonly", err)
	}
	for _, c := range before {
		if _, err := c.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a connection to the read-only server is left: %v", err)
		}
	}
	if err := r.Ping(context.Background()); err != nil {
		t.Errorf("the next call: %v", err)
	}
	if conns.Load() == dialled {
		t.Error("no new connection was made")
	}
}

// TestDialFailureIsOfTheCall: a dial that fails is no error of the dial, and
// the connection in its place is used for nothing.
func TestDialFailureIsOfTheCall(t *testing.T) {
	var d dialer
	c, err := d.dial(context.Background(), "unix", "/nowhere/redis.sock")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte("x")); !errors.Is(err, syscall.ENOENT) || Class(err) != "refused" {
		t.Errorf("write: %v", err)
	}
	if _, err := c.Read(nil); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("read: %v", err)
	}
	if _, err := c.(syscall.Conn).SyscallConn(); err == nil {
		t.Error("the pool would lend it again")
	}
	if c.RemoteAddr().String() != "/nowhere/redis.sock" || len(d.open) != 0 {
		t.Errorf("%v, %d open", c.RemoteAddr(), len(d.open))
	}
}

// TestRefusedForLongRecoversAtOnce: however many calls were refused, the first
// one after the server is there again gets through.
func TestRefusedForLongRecoversAtOnce(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := OpenRedis(RedisOptions{URL: "redis://" + addr, Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 4 * poolSize {
		if err := r.Ping(context.Background()); Class(err) != "refused" {
			t.Fatalf("%v, want refused", err)
		}
	}
	if l, err = net.Listen("tcp", addr); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				for in := bufio.NewReader(c); ; {
					words, err := readCommand(in)
					if err != nil {
						return
					}
					answer := "+OK\r\n"
					if words[0] == "hello" {
						answer = "-ERR unknown command\r\n" // the client goes on without its greeting
					}
					_, _ = c.Write([]byte(answer))
				}
			}()
		}
	}()
	if err := r.Ping(context.Background()); err != nil {
		t.Errorf("the server is back, but: %v", err)
	}
}

// TestInspectVersion: servers that are too old are refused, by what INFO says.
func TestInspectVersion(t *testing.T) {
	for version, want := range map[string]error{
		"2.8.24": ErrVersion, "3.2.13": ErrVersion, "4.0.14": ErrVersion,
		"5.0.0": nil, "6.2.14": nil, "7.0.15": nil, "8.2.1": nil, "10.0.0": nil, "unstable": nil,
	} {
		addr, _ := scripted(t, func(words []string) string {
			if !strings.EqualFold(words[0], "info") || len(words) != 2 {
				return "-ERR unexpected\r\n"
			}
			text := "# Server\r\nredis_version:" + version + "\r\n"
			if words[1] == "memory" {
				text = "maxmemory_policy:noeviction\r\n"
			}
			return fmt.Sprintf("$%d\r\n%s\r\n", len(text), text)
		})
		r, err := OpenRedis(RedisOptions{URL: "redis://" + addr, Timeout: 5 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Inspect(context.Background()); !errors.Is(err, want) {
			t.Errorf("version %s: %v, want %v", version, err, want)
		}
		_ = r.Close()
	}
}
