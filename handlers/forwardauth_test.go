package handlers

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loginguard/guard"
	"loginguard/keys"
	"loginguard/netprefix"
)

// withForwardAuth reads accounts from X-Login and finds clients behind one
// proxy.
func withForwardAuth(reports bool) func(*Config, *fakeEngine) {
	return func(c *Config, f *fakeEngine) {
		c.ForwardAuth = ForwardAuth{AccountHeader: "X-Login", Reports: reports}
		f.rules.Clients, _ = netprefix.NewResolver(netprefix.ResolverConfig{Hops: 1, Trusted: []string{"192.0.2.1"}})
		f.rules.Names, _ = keys.NewCanonicaliser(nil)
	}
}

// ask makes a proxy's question under the key of the caller idp.
func ask(profile string, headers ...string) *http.Request {
	r := httptest.NewRequest("GET", "/v1/forward-auth/"+profile, nil)
	r.RemoteAddr = "192.0.2.1:4711"
	r.Header.Set("X-API-Key", idpKey)
	r.Header.Set("X-Forwarded-For", "203.0.113.9")
	return with(r, headers...)
}

func TestProxyQuestionIsAnAttempt(t *testing.T) {
	basic := "Basic YWxpY2U6c2VjcmV0" // alice:secret
	want := func(account string, networks bool) guard.Request {
		return guard.Request{
			Realm: "default", Route: "login", Account: account, NetworksOnly: networks,
			Forwarded: &guard.Forwarded{Peer: "192.0.2.1", Header: "x-forwarded-for", Lines: []string{"203.0.113.9"}},
		}
	}
	for _, tt := range []struct {
		name    string
		reports bool
		r       *http.Request
		want    guard.Request
	}{
		{"account header", true, ask("plain", "X-Login", "alice"), want("alice", false)},
		{"account header without reports", false, ask("plain", "X-Login", "alice"), want("alice", true)},
		{"no account", true, ask("nginx"), want("", true)},
		{"empty account header", true, ask("nginx", "X-Login", " "), want("", true)},
		{"account of invisible characters", true, ask("nginx", "X-Login", "\u00a0\u200b"), want("", true)},
		{"Basic", true, ask("envoy", "Authorization", basic), want("alice", false)},
		{"Basic in small letters", true, ask("envoy", "Authorization", "basic"+basic[5:]), want("alice", false)},
		{"header before Basic", true, ask("envoy", "X-Login", "bob", "Authorization", basic), want("bob", false)},
		{"bearer token of the client", true, ask("envoy", "Authorization", "Bearer whatever"), want("", true)},
		{"Basic is the key of the proxy", true, ask("plain", "X-API-Key", "", "Authorization", "Basic YTprZXktb2YtdGhlLWlkcC00NzEx"), want("", true)},
		{"bearer is the key of the proxy", true, ask("plain", "X-API-Key", "", "Authorization", "Bearer "+idpKey, "X-Login", "alice"), want("alice", false)},
		{"path and query choose nothing", true, ask("envoy/v1/report?route=mfa&realm=shop&account=bob", "X-Login", "alice"), want("alice", false)},
		{"dots choose no profile", true, ask("envoy/../plain", "X-Login", "alice"), want("alice", false)},
		{"headers choose no route", true, ask("plain", "X-Login", "alice", "X-Original-URI", "/signup", "Route", "signup"), want("alice", false)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, withForwardAuth(tt.reports))
			w := serve(b.API(), tt.r)
			if w.Code != 200 || w.Body.Len() > 0 || w.Header().Get("X-Loginguard-Attempt") != "att-1" {
				t.Fatalf("answered %d %v: %s", w.Code, w.Header(), w.Body)
			}
			if diff := cmp.Diff([]guard.Request{tt.want}, b.engine.asked); diff != "" {
				t.Errorf("asked (-want +got)\n%s", diff)
			}
		})
	}
}

