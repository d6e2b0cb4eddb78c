package store

import (
	"context"
	"crypto/tls"
	"maps"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"
)

// dialer makes the connections of a [Redis] and knows those that are open, so
// that all of them can be dropped at once. The client library drops one at a
// time and only where the reply says plainly that the server is read-only: not
// where an older server wraps that in a script error, nor behind a name or an
// address that now leads to another server.
type dialer struct {
	net.Dialer
	tls *tls.Config // nil without TLS

	mu   sync.Mutex
	open map[*conn]struct{}
}

// conn is a connection that its dialer knows.
type conn struct {
	net.Conn
	of *dialer
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// SyscallConn lets the pool see, before it lends the connection, whether it was
// closed, by the server or here. What lies unread in a TLS connection may be a
// session ticket, so there only the latter is told.
func (c *conn) SyscallConn() (syscall.RawConn, error) {
	if s, ok := c.Conn.(syscall.Conn); ok {
		return s.SyscallConn()
	}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if _, ok := c.of.open[c]; !ok {
		return nil, net.ErrClosed
	}
	return unseen{}, nil
}

// unseen is a connection that cannot be looked at.
type unseen struct{}

func (unseen) Control(func(uintptr)) error    { return nil }
func (unseen) Read(func(uintptr) bool) error  { return nil }
func (unseen) Write(func(uintptr) bool) error { return nil }

// dial connects. It reports no error: the pool would count it, answer with it
// for a second each, and so be late by up to that when the server is back. The
// first use of what is returned then fails with the error of the dial.
func (d *dialer) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	inner, err := d.connect(ctx, network, addr)
	if err != nil {
		return &unconnected{err: err, network: network, addr: addr}, nil
	}
	c := &conn{Conn: inner, of: d}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open == nil {
		d.open = make(map[*conn]struct{})
	}
	d.open[c] = struct{}{}
	return c, nil
}

func (d *dialer) connect(ctx context.Context, network, addr string) (net.Conn, error) {
	if d.tls == nil {
		return d.DialContext(ctx, network, addr)
	}
	return (&tls.Dialer{NetDialer: &d.Dialer, Config: d.tls}).DialContext(ctx, network, addr)
}

// drop closes every connection. What is under way on one fails as a closed
// connection does: its outcome is not known.
func (d *dialer) drop() {
	for _, c := range d.list() {
		_ = c.Close()
	}
}

// list returns the connections that are open.
func (d *dialer) list() []*conn {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Keys(d.open))
}

// unconnected stands for a connection that could not be made.
type unconnected struct {
	err           error
	network, addr string
}

func (u *unconnected) Read([]byte) (int, error)         { return 0, u.err }
func (u *unconnected) Write([]byte) (int, error)        { return 0, u.err }
func (u *unconnected) Close() error                     { return nil }
func (u *unconnected) LocalAddr() net.Addr              { return name{u.network, ""} }
func (u *unconnected) RemoteAddr() net.Addr             { return name{u.network, u.addr} }
func (u *unconnected) SetDeadline(time.Time) error      { return nil }
func (u *unconnected) SetReadDeadline(time.Time) error  { return nil }
func (u *unconnected) SetWriteDeadline(time.Time) error { return nil }

// SyscallConn keeps the pool from lending it a second time.
func (u *unconnected) SyscallConn() (syscall.RawConn, error) { return nil, u.err }

// name is an address that was not resolved.
type name struct{ network, addr string }

func (n name) Network() string { return n.network }
func (n name) String() string  { return n.addr }
