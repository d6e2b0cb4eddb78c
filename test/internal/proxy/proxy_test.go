package proxy

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// echo is a server that sends back what it gets.
func echo(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(c, c)
				_ = c.Close()
			}()
		}
	}()
	return l.Addr().String()
}

// say sends a word and returns what comes back of it within a while.
func say(t *testing.T, c net.Conn, within time.Duration) (string, error) {
	t.Helper()
	if err := c.SetDeadline(time.Now().Add(within)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte("word")); err != nil {
		return "", err
	}
	b := make([]byte, 4)
	n, err := io.ReadFull(c, b)
	return string(b[:n]), err
}

func dial(t *testing.T, p *Proxy) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", p.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestFaults: each fault shows on an open connection, and none is left after
// Heal.
func TestFaults(t *testing.T) {
	p := Start(t, echo(t))
	for name, f := range map[string]struct {
		do   func()
		want func(string, error) bool
	}{
		"black hole": {p.Blackhole, func(s string, err error) bool { return s == "" && errors.Is(err, os.ErrDeadlineExceeded) }},
		"delay":      {func() { p.Delay(time.Minute) }, func(s string, err error) bool { return s == "" && errors.Is(err, os.ErrDeadlineExceeded) }},
		"cut": {func() { p.Cut(2) }, func(s string, err error) bool {
			return len(s) <= 2 && err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
		}},
		"reset": {p.Reset, func(s string, err error) bool {
			return s == "" && err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
		}},
	} {
		c := dial(t, p)
		if s, err := say(t, c, 10*time.Second); s != "word" || err != nil {
			t.Fatalf("before %s: %q, %v", name, s, err)
		}
		f.do()
		if s, err := say(t, c, 100*time.Millisecond); !f.want(s, err) {
			t.Errorf("%s: %q, %v", name, s, err)
		}
		p.Heal()
		if s, err := say(t, dial(t, p), 10*time.Second); s != "word" || err != nil {
			t.Errorf("after %s: %q, %v", name, s, err)
		}
	}
}

// TestRetarget: open connections stay, new ones go elsewhere.
func TestRetarget(t *testing.T) {
	p := Start(t, echo(t))
	old := dial(t, p)
	if s, err := say(t, old, 10*time.Second); s != "word" || err != nil {
		t.Fatalf("%q, %v", s, err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p.Retarget(l.Addr().String())
	fresh := dial(t, p)
	there, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close()
	if _, err := fresh.Write([]byte("word")); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4)
	if _, err := io.ReadFull(there, b); err != nil || string(b) != "word" {
		t.Errorf("%q, %v", b, err)
	}
	if s, err := say(t, old, 10*time.Second); s != "word" || err != nil {
		t.Errorf("the open connection: %q, %v", s, err)
	}
}

// TestBlackholeOf swallows what comes from those who began with a word, also
// over connections that were made before.
func TestBlackholeOf(t *testing.T) {
	p := Start(t, echo(t))
	c := dial(t, p)
	if got, err := say(t, c, 5*time.Second); got != "word" {
		t.Fatalf("%q, %v", got, err)
	}
	p.BlackholeOf("else")
	if got, err := say(t, c, 5*time.Second); got != "word" {
		t.Errorf("a client who did not say it: %q, %v", got, err)
	}
	p.BlackholeOf("else", "wor")
	if got, err := say(t, c, 100*time.Millisecond); got != "" || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a client who said it: %q, %v", got, err)
	}
	p.Heal()
	if got, err := say(t, dial(t, p), 5*time.Second); got != "word" {
		t.Errorf("after Heal: %q, %v", got, err)
	}
}