func TestProxyQuestionIsAskedWithAnyMethod(t *testing.T) {
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "REPORT", "PURGE", "M-SEARCH"} {
		for _, path := range []string{"envoy", "envoy/", "envoy/login", "envoy//x/%2e%2e"} {
			b := newBench(t, withForwardAuth(false))
			r := ask(path)
			r.Method = method
			if w := serve(b.API(), r); w.Code != 200 || len(b.engine.asked) != 1 {
				t.Errorf("%s %s: answered %d, asked %d times", method, path, w.Code, len(b.engine.asked))
			}
		}
	}
}

func TestEveryProfileSaysNoAsItsProxyUnderstands(t *testing.T) {
	type statuses struct{ plain, nginx, marked, envoy string }
	for _, tt := range []struct {
		name    string
		headers []string
		change  func(*Config, *fakeEngine)
		want    statuses
		retry   string // of the envoy profile
	}{
		{"account has to wait", nil, func(_ *Config, f *fakeEngine) { f.decision = accountDenial() }, statuses{"429", "403", "429", "429"}, "31"},
		{"all are busy", nil, func(_ *Config, f *fakeEngine) {
			f.decision = guard.Decision{Verdict: guard.Deny, Limit: "global", Busy: true, RetryAfter: 7, Shown: -1}
		}, statuses{"503", "403", "503", "429"}, "7"},
		{"store down", nil, func(_ *Config, f *fakeEngine) {
			f.decision = guard.Decision{Verdict: guard.Deny, Reason: guard.ReasonStore, Busy: true, RetryAfter: 2, Shown: -1}
		}, statuses{"503", "403", "503", "429"}, "2"},
		{"store error", nil, func(_ *Config, f *fakeEngine) { f.err = &guard.Error{Kind: guard.KindStore} }, statuses{"503", "403", "503", "429"}, "1"},
		{"unknown error", nil, func(_ *Config, f *fakeEngine) { f.err = errors.New("boom") }, statuses{"500", "403", "503", "429"}, "1"},
		{"panic", nil, func(_ *Config, f *fakeEngine) { f.panics = "boom" }, statuses{"500", "403", "503", "429"}, "1"},
		{"bad address", nil, func(_ *Config, f *fakeEngine) {
			f.err = &guard.Error{Kind: guard.KindInvalid, Field: "forwarded.peer"}
		}, statuses{"422", "403", "503", "422"}, ""},
		{"no key", []string{"X-API-Key", ""}, nil, statuses{"401", "403", "503", "401"}, ""},
		{"wrong key", []string{"X-API-Key", "guess"}, nil, statuses{"401", "403", "503", "401"}, ""},
		{"wrong key beside the right one of a client", []string{"X-API-Key", "guess", "Authorization", "Bearer " + idpKey}, nil, statuses{"401", "403", "503", "401"}, ""},
		{"malformed Basic", []string{"Authorization", "Basic !"}, nil, statuses{"400", "403", "503", "400"}, ""},
		{"long account", []string{"X-Login", strings.Repeat("a", 1025)}, nil, statuses{"400", "403", "503", "400"}, ""},
		{"not from this machine", nil, loopback, statuses{"403", "403", "503", "403"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for profile, want := range map[string]string{"plain": tt.want.plain, "nginx": tt.want.nginx, "envoy": tt.want.envoy} {
				b := newBench(t, withForwardAuth(true), func(c *Config, f *fakeEngine) {
					if tt.change != nil {
						tt.change(c, f)
					}
				})
				w := serve(b.API(), ask(profile+"/login", tt.headers...))
				h := w.Header()
				if got := w.Result().Status[:3]; got != want {
					t.Errorf("%s: answered %s, want %s: %s", profile, got, want, w.Body)
				}
				marked := h.Get("X-Loginguard-Status")
				if profile == "nginx" != (marked != "") || profile == "nginx" && marked != tt.want.marked {
					t.Errorf("%s: marked %q, want %q", profile, marked, tt.want.marked)
				}
				if profile == "nginx" && h.Get("Retry-After") == "" {
					t.Error("nginx: no Retry-After")
				}
				if profile == "envoy" && h.Get("Retry-After") != tt.retry {
					t.Errorf("envoy: Retry-After %q, want %q", h.Get("Retry-After"), tt.retry)
				}
				if h.Get("X-Loginguard-Attempt") != "" || h.Get("Cache-Control") != "no-store" {
					t.Errorf("%s: headers of a refusal: %v", profile, h)
				}
				if !strings.Contains(w.Body.String(), `"status":`+want) {
					t.Errorf("%s: the body says another status than %s: %s", profile, want, w.Body)
				}
			}
		})
	}
}

