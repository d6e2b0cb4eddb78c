package store

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// serve answers every command on a loopback port with what reply writes, and
// returns the address.
func serve(t *testing.T, l net.Listener, reply func(c net.Conn, command string)) string {
	t.Helper()
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				// Commands are arrays of bulk strings: a line for the array, and
				// two for the command's name.
				for lines := bufio.NewScanner(c); lines.Scan(); {
					if !strings.HasPrefix(lines.Text(), "*") {
						continue
					}
					lines.Scan() // the name's length
					if lines.Scan() {
						reply(c, strings.ToLower(lines.Text()))
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// failOn returns the error of a take on a store of the URL.
func failOn(t *testing.T, o RedisOptions) error {
	t.Helper()
	r, err := OpenRedis(o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	out, err := r.Take(context.Background(), Take{Challenged: -1})
	if err == nil || out.Outcome != Denied {
		t.Fatalf("%s: outcome %d, %v; want an error", o.URL, out.Outcome, err)
	}
	return err
}

// TestClassOfReplies: what a server may say instead of an answer.
func TestClassOfReplies(t *testing.T) {
	for reply, want := range map[string]string{
		"READONLY You can't write against a read only replica.":                                                    "readonly",
		"READONLY You can't write against a read only replica. script: ab, on @user_script:12.":                    "readonly",
		"ERR Error running script (call to f_ab): @user_script:9: @user_script: 9: -READONLY You can't":            "readonly",
		"OOM command not allowed when used memory > 'maxmemory'.":                                                  "oom",
		"NOSCRIPT No matching script. Please use EVAL.":                                                            "noscript",
		"CROSSSLOT Keys in request don't hash to the same slot":                                                    "crossslot",
		"WRONGTYPE Operation against a key holding the wrong kind of value script: ab":                             "wrongtype",
		"MOVED 3999 127.0.0.1:6381":                                                                                "moved",
		"ASK 3999 127.0.0.1:6381":                                                                                  "moved",
		"NOAUTH Authentication required.":                                                                          "auth",
		"WRONGPASS invalid username-password pair or user is disabled.":                                            "auth",
		"ERR The user executing the script can't run this command or subcommand script: 2f74, on @user_script:22.": "auth",
		"NOPERM this user has no permissions to run the 'evalsha' command":                                         "auth",
		"ERR AUTH <password> called without any password configured for the default user.":                         "auth",
		"ERR Protocol error: unauthenticated multibulk length":                                                     "auth",
		"LOADING Redis is loading the dataset in memory":                                                           "loading",
		"BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.":                   "busy",
		"NOREPLICAS Not enough good replicas to write.":                                                            "noreplicas",
		"CLUSTERDOWN The cluster is down":                                                                          "clusterdown",
		"TRYAGAIN Multiple keys request during rehashing of slot":                                                  "clusterdown",
		"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.":                         "masterdown",
		"MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist":                  "misconf",
		"ERR CORRUPT bucket script: ab, on @user_script:40.":                                                       "corrupt",
		"ERR Error running script (call to f_ab): @user_script:1: user_script:1: CORRUPT record":                   "corrupt",
		"ERR user_script:3: attempt to index a nil value script: ab, on @user_script:3.":                           "script",
		"ERR max number of clients reached":                                                                        "other",
		"ERR unknown command 'EVALSHA', with args beginning with: BUSYBODY TASK":                                   "other",
	} {
		t.Run(reply, func(t *testing.T) {
			addr := serve(t, listen(t), func(c net.Conn, _ string) { fmt.Fprintf(c, "-%s\r\n", reply) })
			err := failOn(t, RedisOptions{URL: "redis://" + addr, Timeout: 5 * time.Second})
			if got := Class(err); got != want {
				t.Errorf("class %q of %v, want %q", got, err, want)
			}
		})
	}
}

// TestClassOfStrangeAnswers: replies that no script of ours gives are no
// admission.
func TestClassOfStrangeAnswers(t *testing.T) {
	for _, reply := range []string{
		"+OK", ":1", "$-1", "*0", "*1\r\n:1", "*10\r\n:1\r\n:2\r\n$1\r\na\r\n:3\r\n:4\r\n:0\r\n:0\r\n:0\r\n$1\r\n-\r\n:5",
		"*10\r\n:9\r\n:2\r\n$1\r\na\r\n:3\r\n:4\r\n:0\r\n:0\r\n:0\r\n$1\r\n-\r\n$1\r\n-",
		"*11\r\n:1\r\n:2\r\n$1\r\na\r\n:3\r\n:4\r\n:0\r\n:0\r\n:0\r\n$1\r\n-\r\n$1\r\n-\r\n:1",
		"*17\r\n:1\r\n:2\r\n$1\r\na\r\n:3\r\n:4\r\n:0\r\n:0\r\n:0\r\n$1\r\n-\r\n$1\r\n-\r\n:7\r\n:0\r\n:1\r\n:1\r\n:0\r\n:0\r\n:0",
	} {
		addr := serve(t, listen(t), func(c net.Conn, command string) {
			if command != "evalsha" {
				fmt.Fprint(c, "-ERR unknown command\r\n") // the client goes on without its greeting
				return
			}
			fmt.Fprintf(c, "%s\r\n", reply)
		})
		o := RedisOptions{URL: "redis://" + addr, Timeout: 5 * time.Second}
		if err := failOn(t, o); Class(err) != "corrupt" {
			t.Errorf("take answered %q: class %q of %v", reply, Class(err), err)
		}
		r, err := OpenRedis(o)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := r.Settle(context.Background(), Settle{}); Class(err) != "corrupt" || out.Applied {
			t.Errorf("settle answered %q: %+v, %v", reply, out, err)
		}
		_ = r.Close()
	}
}

// TestClassOfConnections: what comes before any reply.
func TestClassOfConnections(t *testing.T) {
	closed := listen(t)
	refused := closed.Addr().String()
	_ = closed.Close()
	silent := serve(t, listen(t), func(net.Conn, string) {})
	hangup := serve(t, listen(t), func(c net.Conn, _ string) { _ = c.Close() })

	web := httptest.NewTLSServer(nil)
	defer web.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	secure := func(change func(*tls.Config)) string {
		c := &tls.Config{Certificates: web.TLS.Certificates}
		change(c)
		return serve(t, tls.NewListener(listen(t), c), func(net.Conn, string) {})
	}
	trusted := secure(func(*tls.Config) {})
	// The system's certificates are read once, which takes a busy machine
	// longer than a dial may.
	if _, err := x509.SystemCertPool(); err != nil {
		t.Fatal(err)
	}
	plain := serve(t, listen(t), func(net.Conn, string) {})
	_, port, _ := net.SplitHostPort(trusted)
	// It hangs up in the middle of a handshake.
	certs := secure(func(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert })

	const budget = 5 * time.Second
	for _, c := range []struct {
		name string
		o    RedisOptions
		want string
	}{
		{"nobody listens", RedisOptions{URL: "redis://" + refused, Timeout: budget}, "refused"},
		{"no socket", RedisOptions{URL: "unix:///nonexistent/redis.sock", Timeout: budget}, "refused"},
		{"no answer", RedisOptions{URL: "redis://" + silent, Timeout: 20 * time.Millisecond}, "timeout"},
		{"connection closed", RedisOptions{URL: "redis://" + hangup, Timeout: budget}, "closed"},
		{"certificate of nobody known", RedisOptions{URL: "rediss://" + trusted, Timeout: budget}, "tls"},
		{"certificate of another host", RedisOptions{URL: "rediss://localhost:" + port, Timeout: budget, CAFile: ca}, "tls"},
		{"client certificate required", RedisOptions{URL: "rediss://" + certs, Timeout: budget, CAFile: ca}, "tls"},
		{"trusted, no answer", RedisOptions{URL: "rediss://" + trusted, Timeout: 200 * time.Millisecond, CAFile: ca}, "timeout"},
		{"no TLS there", RedisOptions{URL: "rediss://" + garbage(t), Timeout: budget, CAFile: ca}, "tls"},
		{"TLS handshake unanswered", RedisOptions{URL: "rediss://" + plain, Timeout: 20 * time.Millisecond, CAFile: ca}, "timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := failOn(t, c.o); Class(err) != c.want {
				t.Errorf("class %q of %v, want %q", Class(err), err, c.want)
			}
		})
	}
}

// garbage listens on a port where everybody is greeted with what is not TLS.
func garbage(t *testing.T) string {
	l := listen(t)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprint(c, "-ERR no TLS here\r\n")
		}
	}()
	return l.Addr().String()
}

