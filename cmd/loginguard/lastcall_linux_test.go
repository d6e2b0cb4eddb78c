package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// queued is how many connections wait to be accepted in these tests.
const queued = 20

// TestLastCallLetsInWhoWaits: clients are connected and have sent a request,
// before anybody accepted them. When the listener is then closed all of them
// are reset; with a last call all are answered.
func TestLastCallLetsInWhoWaits(t *testing.T) {
	for _, c := range []struct {
		name   string
		before func(*testing.T, net.Listener)
		want   int
	}{
		{"closed at once", func(*testing.T, net.Listener) {}, 0},
		{"last call", func(t *testing.T, l net.Listener) {
			if err := lastCall(t.Context(), l); err != nil {
				t.Fatal(err)
			}
		}, queued},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := loopback(t)
			server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })}
			var conns []net.Conn
			for range queued {
				conns = append(conns, knock(t, l.Addr().String()))
			}
			if c.want > 0 {
				go func() { _ = server.Serve(l) }()
			}
			c.before(t, l)
			if err := errors.Join(l.Close(), server.Shutdown(t.Context())); err != nil && !errors.Is(err, net.ErrClosed) {
				t.Fatal(err)
			}
			answered := 0
			for _, conn := range conns {
				if r, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil && r.StatusCode == http.StatusNoContent {
					answered++
				} else if !errors.Is(err, syscall.ECONNRESET) {
					t.Errorf("%v, want an answer or a reset", err)
				}
			}
			if answered != c.want {
				t.Errorf("%d of %d requests were answered, want %d", answered, queued, c.want)
			}
		})
	}
}

// TestLastCallTurnsAwayNewcomers: who comes after it does not get a connection,
// and so loses no request; who was let in goes on.
func TestLastCallTurnsAwayNewcomers(t *testing.T) {
	l := loopback(t)
	before := knock(t, l.Addr().String())
	inside, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer inside.Close()
	waits := knock(t, l.Addr().String())
	done := make(chan error, 1)
	go func() { done <- lastCall(t.Context(), l) }()
	// It is in force when it has returned; it cannot while somebody waits.
	late, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if c, err := net.DialTimeout("tcp", l.Addr().String(), 300*time.Millisecond); err == nil {
		_ = c.Close()
		t.Error("a newcomer got a connection")
	}
	for _, pair := range [][2]net.Conn{{before, inside}, {waits, late}} {
		if _, err := fmt.Fprint(pair[1], "still here"); err != nil {
			t.Error(err)
		}
		got := make([]byte, 10)
		if _, err := pair[0].Read(got); err != nil || string(got) != "still here" {
			t.Errorf("%q, %v", got, err)
		}
	}
}

// TestLastCallEnds also when somebody waits all the time.
func TestLastCallEnds(t *testing.T) {
	l := loopback(t)
	knock(t, l.Addr().String())
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := lastCall(ctx, l); err != nil || ctx.Err() == nil {
		t.Errorf("returned with %v before the time was over", err)
	}
	if err := lastCall(t.Context(), struct{ net.Listener }{l}); err == nil {
		t.Error("what is no socket was taken for one")
	}
}

// TestDrainLosesNoNewConnection drains a service while clients, who neither
// probe it nor keep a connection, ask over new ones without a pause: every
// connection that they get is answered.
func TestDrainLosesNoNewConnection(t *testing.T) {
	for range 2 {
		s := start(t, "")
		addr := strings.TrimPrefix(s.api, "http://")
		var (
			all      sync.WaitGroup
			answered atomic.Int64
		)
		for range 8 {
			all.Go(func() {
				for {
					c, err := net.DialTimeout("tcp", addr, 10*time.Second)
					if errors.Is(err, syscall.ECONNREFUSED) {
						return // it is gone
					}
					if err != nil {
						t.Error(err)
						return
					}
					fmt.Fprintf(c, "GET /v1/limits HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
					r, err := http.ReadResponse(bufio.NewReader(c), nil)
					if err == nil {
						answered.Add(1)
						_ = r.Body.Close()
					} else {
						t.Errorf("a connection was made and not answered: %v", err)
					}
					_ = c.Close()
				}
			})
		}
		for end := time.Now().Add(patience); answered.Load() < 200 && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		s.stop()
		if code := s.wait(t); code != 0 {
			t.Errorf("exit status %d", code)
		}
		all.Wait()
		if answered.Load() < 200 {
			t.Errorf("%d were answered: nothing was tried", answered.Load())
		}
	}
}

// loopback listens, and accepts nobody by itself.
func loopback(t *testing.T) net.Listener {
	t.Helper()
	l, err := listenTCP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// knock connects and sends a request.
func knock(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return c
}