func TestTwoAccountHeadersAreRefused(t *testing.T) {
	for _, name := range []string{"X-Login", "Authorization"} {
		b := newBench(t, withForwardAuth(true))
		r := ask("plain")
		r.Header[name] = []string{"Basic YWxpY2U6c2VjcmV0", "Basic YWxpY2U6c2VjcmV0"}
		if w := serve(b.API(), r); w.Code != 400 || b.engine.calls() > 0 {
			t.Errorf("two %s: answered %d, asked %d times, want 400 and not at all", name, w.Code, b.engine.calls())
		}
	}
}

func TestEnvoyLearnsWhyItWasNoFaultOfTheClient(t *testing.T) {
	for _, tt := range []struct {
		change func(*Config, *fakeEngine)
		want   string
	}{
		{func(_ *Config, f *fakeEngine) {
			f.decision = guard.Decision{Verdict: guard.Deny, Reason: guard.ReasonStore, Busy: true, RetryAfter: 2, Shown: -1}
		}, `"reason":"store_unavailable"`},
		{func(_ *Config, f *fakeEngine) { f.panics = 1 }, `"reason":"internal"`},
	} {
		w := serve(newBench(t, withForwardAuth(true), tt.change).API(), ask("envoy"))
		if !strings.Contains(w.Body.String(), tt.want) {
			t.Errorf("the body says no %s: %s", tt.want, w.Body)
		}
	}
}

func TestUnknownProfileIsRefused(t *testing.T) {
	for _, path := range []string{"", "other", "other/plain", "Envoy", "plain.", "nginx*"} {
		b := newBench(t, withForwardAuth(true))
		if w := serve(b.API(), ask(path)); w.Code != 404 || b.engine.calls() > 0 {
			t.Errorf("%q: answered %d, asked %d times, want 404 and not at all", path, w.Code, b.engine.calls())
		}
	}
}

func TestStrangersSeeTheNetworksBucketsAlone(t *testing.T) {
	meters := []guard.Meter{
		{Limit: "account", Capacity: 10, Window: 21600, Remaining: 0, Reset: 30, Charged: true},
		{Limit: "network", Level: "host", Stranger: true, Capacity: 30, Window: 3600, Remaining: 29, Reset: 120, Charged: true},
		{Limit: "network", Level: "subnet", Stranger: true, Capacity: 100, Window: 3600, Remaining: 60, Reset: 1440, Charged: true},
		{Limit: "global", Capacity: 1000, Window: 3600, Remaining: 1, Charged: true},
	}
	for _, tt := range []struct {
		name              string
		d                 guard.Decision
		remaining, states string
		limit             string
	}{
		{"allow", guard.Decision{Verdict: guard.Allow, Attempt: "a", Meters: meters, Shown: 0}, "60", `"network-host";r=29;t=120, "network-subnet";r=60;t=1440`, ""},
		{"account denies", guard.Decision{Verdict: guard.Deny, Limit: "account", Meters: meters, Shown: 0, RetryAfter: 30}, "60", `"network-subnet";r=60;t=1440`, "account"},
		{"host denies", guard.Decision{Verdict: guard.Deny, Limit: "network", Level: "host", Meters: meters, Shown: 1, RetryAfter: 30}, "29", `"network-host";r=29;t=120`, "network"},
		{"the owner's limit denies", guard.Decision{Verdict: guard.Deny, Limit: "familiar", Meters: meters[:1], Shown: 0, RetryAfter: 30}, "", "", "account"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := serve(newBench(t, withForwardAuth(true), func(_ *Config, f *fakeEngine) { f.decision = tt.d }).API(), ask("plain", "X-Login", "alice"))
			if got := w.Header().Get("RateLimit-Remaining"); got != tt.remaining {
				t.Errorf("RateLimit-Remaining %q, want %q", got, tt.remaining)
			}
			if got := w.Header().Get("RateLimit"); got != tt.states {
				t.Errorf("RateLimit %q, want %q", got, tt.states)
			}
			if tt.limit != "" && !strings.Contains(w.Body.String(), `"limit":"`+tt.limit+`"`) {
				t.Errorf("the body says another limit than %s: %s", tt.limit, w.Body)
			}
		})
	}
}

