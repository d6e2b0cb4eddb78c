package handlers

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loginguard/guard"
)

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

func TestCallerKeys(t *testing.T) {
	for _, tt := range []struct {
		name    string
		headers map[string][]string
		want    string // name of the caller, "" for 401
	}{
		{"none", nil, ""},
		{"bearer", map[string][]string{"Authorization": {"Bearer " + idpKey}}, "idp"},
		{"scheme in capitals", map[string][]string{"Authorization": {"BEARER " + idpKey}}, "idp"},
		{"more blanks", map[string][]string{"Authorization": {"Bearer   " + idpKey}}, "idp"},
		{"basic", map[string][]string{"Authorization": {basic("anybody", idpKey)}}, "idp"},
		{"basic without user", map[string][]string{"Authorization": {basic("", adminKey)}}, "boss"},
		{"header of its own", map[string][]string{"X-Api-Key": {adminKey}}, "boss"},
		{"the same key twice", map[string][]string{"X-Api-Key": {idpKey}, "Authorization": {basic("x", idpKey)}}, "idp"},
		{"two keys", map[string][]string{"X-Api-Key": {idpKey}, "Authorization": {"Bearer " + adminKey}}, ""},
		{"right and wrong key", map[string][]string{"X-Api-Key": {idpKey}, "Authorization": {"Bearer nope"}}, ""},
		{"right key, broken line", map[string][]string{"X-Api-Key": {idpKey}, "Authorization": {"Digest x"}}, ""},
		{"two lines", map[string][]string{"Authorization": {"Bearer " + idpKey, "Bearer " + adminKey}}, ""},
		{"wrong key", map[string][]string{"Authorization": {"Bearer nope"}}, ""},
		{"key and more", map[string][]string{"Authorization": {"Bearer " + idpKey + "x"}}, ""},
		{"beginning of a key", map[string][]string{"Authorization": {"Bearer " + idpKey[:8]}}, ""},
		{"empty key", map[string][]string{"Authorization": {"Bearer "}}, ""},
		{"empty header", map[string][]string{"X-Api-Key": {""}}, ""},
		{"key as user", map[string][]string{"Authorization": {basic(idpKey, "")}}, ""},
		{"no colon", map[string][]string{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(idpKey))}}, ""},
		{"broken base64", map[string][]string{"Authorization": {"Basic !!!"}}, ""},
		{"key without scheme", map[string][]string{"Authorization": {idpKey}}, ""},
		{"name of the caller", map[string][]string{"X-Api-Key": {"idp"}}, ""},
		{"hash of the key", map[string][]string{"X-Api-Key": {sumOf(idpKey)}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			r := post("/v1/check", goodCheck, "Authorization", "")
			for n, v := range tt.headers {
				r.Header[n] = v
			}
			w := serve(b.API(), r)
			if tt.want == "" {
				if w.Code != 401 || w.Header().Get("WWW-Authenticate") != `Bearer realm="loginguard"` || b.engine.calls() != 0 {
					t.Errorf("got %s, asked %d times", dump(w), b.engine.calls())
				}
				return
			}
			if w.Code != 200 || b.engine.callers[0].Name != tt.want {
				t.Errorf("got %d, callers %v, want %s", w.Code, b.engine.callers, tt.want)
			}
		})
	}
}

func sumOf(s string) string {
	h := sha256.Sum256([]byte(s))
	return string(h[:])
}

func TestNobodyIsServedWithoutCallersUnlessLoopbackSaysSo(t *testing.T) {
	b := newBench(t, func(c *Config, _ *fakeEngine) { c.Callers = nil })
	for _, r := range []*http.Request{post("/v1/check", goodCheck), local(post("/v1/check", goodCheck)), local(post("/v1/check", goodCheck, "Authorization", ""))} {
		if w := serve(b.API(), r); w.Code != 401 {
			t.Errorf("got %d", w.Code)
		}
	}
}

