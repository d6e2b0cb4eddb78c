package proxy

import (
	"bytes"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// fault is what the network does to what passes.
type fault struct {
	hole  bool          // swallow everything, both ways
	delay time.Duration // of every reply
	cut   int           // bytes of a reply after which the connection is reset, 0 for never
	of    []string      // only to connections that began with one of these words, nil for all
}

// openingSize is how much of what a client sends first is kept, to tell from it
// who it is.
const openingSize = 1 << 10

// link is a connection through the proxy.
type link struct {
	client, server net.Conn

	dead atomic.Bool // in a black hole: whatever is sent is lost, until it ends

	mu      sync.Mutex
	opening []byte // what the client sent first, at most openingSize
}

// note keeps what a client sends, as long as it is the opening.
func (l *link) note(data []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.opening = append(l.opening, data[:min(len(data), openingSize-len(l.opening))]...)
}

// is reports whether the client began with one of the words, or whether none
// are asked for.
func (l *link) is(words []string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range words {
		if bytes.Contains(l.opening, []byte(w)) {
			return true
		}
	}
	return len(words) == 0
}

// Proxy forwards connections to one server.
type Proxy struct {
	Addr string

	target   atomic.Pointer[string]
	listener net.Listener
	fault    atomic.Pointer[fault]
	healed   atomic.Pointer[chan struct{}] // closed when a black hole ends

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
	done   sync.WaitGroup
}

// Start returns a proxy to target that does no harm yet. It is closed with the
// test.
func Start(t testing.TB, target string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Addr: l.Addr().String(), listener: l, conns: make(map[net.Conn]struct{})}
	p.Retarget(target)
	p.Heal()
	p.done.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

// Heal ends every fault. What a black hole swallowed is lost: its connections
// are reset, as a network that comes back finds them dead at one end.
func (p *Proxy) Heal() {
	// In this order: whoever sees the new channel sees the end of the fault.
	p.fault.Store(&fault{})
	healed := make(chan struct{})
	if old := p.healed.Swap(&healed); old != nil {
		close(*old)
	}
}

// Blackhole swallows all that passes: connections can be made, and nothing
// ever comes back on them.
func (p *Proxy) Blackhole() { p.fault.Store(&fault{hole: true}) }

// BlackholeOf is Blackhole for those connections only on which one of the words
// was among the first things that the client sent: "REPLCONF" is a replica of
// the server, "sentinel-" a sentinel. All others pass.
func (p *Proxy) BlackholeOf(words ...string) { p.fault.Store(&fault{hole: true, of: words}) }

// Delay holds every reply back for so long.
func (p *Proxy) Delay(d time.Duration) { p.fault.Store(&fault{delay: d}) }

// Cut resets a connection after so many bytes of a reply, at least 1: the
// command was executed, its answer is lost.
func (p *Proxy) Cut(bytes int) { p.fault.Store(&fault{cut: bytes}) }

// Reset resets all connections that are open now.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		reset(c)
	}
}

// Retarget sends connections that are made from now on to another server, as a
// name or a floating address does after a failover. Open ones stay where they
// are.
func (p *Proxy) Retarget(target string) { p.target.Store(&target) }

// Open returns how many connections are open to the proxy.
func (p *Proxy) Open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns) / 2
}

// reset closes a connection without a farewell.
func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		server, err := net.Dial("tcp", *p.target.Load())
		if err != nil {
			reset(client)
			continue
		}
		if !p.add(client, server) {
			return
		}
		l := &link{client: client, server: server}
		p.done.Go(func() { p.forward(l, false) })
		p.done.Go(func() { p.forward(l, true) })
	}
}

// add takes note of a pair of connections, unless the proxy is closed.
func (p *Proxy) add(pair ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range pair {
		if p.closed {
			reset(c)
			continue
		}
		p.conns[c] = struct{}{}
	}
	return !p.closed
}

// forward copies one direction until it ends, then ends the other, too.
func (p *Proxy) forward(l *link, replies bool) {
	to, from := l.server, l.client
	if replies {
		to, from = from, to
	}
	defer func() {
		reset(to)
		reset(from)
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, to)
		delete(p.conns, from)
	}()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && !replies {
			l.note(buffer[:n])
		}
		if n > 0 && !p.pass(l, to, buffer[:n], replies) {
			return
		}
		if err != nil {
			return
		}
	}
}

// errCut ends a connection whose reply was cut.
var errCut = errors.New("cut")

// pass hands on what was read, as the fault of the moment lets it.
func (p *Proxy) pass(l *link, to net.Conn, data []byte, reply bool) bool {
	healed := *p.healed.Load()
	f := p.fault.Load()
	var err error
	switch {
	case l.dead.Load():
		return true // read on, or nobody would see that an end has closed it
	case f.hole && l.is(f.of):
		if l.dead.CompareAndSwap(false, true) {
			p.done.Go(func() {
				<-healed
				reset(l.client)
				reset(l.server)
			})
		}
		return true
	case !reply:
		_, err = to.Write(data)
	case f.cut > 0:
		_, _ = to.Write(data[:min(f.cut, len(data))])
		err = errCut
	case f.delay > 0:
		select {
		case <-time.After(f.delay):
		case <-healed:
		}
		_, err = to.Write(data)
	default:
		_, err = to.Write(data)
	}
	return err == nil
}

func (p *Proxy) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.Heal()
	p.Reset()
	p.done.Wait()
}
