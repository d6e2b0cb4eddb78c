package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/rs/zerolog"

	"loginguard/cmd/loginguard/config"
)

// listeners are the open sockets of a service.
type listeners struct {
	api, admin net.Listener
	front      net.Listener // nil where none is configured
	tls        bool         // the API speaks TLS
	frontTLS   bool

	apiCert, frontCert certificate

	apiSocket, frontSocket net.Listener // beneath TLS
}

// listen opens all sockets, or none.
func listen(c *config.Config) (*listeners, error) {
	settings, err := c.Server.API.TLS.Server()
	if err != nil {
		return nil, err
	}
	api, err := listenTCP(c.Server.API.Listen)
	if err != nil {
		return nil, fmt.Errorf("server.api.listen: %w", err)
	}
	admin, err := listenTCP(c.Server.Admin.Listen)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("server.admin.listen: %w", err), api.Close())
	}
	l := &listeners{api: api, admin: admin, apiSocket: api}
	if err := l.openFront(c.Server.Front); err != nil {
		return nil, errors.Join(err, api.Close(), admin.Close())
	}
	if settings != nil {
		l.apiCert.of(settings)
		l.api, l.tls = tls.NewListener(api, settings), true
	}
	return l, nil
}

// openFront opens the socket of the reverse proxy, if there is one.
func (l *listeners) openFront(c config.FrontListener) error {
	if c.Listen == "" {
		return nil
	}
	settings, err := c.TLS.Server()
	if err != nil {
		return err
	}
	if l.front, err = listenTCP(c.Listen); err != nil {
		return fmt.Errorf("server.front.listen: %w", err)
	}
	l.frontSocket = l.front
	if settings != nil {
		l.frontCert.of(settings)
		l.front, l.frontTLS = tls.NewListener(l.front, settings), true
	}
	return nil
}

// listenTCP listens without Multipath TCP, to whose sockets no filter can be
// attached, see lastCall.
func listenTCP(addr string) (net.Listener, error) {
	var c net.ListenConfig
	c.SetMultipathTCP(false)
	return c.Listen(context.Background(), "tcp", addr)
}

// newServer bounds what a slow or greedy client can hold: a check is one small
// request and one small answer.
func newServer(h http.Handler, log zerolog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       120 * time.Second,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          httpLog(log),
	}
}

// newFrontServer is [newServer] for what passes through to an application:
// uploads and streams may take as long as they move, and who does not move is
// found by the handler.
func newFrontServer(h http.Handler, log zerolog.Logger) *http.Server {
	s := newServer(h, log)
	s.ReadTimeout, s.WriteTimeout = 0, 0
	return s
}
