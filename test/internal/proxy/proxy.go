package proxy

import (
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
		p.done.Go(func() { p.forward(server, client, false) })
		p.done.Go(func() { p.forward(client, server, true) })
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
func (p *Proxy) forward(to, from net.Conn, replies bool) {
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
		if n > 0 && !p.pass(to, buffer[:n], replies) {
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
func (p *Proxy) pass(to net.Conn, data []byte, reply bool) bool {
	healed := *p.healed.Load()
	f := p.fault.Load()
	var err error
	switch {
	case f.hole:
		<-healed
		return false
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
