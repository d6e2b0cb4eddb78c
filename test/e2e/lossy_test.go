package e2e

import (
	"bytes"
	"io"
	"net"
	"sync/atomic"
	"testing"
)

// lossy stands between a service and its Redis and can lose a reply: the
// script was executed, and the connection breaks before anybody hears of it.
type lossy struct {
	target string
	lose   atomic.Int32 // replies to scripts still to be lost
}

// newLossy returns one in front of target, and its address. It ends with the
// test.
func newLossy(t *testing.T, target string) (*lossy, string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	l := &lossy{target: target}
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return // closed
			}
			go l.serve(c)
		}
	}()
	return l, listener.Addr().String()
}

// serve passes one connection on, both ways, until either side ends it.
func (l *lossy) serve(c net.Conn) {
	defer c.Close()
	r, err := net.Dial("tcp", l.target)
	if err != nil {
		return
	}
	defer r.Close()
	var script atomic.Bool // the last request was a script
	go func() {
		defer r.Close()
		defer c.Close()
		pass(r, c, func(b []byte) bool {
			script.Store(bytes.Contains(bytes.ToLower(b), []byte("evalsha")))
			return true
		})
	}()
	pass(c, r, func([]byte) bool { return !script.Load() || l.lose.Add(-1) < 0 })
}

// pass copies what comes from one side to the other as long as keep says so.
func pass(to io.Writer, from io.Reader, keep func([]byte) bool) {
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		if n > 0 {
			if !keep(b[:n]) {
				return
			}
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