func TestClientCertificates(t *testing.T) {
	verified := func(name string) *tls.ConnectionState {
		leaf := &x509.Certificate{Subject: pkix.Name{CommonName: name}}
		return &tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf}, VerifiedChains: [][]*x509.Certificate{{leaf}}}
	}
	unverified := verified("idp")
	unverified.VerifiedChains = nil
	for _, tt := range []struct {
		name, key string
		tls       *tls.ConnectionState
		want      string
	}{
		{"certificate of a caller", "", verified("idp"), "idp"},
		{"certificate of nobody", "", verified("stranger"), ""},
		{"certificate without a name", "", verified(""), ""},
		{"certificate that was not verified", "", unverified, ""},
		{"certificate and key of the same caller", idpKey, verified("idp"), "idp"},
		{"certificate of the transport, key of a caller", idpKey, verified("stranger"), "idp"},
		{"certificate and key of two callers", adminKey, verified("idp"), ""},
		{"certificate and a wrong key", "nope", verified("idp"), ""},
	} {
		b := newBench(t)
		r := post("/v1/check", goodCheck, "Authorization", "", "X-API-Key", tt.key)
		r.TLS = tt.tls
		w := serve(b.API(), r)
		switch {
		case tt.want == "" && w.Code != 401:
			t.Errorf("%s: got %d", tt.name, w.Code)
		case tt.want != "" && (w.Code != 200 || b.engine.callers[0].Name != tt.want):
			t.Errorf("%s: got %d, %v", tt.name, w.Code, b.engine.callers)
		}
	}
}

func TestRoles(t *testing.T) {
	b := newBench(t)
	for _, tt := range []struct {
		path, body      string
		check, admin    int
		adminOnNoListen int
	}{
		{"/v1/check", goodCheck, 200, 200, 404},
		{"/v1/explain", goodCheck, 403, 200, 200},
		{"/v1/forget", `{"account":"alice"}`, 403, 200, 200},
	} {
		if w := serve(b.API(), post(tt.path, tt.body)); w.Code != tt.check {
			t.Errorf("%s as check: %d", tt.path, w.Code)
		}
		if w := serve(b.API(), asAdmin(tt.path, tt.body)); w.Code != tt.admin {
			t.Errorf("%s as admin: %d", tt.path, w.Code)
		}
		if w := serve(b.Admin(), asAdmin(tt.path, tt.body)); w.Code != tt.adminOnNoListen {
			t.Errorf("%s on the admin listener: %d", tt.path, w.Code)
		}
	}
}

func TestRoleIsAskedBeforeTheBody(t *testing.T) {
	b := newBench(t)
	if w := serve(b.API(), post("/v1/forget", "{{{", "Content-Type", "text/plain")); w.Code != 403 {
		t.Errorf("got %d, want 403", w.Code)
	}
	if w := serve(b.API(), post("/v1/check", "{{{", "Authorization", "")); w.Code != 401 {
		t.Errorf("got %d, want 401", w.Code)
	}
}

func TestLoopbackServesThisMachineAsAdminOfAllRealms(t *testing.T) {
	b := newBench(t, loopback)
	w := serve(b.API(), local(post("/v1/explain", `{"account":"alice","ip":"203.0.113.9","realm":"other"}`, "Authorization", "")))
	if w.Code != 200 {
		t.Fatalf("got %s", dump(w))
	}
	want := guard.Caller{Name: "loopback", Realms: []string{"default", "shop", "other"}, Admin: true}
	if diff := cmp.Diff(want, b.engine.callers[0]); diff != "" {
		t.Errorf("caller (-want +got):\n%s", diff)
	}
}

// What this machine is, and what only looks like it.
var localTests = []struct {
	name, peer, host, origin string
	ok                       bool
}{
	{"IPv4", "127.0.0.1:1", "127.0.0.1:8080", "", true},
	{"all of 127/8", "127.9.9.9:1", "127.3.2.1", "", true},
	{"IPv6", "[::1]:1", "[::1]:8080", "", true},
	{"IPv6 without port", "[::1]:1", "[::1]", "", true},
	{"mapped", "[::ffff:127.0.0.1]:1", "localhost", "", true},
	{"name in capitals", "127.0.0.1:1", "LocalHost:8080", "", true},
	{"page of this machine", "127.0.0.1:1", "localhost:8080", "http://localhost:3000", true},
	{"peer from elsewhere", "203.0.113.9:1", "localhost:8080", "", false},
	{"private peer", "10.0.0.1:1", "127.0.0.1:8080", "", false},
	{"no peer", "@", "127.0.0.1:8080", "", false},
	{"rebound name", "127.0.0.1:1", "evil.example:8080", "", false},
	{"name that begins like it", "127.0.0.1:1", "localhost.evil.example", "", false},
	{"name that ends like it", "127.0.0.1:1", "evil-localhost", "", false},
	{"address in a name", "127.0.0.1:1", "127.0.0.1.nip.io", "", false},
	{"every address", "127.0.0.1:1", "0.0.0.0:8080", "", false},
	{"no port after the colon", "127.0.0.1:1", "localhost:x", "", false},
	{"user in the host", "127.0.0.1:1", "localhost:80@evil.example", "", false},
	{"empty host", "127.0.0.1:1", "", "", false},
	{"page from elsewhere", "127.0.0.1:1", "localhost:8080", "https://evil.example", false},
	{"page from a file", "127.0.0.1:1", "localhost:8080", "null", false},
	{"page of an extension", "127.0.0.1:1", "localhost:8080", "chrome-extension://localhost", false},
}