func TestWrongKeyOfAProxyIsLoggedAsAnErrorAndCounted(t *testing.T) {
	b := newBench(t, withForwardAuth(true))
	serve(b.API(), ask("nginx", "X-API-Key", "guess"))
	l := logLines(t, b)[0]
	if l["level"] != "error" || l["cause"] != "wrong_key" || l["meant"] != 401.0 || l["peer"] != "192.0.2.1" {
		t.Errorf("logged %v", l)
	}
	if want := `loginguard_refused_total{cause="wrong_key",protocol="forward_auth_nginx"} 1`; !hasSeries(scrape(t, b), want) {
		t.Errorf("no %s", want)
	}
}

func TestWithoutCallersThisMachineIsBelieved(t *testing.T) {
	b := newBench(t, withForwardAuth(true), loopback)
	r := local(ask("plain", "X-API-Key", "", "X-Login", "alice"))
	if w := serve(b.API(), r); w.Code != 200 || b.engine.asked[0].Account != "alice" {
		t.Errorf("answered %d: %s", w.Code, w.Body)
	}
	r = local(ask("plain", "X-API-Key", "", "Authorization", "Basic YWxpY2U6c2VjcmV0"))
	if w := serve(b.API(), r); w.Code != 200 || b.engine.asked[1].Account != "alice" {
		t.Errorf("Basic: answered %d: %s", w.Code, w.Body)
	}
}

func TestCallerOfOneOtherRealmAsksInIt(t *testing.T) {
	for _, tt := range []struct {
		realms []string
		want   string
	}{{[]string{"default", "shop"}, "default"}, {[]string{"shop"}, "shop"}, {[]string{"shop", "other"}, ""}, {nil, ""}} {
		got, err := onlyRealm(guard.Caller{Realms: tt.realms})
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("realms %v: asks in %q, %v, want %q", tt.realms, got, err, tt.want)
		}
	}
}

// Whatever a client sends along, a denial of the guard stays a no that the
// proxy understands.
func FuzzForwardAuthNeverTurnsANoIntoAYes(f *testing.F) {
	f.Add("envoy", "/login?route=mfa", "alice", "Basic YWxpY2U6c2VjcmV0", "203.0.113.9, 10.0.0.1", "https://example.com")
	f.Add("nginx", "", "", "Bearer x", "", "null")
	f.Add("plain", "//%2e%2e/check", "\xff", "Basic !", "[::1]:80", "")
	f.Fuzz(func(t *testing.T, profile, rest, account, authorization, forwarded, origin string) {
		b := newBench(t, withForwardAuth(true), func(_ *Config, e *fakeEngine) { e.decision = accountDenial() })
		r := ask("plain")
		r.URL.Path = forwardAuthPath + profile + rest
		for name, v := range map[string]string{"X-Login": account, "Authorization": authorization, "X-Forwarded-For": forwarded, "Origin": origin} {
			r.Header.Set(name, v)
		}
		w := serve(b.API(), r)
		if w.Code < 400 || w.Code >= 500 {
			t.Errorf("answered %d: %s", w.Code, w.Body)
		}
		if name, _, _ := strings.Cut(profile+rest, "/"); name == "nginx" && w.Code != 403 {
			t.Errorf("nginx is answered %d: %s", w.Code, w.Body)
		}
	})
}
