package config

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
)

// maxPEM bounds a file with keys or certificates, in bytes; all authorities of
// a system together take a quarter.
const maxPEM = 1 << 20

// Server returns how the API speaks TLS, nil for not at all. A client
// certificate is asked for and verified where an authority is named, and not
// required: a caller may show its key instead.
func (c APITLS) Server() (*tls.Config, error) {
	if c.Cert == "" {
		return nil, nil
	}
	pair, err := keyPair(c.Cert, c.Key)
	if err != nil {
		return nil, fmt.Errorf("server.api.tls: %w", err)
	}
	settings := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if c.ClientCA != "" {
		if settings.ClientCAs, err = authorities(c.ClientCA); err != nil {
			return nil, fmt.Errorf("server.api.tls.client_ca: %w", err)
		}
		settings.ClientAuth = tls.VerifyClientCertIfGiven
	}
	return settings, nil
}

// Server returns how the front speaks TLS, nil for not at all. Browsers get
// HTTP/2 where they can.
func (c TLS) Server() (*tls.Config, error) {
	if c.Cert == "" {
		return nil, nil
	}
	pair, err := keyPair(c.Cert, c.Key)
	if err != nil {
		return nil, fmt.Errorf("server.front.tls: %w", err)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
	}, nil
}

// keyPair reads a certificate and its key, and sees that they belong together.
func keyPair(cert, key string) (tls.Certificate, error) {
	certPEM, err := readBounded(cert, maxPEM)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("%s cannot be read: %w", quote(cert), reason(err))
	}
	keyPEM, err := readBounded(key, maxPEM)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("%s cannot be read: %w", quote(key), reason(err))
	}
	return tls.X509KeyPair(certPEM, keyPEM)
}

// authorities reads a PEM file with at least one certificate.
func authorities(file string) (*x509.CertPool, error) {
	pem, err := readBounded(file, maxPEM)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", quote(file), reason(err))
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errors.New(quote(file) + " contains no certificate in PEM form")
	}
	return pool, nil
}

// validateTLS wants both files of a pair, and that they belong together.
func (r *report) validateTLS(path, cert, key string) {
	switch {
	case cert == "" && key == "":
		return
	case cert == "":
		r.wrong(path+".cert", "is missing, though key is set")
		return
	case key == "":
		r.wrong(path+".key", "is missing, though cert is set")
		return
	}
	if _, err := keyPair(cert, key); err != nil {
		r.wrong(path+".cert", "the pair cannot be used: %v", err)
	}
}

// validateCA wants a file of authorities, if one is named.
func (r *report) validateCA(path, file string) {
	if file == "" {
		return
	}
	if _, err := authorities(file); err != nil {
		r.wrong(path, "%v", err)
	}
}
