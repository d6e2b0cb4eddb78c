package handlers

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"loginguard/guard"
	"loginguard/keys"
	"loginguard/netprefix"
)

// The questions as the proxies send them, byte for byte, for a POST of a login
// form; of the guard's address only path and key are put in.
const (
	nginxSends = "GET /v1/forward-auth/nginx HTTP/1.1\r\nX-Forwarded-For: 198.51.100.7\r\nX-Original-Method: POST\r\n" +
		"X-Original-URI: /login\r\nX-API-Key: " + idpKey + "\r\nHost: guard\r\nUser-Agent: curl/7.88.1\r\nAccept: */*\r\n" +
		"X-Login: alice\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n"
	caddySends = "GET /v1/forward-auth/plain HTTP/1.1\r\nHost: 127.0.0.1:19082\r\nUser-Agent: curl/7.88.1\r\nAccept: */*\r\n" +
		"Content-Type: application/x-www-form-urlencoded\r\nX-Forwarded-For: 198.51.100.7\r\nX-Forwarded-Host: 127.0.0.1:19082\r\n" +
		"X-Forwarded-Method: POST\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Uri: /login\r\nX-API-Key: " + idpKey + "\r\n" +
		"X-Login: alice\r\nAccept-Encoding: gzip\r\n\r\n"
	traefikSends = "GET /v1/forward-auth/plain HTTP/1.1\r\nHost: 127.0.0.1:19002\r\nUser-Agent: curl/7.88.1\r\nAccept: */*\r\n" +
		"Content-Type: application/x-www-form-urlencoded\r\nX-API-Key: " + idpKey + "\r\nX-Forwarded-For: 198.51.100.7\r\n" +
		"X-Forwarded-Host: 127.0.0.1:19083\r\nX-Forwarded-Method: POST\r\nX-Forwarded-Port: 19083\r\nX-Forwarded-Proto: http\r\n" +
		"X-Forwarded-Server: vm\r\nX-Forwarded-Uri: /deny\r\nX-Login: alice\r\nX-Real-Ip: 198.51.100.7\r\nAccept-Encoding: gzip\r\n\r\n"
	traefikForwardsBody = "POST /v1/forward-auth/plain HTTP/1.1\r\nHost: 127.0.0.1:19002\r\nX-API-Key: " + idpKey + "\r\nX-Login: alice\r\n" +
		"X-Forwarded-For: 198.51.100.7\r\nTransfer-Encoding: chunked\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n" +
		"1b\r\nusername=alice&password=pw1\r\n0\r\n\r\n"

	// What nginx sends without proxy_pass_request_body off: a body that is
	// announced and never comes.
	nginxNaive = "GET /v1/forward-auth/nginx HTTP/1.0\r\nHost: guard\r\nConnection: close\r\nX-Forwarded-For: 198.51.100.7\r\n" +
		"X-API-Key: " + idpKey + "\r\nX-Login: alice\r\nContent-Length: 27\r\n\r\n"
	nginxNaiveKept = "GET /v1/forward-auth/nginx HTTP/1.1\r\nHost: guard\r\nX-Forwarded-For: 198.51.100.7\r\n" +
		"X-API-Key: " + idpKey + "\r\nX-Login: alice\r\nContent-Length: 27\r\n\r\n"
	chunksThatNeverCome = "POST /v1/forward-auth/envoy/login?next=/ HTTP/1.1\r\nHost: guard\r\nX-Forwarded-For: 198.51.100.7\r\n" +
		"X-API-Key: " + idpKey + "\r\nX-Login: alice\r\nTransfer-Encoding: chunked\r\n\r\n"
)

// onWire serves a bench on a socket.
func onWire(t *testing.T, b *bench) net.Addr {
	t.Helper()
	s := httptest.NewServer(b.API())
	t.Cleanup(s.Close)
	return s.Listener.Addr()
}

// sendRaw sends bytes and reads one answer. The connection stays open for
// sending, as that of a proxy does which waits for the answer.
func sendRaw(t *testing.T, to net.Addr, bytes string) (*http.Response, string) {
	t.Helper()
	c, err := net.Dial(to.Network(), to.String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	// An answer that waits for a body never comes; ten seconds tell.
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, bytes); err != nil {
		t.Fatal(err)
	}
	p, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	body, err := io.ReadAll(p.Body)
	if err != nil {
		t.Fatalf("half an answer: %v", err)
	}
	return p, string(body)
}

func TestQuestionsOfRealProxiesAreAnsweredAtOnce(t *testing.T) {
	for name, bytes := range map[string]string{
		"nginx": nginxSends, "Caddy": caddySends, "Traefik": traefikSends, "Traefik with body": traefikForwardsBody,
		"nginx, body missing": nginxNaive, "nginx, body missing, kept alive": nginxNaiveKept, "chunks missing": chunksThatNeverCome,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(c *Config, f *fakeEngine) {
				c.ForwardAuth = ForwardAuth{AccountHeader: "x-login", Reports: true}
				f.rules.Clients, _ = netprefix.NewResolver(netprefix.ResolverConfig{Hops: 1, Trusted: []string{"127.0.0.1"}})
				f.rules.Names, _ = keys.NewCanonicaliser(nil)
			})
			to := onWire(t, b)
			p, body := sendRaw(t, to, bytes)
			if p.StatusCode != 200 || body != "" || p.Header.Get("X-Loginguard-Attempt") != "att-1" {
				t.Fatalf("answered %d %v: %s", p.StatusCode, p.Header, body)
			}
			q := b.engine.asked[0]
			if q.Account != "alice" || q.Forwarded.Peer != "127.0.0.1" || strings.Join(q.Forwarded.Lines, "|") != "198.51.100.7" {
				t.Errorf("asked about %q at %+v", q.Account, q.Forwarded)
			}
			// Nor does what is refused before it is looked at.
			if p, _ := sendRaw(t, to, strings.Replace(bytes, idpKey, "guess", 1)); p.StatusCode != 401 && p.StatusCode != 403 {
				t.Errorf("a wrong key is answered %d", p.StatusCode)
			}
			b.engine.decision = accountDenial()
			if p, body := sendRaw(t, to, bytes); p.StatusCode != 429 && p.StatusCode != 403 || !strings.Contains(body, `"decision":"deny"`) {
				t.Errorf("a denial is answered %d: %s", p.StatusCode, body)
			}
		})
	}
}

func TestEveryLineOfTheForwardingHeaderIsHandedOn(t *testing.T) {
	b := newBench(t, withForwardAuth(false))
	r := ask("plain")
	r.Header["X-Forwarded-For"] = []string{"6.6.6.6", "203.0.113.9"}
	r.Header.Set("Forwarded", "for=7.7.7.7")
	serve(b.API(), r)
	want := guard.Forwarded{Peer: "192.0.2.1", Header: "x-forwarded-for", Lines: []string{"6.6.6.6", "203.0.113.9"}}
	if got := b.engine.asked[0].Forwarded; strings.Join(got.Lines, "|") != strings.Join(want.Lines, "|") || got.Header != want.Header || got.Peer != want.Peer {
		t.Errorf("asked about %+v, want %+v", *got, want)
	}
}
