package front

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"loginguard/test/internal/service"
)

func TestMain(m *testing.M) { os.Exit(service.Main(m)) }

// rules guard every login of the application.
const rules = `
  device_cookie: __Host-device
  rules:
    - methods: [POST]
      path: /login
      route: login
      account: {form: username}
      success: {status: [200]}
      failure: {status: [401]}
    - methods: [POST]
      path: /api/login
      route: login
      account: {json: /username}
      success: {status: [200]}
      failure: {status: [401]}
    - methods: [POST]
      path: /redirecting
      route: login
      account: {form: "user[email]"}
      success: {status: [302], header: {name: Set-Cookie, contains: session=}}
      failure: {status: [302]}
    - methods: [GET]
      path: /basic
      route: login
      account: {basic: true}
      success: {status: [200]}
      failure: {status: [401]}
    - methods: [POST]
      path: /by-header
      route: login
      account: {header: X-Login}
      success: {status: [200]}
      failure: {status: [401]}
`

// behindProxy makes the test a trusted proxy, which says who the client is.
const behindProxy = "client_address: {hops: 1, trusted_proxies: [127.0.0.1]}\n"

// guarded is a front before an application.
type guarded struct {
	*service.Service
	url  string // of the front
	http *http.Client
	t    *testing.T
}

var listening = regexp.MustCompile(`(?m)^  front  (\S+)$`)

// start runs the program before an upstream, with more configuration in front.
func start(t *testing.T, upstream, more string) *guarded {
	t.Helper()
	return startWith(t, more+"server: {front: {listen: \"127.0.0.1:0\"}}\nfront:\n  upstream: "+upstream+rules)
}

// startWith runs the program with a configuration that has a front.
func startWith(t *testing.T, config string) *guarded {
	t.Helper()
	return startOn(t, "", config)
}

// startOn is startWith on a store.
func startOn(t *testing.T, store, config string) *guarded {
	t.Helper()
	s := service.Start(t, service.Options{Config: config, Redis: store})
	found := listening.FindStringSubmatch(s.Output())
	if found == nil {
		t.Fatalf("no front is announced: %s", s.Output())
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	g := &guarded{Service: s, url: found[1], t: t, http: &http.Client{
		Transport: transport, Timeout: time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	t.Cleanup(transport.CloseIdleConnections) // before the service is stopped
	return g
}

// reply is an answer that was read.
type reply struct {
	Status int
	Header http.Header
	Body   string
}

// device returns the device cookie that the answer sets, "" for none.
func (r reply) device() *http.Cookie {
	for _, line := range r.Header.Values("Set-Cookie") {
		if c, err := http.ParseSetCookie(line); err == nil && c.Name == "__Host-device" {
			return c
		}
	}
	return nil
}

// do sends a request with headers given as names and values.
func (g *guarded) do(method, path, body string, headers ...string) reply {
	g.t.Helper()
	r, err := http.NewRequest(method, g.url+path, strings.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	return g.send(r, headers...)
}

func (g *guarded) send(r *http.Request, headers ...string) reply {
	g.t.Helper()
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Add(headers[i], headers[i+1])
	}
	res, err := g.http.Do(r)
	if err != nil {
		g.t.Errorf("%s %s: %v", r.Method, r.URL, err)
		return reply{}
	}
	defer res.Body.Close()
	var b bytes.Buffer
	if _, err := io.Copy(&b, res.Body); err != nil {
		g.t.Errorf("%s %s: %v", r.Method, r.URL, err)
	}
	return reply{res.StatusCode, res.Header, b.String()}
}

const (
	formType = "application/x-www-form-urlencoded"
	jsonType = "application/json"
)

// login tries a password by the form.
func (g *guarded) login(user, pass string, headers ...string) reply {
	g.t.Helper()
	return g.do("POST", "/login", "username="+user+"&password="+strings.ReplaceAll(pass, " ", "+"),
		append([]string{"Content-Type", formType}, headers...)...)
}

// from makes a request come from an address, behind the trusted proxy that the
// test plays.
func from(ip string) []string { return []string{"X-Forwarded-For", ip} }

// away returns the i-th of many addresses that have nothing in common.
func away(i int) []string { return from(fmt.Sprintf("20.%d.%d.7", i>>8&255, i&255)) }

// drain takes every attempt that strangers have at an account.
func (g *guarded) drain(user string) {
	g.t.Helper()
	for i := range 10 {
		if r := g.login(user, "wrong", away(i)...); r.Status != 401 {
			g.t.Fatalf("guess %d of a stranger: %d %s", i+1, r.Status, r.Body)
		}
	}
	if r := g.login(user, "wrong", away(11)...); r.Status != 429 {
		g.t.Fatalf("the guess after the last: %d %s", r.Status, r.Body)
	}
}