// TestClassOfPool: all connections are busy.
func TestClassOfPool(t *testing.T) {
	addr := serve(t, listen(t), func(net.Conn, string) {})
	r, err := OpenRedis(RedisOptions{URL: "redis://" + addr, Timeout: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	classes := make(chan string, 4*poolSize)
	for range cap(classes) {
		go func() {
			_, err := r.Take(context.Background(), Take{Challenged: -1})
			classes <- Class(err)
		}()
	}
	for range cap(classes) {
		if got := <-classes; got != "timeout" && got != "pool" {
			t.Errorf("class %q, want timeout or pool", got)
		}
	}
	for _, err := range []error{redis.ErrPoolTimeout, redis.ErrPoolExhausted, fmt.Errorf("take: %w", redis.ErrPoolTimeout)} {
		if got := Class(err); got != "pool" {
			t.Errorf("class %q of %v, want pool", got, err)
		}
	}
}

func TestClassOfTheRest(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	m := NewMemory(MemoryOptions{})
	defer m.Close()
	_, err := m.Take(ended, Take{Challenged: -1})
	shut, errOpen := OpenRedis(RedisOptions{URL: "redis://127.0.0.1:1"})
	if errOpen != nil {
		t.Fatal(errOpen)
	}
	_ = shut.Close()
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{err, "timeout"},
		{fmt.Errorf("take: %w", ErrFull), "full"},
		{takeError(shut), "closed"},
		{net.ErrClosed, "closed"},
		{errors.New("anything else"), "other"},
	} {
		if got := Class(c.err); got != c.want {
			t.Errorf("class %q of %v, want %q", got, c.err, c.want)
		}
		if c.want != "" && !slices.Contains(Classes, c.want) {
			t.Errorf("%q is not in Classes", c.want)
		}
	}
	for _, r := range replies {
		if !slices.Contains(Classes, r.class) {
			t.Errorf("%q is not in Classes", r.class)
		}
	}
}

func takeError(r *Redis) error {
	_, err := r.Take(context.Background(), Take{Challenged: -1})
	return err
}
