package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"loginguard/cmd/loginguard/config"
)

// authority signs certificates for a test.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	pem  string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{key: newKey(t)}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign}
	a.cert, a.pem = a.sign(t, template, template, &a.key.PublicKey)
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (a *authority) sign(t *testing.T, template, parent *x509.Certificate, key *ecdsa.PublicKey) (*x509.Certificate, string) {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key, a.key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// issue returns a certificate for this machine, or a client of that name, and
// its key.
func (a *authority) issue(t *testing.T, name string) (cert, key string) {
	t.Helper()
	k := newKey(t)
	_, cert = a.sign(t, &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}, a.cert, &k.PublicKey)
	der, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return cert, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// client returns an HTTP client that believes a and shows that certificate.
func (a *authority) client(t *testing.T, cert, key string) *http.Client {
	t.Helper()
	c := &tls.Config{RootCAs: x509.NewCertPool()}
	c.RootCAs.AddCert(a.cert)
	if cert != "" {
		pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
		if err != nil {
			t.Fatal(err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	transport := &http.Transport{TLSClientConfig: c}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// Over TLS a caller shows its key or a certificate with its name; one of an
// authority that nobody named opens nothing.
func TestTLSAndClientCertificates(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	cert, key := ours.issue(t, "server")
	caller, secret, err := config.NewCaller("idp", nil, "")
	if err != nil {
		t.Fatal(err)
	}
	line, err := caller.Line()
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, "server: {api: {tls: {cert: "+write(t, "cert.pem", cert)+", key: "+write(t, "key.pem", key)+", client_ca: "+write(t, "ca.pem", ours.pem)+"}}}\n"+
		"callers:\n  "+line+"\n  - {name: mail}\n")
	if !strings.HasPrefix(s.api, "https://") || !strings.Contains(s.curl, "--cacert") {
		t.Errorf("announced as %s: %s", s.api, s.curl)
	}
	mailCert, mailKey := ours.issue(t, "mail")
	otherCert, otherKey := ours.issue(t, "other")
	for _, tt := range []struct {
		name, cert, certKey, key string
		want                     int
	}{
		{"nothing", "", "", "", 401},
		{"key", "", "", secret, 200},
		{"certificate", mailCert, mailKey, "", 200},
		{"certificate of no caller", otherCert, otherKey, "", 401},
	} {
		if status, _, body := post(t, ours.client(t, tt.cert, tt.certKey), s.api+"/v1/check", tt.key, check); status != tt.want {
			t.Errorf("%s: %d, want %d: %s", tt.name, status, tt.want, body)
		}
	}
	strangeCert, strangeKey := theirs.issue(t, "mail")
	if res, err := ours.client(t, strangeCert, strangeKey).Get(s.api + "/v1/limits"); err == nil {
		t.Errorf("a certificate of another authority got %s", res.Status)
	}
	// Nothing speaks clear text there.
	res, err := http.Get("http://" + strings.TrimPrefix(s.api, "https://") + "/v1/limits")
	if err == nil && res.StatusCode != 400 {
		t.Errorf("clear text got %s", res.Status)
	}
}

func TestServerBoundsItsClients(t *testing.T) {
	h := newServer(http.NotFoundHandler(), discard)
	if h.ReadHeaderTimeout != 5*time.Second || h.ReadTimeout != 15*time.Second || h.WriteTimeout != 30*time.Second ||
		h.IdleTimeout != 2*time.Minute || h.MaxHeaderBytes != 65536 || h.ErrorLog == nil {
		t.Errorf("%+v", h)
	}
}

func TestReachable(t *testing.T) {
	for _, tt := range []struct {
		ip   string
		want string
	}{{"127.0.0.1", "127.0.0.1:80"}, {"::1", "[::1]:80"}, {"0.0.0.0", "localhost:80"}, {"::", "localhost:80"}, {"192.0.2.1", "192.0.2.1:80"}} {
		if got := reachable(&net.TCPAddr{IP: net.ParseIP(tt.ip), Port: 80}); got != tt.want {
			t.Errorf("reachable(%s) = %s, want %s", tt.ip, got, tt.want)
		}
	}
}
