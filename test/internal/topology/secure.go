package topology

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loginguard/test/internal/redisd"
)

// Secure is one server with TLS and a unix socket, whose user may do only what
// the service needs. The plain port is for the test itself.
type Secure struct {
	*redisd.Server
	CAFile string // that the server's certificate leads to

	port   int
	socket string
}

// User and Password are those of the service on a [Secure] server.
const (
	User     = "guard"
	Password = "guard-password"
)

// Rights is what an ACL line grants to that user, as the manual has it.
func Rights() []string {
	return strings.Fields("~lg:* resetchannels -@all +eval +evalsha +get +mget +set +psetex +del +exists +pttl +pexpire +time +pfadd +pfcount +info")
}

// ClusterRights are what that user needs on the nodes of a cluster: the map of
// it, and, while slots are moved, to follow them.
func ClusterRights() []string { return append(Rights(), "+cluster|slots", "+asking") }

// StartSecure starts the server and makes its user with the rights given.
func StartSecure(t testing.TB, rights []string) *Secure {
	t.Helper()
	dir := t.TempDir()
	ca := filepath.Join(dir, "ca.pem")
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certificate(t, cert, key, ca)
	s := &Secure{CAFile: ca, port: redisd.FreePort(t), socket: filepath.Join(dir, "redis.sock")}
	s.Server = redisd.Start(t, "--tls-port", fmt.Sprint(s.port), "--tls-cert-file", cert, "--tls-key-file", key,
		"--tls-ca-cert-file", ca, "--tls-auth-clients", "no", "--unixsocket", s.socket)
	s.Allow(rights)
	return s
}

// Allow gives the user these rights and no others.
func (s *Secure) Allow(rights []string) {
	s.Do(grant(User, Password, rights)...)
}

// TLSURL returns the store URL of the user over TLS.
func (s *Secure) TLSURL() string {
	return fmt.Sprintf("rediss://%s:%s@127.0.0.1:%d/0", User, Password, s.port)
}

// PlainURL returns the store URL of the user over plain TCP.
func (s *Secure) PlainURL() string { return fmt.Sprintf("redis://%s:%s@%s/0", User, Password, s.Addr) }

// SocketURL returns the store URL of the user over the unix socket.
func (s *Secure) SocketURL() string {
	return fmt.Sprintf("unix://%s:%s@%s", User, Password, s.socket)
}

// OtherCA writes a certificate of somebody else, and returns its path.
func OtherCA(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	ca := filepath.Join(dir, "ca.pem")
	certificate(t, filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), ca)
	return ca
}

// certificate makes a certificate for loopback that vouches for itself.
func certificate(t testing.TB, certFile, keyFile, caFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	for path, data := range map[string][]byte{
		certFile: public, caFile: public,
		keyFile: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