func TestLoopbackRefusesWhatIsNotThisMachine(t *testing.T) {
	b := newBench(t, loopback)
	for _, tt := range localTests {
		for _, path := range []string{"/v1/check", "/nowhere"} {
			r := post(path, goodCheck, "Authorization", "", "Origin", tt.origin)
			r.RemoteAddr, r.Host = tt.peer, tt.host
			want := map[string]int{"/v1/check": 200, "/nowhere": 404}[path]
			if !tt.ok {
				want = 403
			}
			if w := serve(b.API(), r); w.Code != want {
				t.Errorf("%s %s: got %d, want %d", tt.name, path, w.Code, want)
			}
		}
	}
}

func TestOperatorsOnTheAdminListener(t *testing.T) {
	forget := func(key string) *http.Request {
		return post("/v1/forget", `{"account":"alice"}`, "Authorization", "", "X-API-Key", key)
	}
	for _, keyless := range []bool{false, true} {
		b := newBench(t, func(c *Config, f *fakeEngine) {
			if keyless {
				loopback(c, f)
			}
		})
		for _, tt := range []struct {
			name          string
			r             *http.Request
			keys, without int // status with callers and without any
		}{
			{"at this machine", local(forget("")), 200, 200},
			{"at this machine, admin key", local(forget(adminKey)), 200, 200},
			{"at this machine, wrong key", local(forget("nope")), 401, 200},
			{"at this machine, key of a check", local(forget(idpKey)), 403, 200},
			{"off loopback, no key", forget(""), 401, 403},
			{"off loopback, admin key", forget(adminKey), 200, 403},
			{"off loopback, key of a check", forget(idpKey), 403, 403},
		} {
			want := tt.keys
			if keyless {
				want = tt.without
			}
			if w := serve(b.Admin(), tt.r); w.Code != want {
				t.Errorf("keyless %v, %s: got %d, want %d", keyless, tt.name, w.Code, want)
			}
		}
		for _, tt := range localTests {
			r := local(with(forget(""), "Origin", tt.origin))
			r.RemoteAddr, r.Host = tt.peer, tt.host
			if got := serve(b.Admin(), r).Code == 200; got != tt.ok {
				t.Errorf("keyless %v, %s: served %v, want %v", keyless, tt.name, got, tt.ok)
			}
		}
	}
}

func TestLoopbackRefusesWhatAProxyHandedOn(t *testing.T) {
	b := newBench(t, loopback)
	for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Forwarded", "Via"} {
		r := local(post("/v1/forget", `{"account":"alice"}`, "Authorization", "", name, "203.0.113.9"))
		if w := serve(b.API(), r); w.Code != 403 || !strings.Contains(w.Body.String(), "configure callers") {
			t.Errorf("%s: status %d: %s", name, w.Code, w.Body)
		}
	}
}

func TestAProxyAtThisMachineIsNoOperator(t *testing.T) {
	for want, b := range map[int]*bench{403: newBench(t, loopback), 401: newBench(t)} {
		for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Forwarded", "Via"} {
			r := local(post("/v1/forget", `{"account":"alice"}`, "Authorization", "", name, "203.0.113.9"))
			if w := serve(b.Admin(), r); w.Code != want {
				t.Errorf("%s: status %d, want %d: %s", name, w.Code, want, w.Body)
			}
		}
	}
}

func TestAListenerOffLoopbackIsNoneOfThisMachine(t *testing.T) {
	b := newBench(t)
	srv := httptest.NewServer(b.Admin())
	defer srv.Close()
	// The server of the test listens on loopback, so that a real connection
	// to it needs no key.
	resp, err := http.Post(srv.URL+"/v1/forget", "application/json", strings.NewReader(`{"account":"alice"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Errorf("over loopback: %s", resp.Status)
	}
	r := post("/v1/forget", `{"account":"alice"}`, "Authorization", "")
	r.RemoteAddr, r.Host = "127.0.0.1:1", "localhost" // but accepted who knows where
	if w := serve(b.Admin(), r); w.Code != 401 {
		t.Errorf("unknown listener: %d", w.Code)
	}
}
