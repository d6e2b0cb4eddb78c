package front

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The application is told the way of a request as far as it can be believed.
func TestForwardingHeaders(t *testing.T) {
	a := newApp(t)
	trusted := start(t, a.URL, behindProxy)
	two := start(t, a.URL, "client_address: {hops: 2, trusted_proxies: [127.0.0.1, 10.0.0.0/8]}\n")
	standard := start(t, a.URL, "client_address: {hops: 1, trusted_proxies: [127.0.0.1], header: forwarded}\n")
	direct := start(t, a.URL, "")
	type headers map[string]string
	for _, tt := range []struct {
		name string
		g    *guarded
		sent []string
		want headers
	}{
		{"direct", direct, []string{"X-Forwarded-For", "6.6.6.6", "X-Forwarded-Host", "evil", "X-Forwarded-Proto", "https", "X-Forwarded-Port", "1",
			"Forwarded", "for=6.6.6.6", "X-Real-Ip", "6.6.6.6", "X_Forwarded_For", "6.6.6.6", "X.Forwarded.For", "6.6.6.6", "True-Client-Ip", "6.6.6.6"},
			headers{"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Host": "app.example", "X-Forwarded-Proto": "http", "X-Forwarded-Port": "",
				"Forwarded": "", "X-Real-Ip": "", "X_forwarded_for": "", "X.forwarded.for": "", "True-Client-Ip": ""}},
		{"trusted", trusted, []string{"X-Forwarded-For", "203.0.113.9", "X-Forwarded-Host", "shop.example", "X-Forwarded-Proto", "https"},
			headers{"X-Forwarded-For": "203.0.113.9, 127.0.0.1", "X-Forwarded-Host": "shop.example", "X-Forwarded-Proto": "https"}},
		{"spoofed in front", trusted, []string{"X-Forwarded-For", "6.6.6.6, 203.0.113.9", "Forwarded", "for=6.6.6.6"},
			headers{"X-Forwarded-For": "203.0.113.9, 127.0.0.1", "Forwarded": ""}},
		{"other spelling", trusted, []string{"X-Forwarded-For", "203.0.113.9", "X_Forwarded_For", "6.6.6.6"},
			headers{"X-Forwarded-For": "203.0.113.9, 127.0.0.1", "X_forwarded_for": ""}},
		{"two lines", trusted, []string{"X-Forwarded-For", "6.6.6.6", "X-Forwarded-For", "203.0.113.9:4711"},
			headers{"X-Forwarded-For": "203.0.113.9, 127.0.0.1"}},
		{"named by Connection", trusted, []string{"X-Forwarded-For", "203.0.113.9", "Connection", "X-Forwarded-For"},
			headers{"X-Forwarded-For": "203.0.113.9, 127.0.0.1"}},
		{"unknown", trusted, []string{"X-Forwarded-For", "6.6.6.6, unknown"}, headers{"X-Forwarded-For": "127.0.0.1"}},
		{"two hops", two, []string{"X-Forwarded-For", "6.6.6.6, 2001:db8::9, 10.0.0.3"}, headers{"X-Forwarded-For": "2001:db8::9, 10.0.0.3, 127.0.0.1"}},
		{"one of two hops", two, []string{"X-Forwarded-For", "6.6.6.6, 203.0.113.9"}, headers{"X-Forwarded-For": "203.0.113.9, 127.0.0.1"}},
		{"standard header", standard, []string{"Forwarded", `for=6.6.6.6, for="[2001:db8::9]:4711";by="a,b"`, "X-Forwarded-For", "6.6.6.6"},
			headers{"X-Forwarded-For": "2001:db8::9, 127.0.0.1", "Forwarded": `for="[2001:db8::9]", for=127.0.0.1;host="app.example";proto=http`}},
	} {
		if r := tt.g.do("GET", "/page", "", append([]string{"Host", "app.example"}, tt.sent...)...); r.Status != 200 {
			t.Errorf("%s: %d", tt.name, r.Status)
			continue
		}
		got, _ := a.last(t)
		for name, want := range tt.want {
			if values := strings.Join(got.Header[name], " | "); values != want {
				t.Errorf("%s: %s is %q, want %q", tt.name, name, values, want)
			}
		}
		if got.Host != "app.example" {
			t.Errorf("%s: the Host became %q", tt.name, got.Host)
		}
	}
}

// Addresses that a client makes up give it no fresh attempts.
func TestInventedAddressesBuyNoGuesses(t *testing.T) {
	a := newApp(t)
	g := start(t, a.URL, "")
	behind := start(t, a.URL, behindProxy)
	for i := range 40 {
		fake := fmt.Sprintf("20.0.%d.1", i)
		want := 401
		if i >= 30 {
			want = 429
		}
		if r := g.login(fmt.Sprintf("u%d", i), "wrong", "X-Forwarded-For", fake, "X-Real-Ip", fake, "Forwarded", "for="+fake); r.Status != want {
			t.Fatalf("direct, guess %d: %d", i+1, r.Status)
		}
		// The last element is the one that the trusted proxy wrote.
		if r := behind.login(fmt.Sprintf("u%d", i), "wrong", "X-Forwarded-For", fake+", 203.0.113.9"); r.Status != want {
			t.Fatalf("behind a proxy, guess %d: %d", i+1, r.Status)
		}
	}
}

// certificate makes a pair for this machine and returns its files and a pool
// that believes it.
func certificate(t *testing.T) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, b := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: raw}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return cert, key, pool
}

func TestHTTP2OverTLS(t *testing.T) {
	a := newApp(t)
	cert, key, pool := certificate(t)
	g := startWith(t, "server: {front: {listen: \"127.0.0.1:0\", tls: {cert: "+cert+", key: "+key+"}}}\nfront:\n  upstream: "+a.URL+rules)
	if !strings.HasPrefix(g.url, "https://") {
		t.Fatalf("announced as %s", g.url)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	g.http.Transport = transport
	res, err := g.http.Get(g.url + "/page")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.ProtoMajor != 2 {
		t.Errorf("spoken: %s", res.Proto)
	}
	if r, _ := a.last(t); r.Header.Get("X-Forwarded-Proto") != "https" {
		t.Errorf("the application hears of %q", r.Header.Get("X-Forwarded-Proto"))
	}
	before := a.guesses.Load()
	for i, path := range []string{"/login", "//login", "/LOGIN", "/l%6fgin", "/login;x", "/login/", "/login", "/login", "/login", "/login", "/login"} {
		want := 401
		if i == 10 {
			want = 429
		}
		if r := g.do("POST", path, "username=alice&password=wrong", "Content-Type", formType); r.Status != want {
			t.Errorf("%s: %d %s, want %d", path, r.Status, r.Body, want)
		}
	}
	if n := a.guesses.Load() - before; n != 10 {
		t.Errorf("%d guesses", n)
	}
	if r := g.login("bob", password); r.Status != 200 || r.device() == nil {
		t.Errorf("a sign-in: %d", r.Status)
	}
}
