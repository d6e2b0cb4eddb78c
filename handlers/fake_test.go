package handlers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"loginguard/guard"
	"loginguard/policy"
)

// Secrets that a request may carry and no log line or metric may show.
const (
	idpKey     = "key-of-the-idp-4711"
	adminKey   = "key-of-the-admin-4712"
	secretName = "planted-account-qvxzja@example.com"
	secretTag  = "planted-tag-wkqhzx"
	secretDev  = "planted-device-zjxqvk"
)

// fakeEngine answers what a test tells it and keeps what it was asked.
type fakeEngine struct {
	rules     guard.Rules
	decision  guard.Decision
	reported  guard.Reported
	explained guard.Explanation
	err       error
	panics    any
	observer  guard.Observer // told about decisions, as the guard does

	mu      sync.Mutex
	down    bool
	probes  int
	callers []guard.Caller
	asked   []guard.Request
	reports []guard.Report
	forgets []guard.ForgetRequest
}

func (f *fakeEngine) ask(c guard.Caller, keep func()) {
	if f.panics != nil {
		panic(f.panics)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.callers = append(f.callers, c)
	keep()
}

func (f *fakeEngine) Check(_ context.Context, c guard.Caller, r guard.Request) (guard.Decision, error) {
	f.ask(c, func() { f.asked = append(f.asked, r) })
	if f.observer != nil && f.err == nil {
		f.observer.Decided(r.Realm, r.Route, f.decision)
	}
	return f.decision, f.err
}

func (f *fakeEngine) Report(_ context.Context, c guard.Caller, r guard.Report) (guard.Reported, error) {
	f.ask(c, func() { f.reports = append(f.reports, r) })
	return f.reported, f.err
}

func (f *fakeEngine) Forget(_ context.Context, c guard.Caller, r guard.ForgetRequest) error {
	f.ask(c, func() { f.forgets = append(f.forgets, r) })
	return f.err
}

func (f *fakeEngine) Explain(_ context.Context, c guard.Caller, r guard.Request) (guard.Explanation, error) {
	f.ask(c, func() { f.asked = append(f.asked, r) })
	return f.explained, f.err
}

func (f *fakeEngine) Rules() guard.Rules { return f.rules }

func (f *fakeEngine) InFlight() int { return 7 }

func (f *fakeEngine) StoreUp() (bool, time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.probes++
	return !f.down, time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
}

// calls returns how often the engine was asked anything but its rules.
func (f *fakeEngine) calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.callers)
}

// bench is a server on a fake engine, with its log.
type bench struct {
	*Server
	engine  *fakeEngine
	metrics *Metrics
	out     *syncBuffer
}

// syncBuffer is a buffer that several requests may log into.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// newBench serves callers idp (realms default, shop) and boss (admin, realm
// default) with a policy that has the realms default, shop and other and a
// route without accounts.
func newBench(t *testing.T, change ...func(*Config, *fakeEngine)) *bench {
	t.Helper()
	pc := policy.Defaults()
	pc.Realms = []string{"default", "shop", "other"}
	pc.Routes["kiosk"] = policy.Route{Cost: 2, Success: "none", NoAccount: true}
	p, err := policy.New(pc)
	if err != nil {
		t.Fatalf("policy: %v", err)
	}
	b := &bench{out: &syncBuffer{}, metrics: NewMetrics("v1.2.3")}
	b.engine = &fakeEngine{rules: guard.Rules{Policy: p}, decision: someAllow(), observer: b.metrics}
	c := Config{
		Callers: []Caller{
			{Name: "idp", KeySHA256: sha256.Sum256([]byte(idpKey)), Realms: []string{"default", "shop"}},
			{Name: "boss", KeySHA256: sha256.Sum256([]byte(adminKey)), Realms: []string{"default"}, Admin: true},
		},
		Log:     zerolog.New(b.out).Level(zerolog.DebugLevel),
		Version: "v1.2.3",
	}
	for _, f := range change {
		f(&c, b.engine)
	}
	b.Server = New(b.engine, c, b.metrics)
	return b
}

func loopback(c *Config, _ *fakeEngine) { c.Callers, c.Loopback = nil, true }

func someAllow() guard.Decision {
	return guard.Decision{
		Verdict: guard.Allow, Attempt: "att-1", ExpiresIn: 2 * time.Minute, Failures: 37, Shown: 0,
		Account: "AAAAAAAAAAAAAAAAAAAAAA", Client: "203.0.113.9",
		Meters: []guard.Meter{
			{Limit: "account", Capacity: 10, Window: 21600, Remaining: 9, Reset: 2160, Charged: true},
			{Limit: "network", Level: "subnet", Capacity: 100, Window: 3600, Remaining: 99, Reset: 36, Charged: true},
			{Limit: "global", Capacity: 1000, Window: 3600, Remaining: 1000, Reset: 0},
		},
	}
}

func accountDenial() guard.Decision {
	return guard.Decision{
		Verdict: guard.Deny, Limit: "account", RetryAfter: 31, Shown: 1,
		Account: "AAAAAAAAAAAAAAAAAAAAAA", Client: "203.0.113.9",
		Meters: []guard.Meter{
			{Limit: "network", Level: "host", Capacity: 30, Window: 3600, Remaining: 1, Reset: 3480},
			{Limit: "account", Capacity: 10, Window: 21600, Remaining: 0, Reset: 30},
		},
	}
}

// post makes a request as the caller idp with a JSON body.
func post(path, body string, headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+idpKey)
	return with(r, headers...)
}

// asAdmin makes a request as the caller boss.
func asAdmin(path, body string) *http.Request {
	return post(path, body, "Authorization", "Bearer "+adminKey)
}

// with sets headers, given as names and values; a value "" removes one.
func with(r *http.Request, headers ...string) *http.Request {
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
		} else {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	return r
}

// local makes a request come from this machine, over a listener on it.
func local(r *http.Request) *http.Request {
	r.RemoteAddr, r.Host = "127.0.0.1:4711", "localhost:8080"
	at := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}
	return r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(at)))
}

func serve(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const goodCheck = `{"account":"alice","ip":"203.0.113.9"}`
