package main

import (
	"crypto/tls"
	"fmt"
	"sync/atomic"

	"loginguard/cmd/loginguard/config"
)

// certificate is what a listener shows to those who connect now. A renewed one
// is put in its place while the listener runs.
type certificate struct {
	now atomic.Pointer[tls.Certificate]
}

// of has the listener of settings ask c, which takes over their certificate.
func (c *certificate) of(settings *tls.Config) {
	c.now.Store(&settings.Certificates[0])
	settings.Certificates = nil
	settings.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.now.Load(), nil }
}

// renewed reads the certificates of the listeners again, and returns what puts
// them in place.
func (l *listeners) renewed(c config.Server) (put func(), err error) {
	var api, front *tls.Certificate
	if l.tls {
		if api, err = (config.TLS{Cert: c.API.TLS.Cert, Key: c.API.TLS.Key}).Certificate(); err != nil {
			return nil, fmt.Errorf("server.api.tls: %w", err)
		}
	}
	if l.frontTLS {
		if front, err = c.Front.TLS.Certificate(); err != nil {
			return nil, fmt.Errorf("server.front.tls: %w", err)
		}
	}
	return func() {
		if api != nil {
			l.apiCert.now.Store(api)
		}
		if front != nil {
			l.frontCert.now.Store(front)
		}
	}, nil
}
