package handlers

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"loginguard/guard"
	"loginguard/policy"
)

// counters returns the series of the service's counters as they are now.
func counters(t *testing.T, b *bench) []string {
	t.Helper()
	return slices.DeleteFunc(scrape(t, b), func(s string) bool {
		name, _, _ := strings.Cut(s, "{")
		return !strings.HasPrefix(s, "loginguard_") || !strings.HasSuffix(name, "_total")
	})
}

// TestCountersBeginAtZero: increase() sees no rise in a series that appears
// with its first event, and the alerts about single events rest on it.
func TestCountersBeginAtZero(t *testing.T) {
	b := newBench(t)
	got := counters(t, b)
	for _, want := range []string{
		`decisions_total{decision="allow",level="",limit="",realm="shop",route="signup"}`,
		`decisions_total{decision="deny",level="",limit="global",realm="default",route="login"}`,
		`decisions_total{decision="deny",level="",limit="overloaded",realm="default",route="login"}`,
		`decisions_total{decision="deny",level="",limit="store_unavailable",realm="default",route="login"}`,
		`degraded_total{realm="default",route="kiosk"}`,
		`denials_recalled_total{level="host",limit="network"}`,
		`would_deny_total{level="",limit="account"}`,
		`would_deny_then_success_total{level="pool",limit="network"}`,
		`exempt_total{realm="shop"}`,
		`unreported_total{caller="idp"}`,
		`refused_total{cause="wrong_key",protocol="wforce"}`,
		`refused_total{cause="no_key",protocol="forward_auth_nginx"}`,
		`refused_total{cause="account",protocol="forward_auth_plain"}`,
		`store_errors_total{class="timeout"}`,
		`store_errors_total{class="other"}`,
		`reports_total{outcome="repeated"}`,
		`events_dropped_total{kind="store_up"}`,
		`webhook_deliveries_total{result="failed"}`,
	} {
		if !hasSeries(got, "loginguard_"+want+" 0") {
			t.Errorf("%s does not begin at 0", want)
		}
	}
	if len(got) > 300 {
		t.Errorf("%d series before anything happened", len(got))
	}
}

// TestCountersOfAReloadBeginAtZero, and keep what was counted before.
func TestCountersOfAReloadBeginAtZero(t *testing.T) {
	b := newBench(t)
	b.metrics.Decided("shop", "login", guard.Decision{Verdict: guard.Allow, Degraded: true})
	c := policy.Defaults()
	c.Realms = []string{"default", "annex"}
	c.Routes["staff"] = policy.Route{Cost: 1}
	p, err := policy.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Swap(Running{Rules: guard.Rules{Policy: p}, Callers: []Caller{{Name: "late"}}}); err != nil {
		t.Fatal(err)
	}
	got := counters(t, b)
	for _, want := range []string{`degraded_total{realm="annex",route="staff"} 0`, `exempt_total{realm="annex"} 0`,
		`unreported_total{caller="late"} 0`, `degraded_total{realm="shop",route="login"} 1`} {
		if !hasSeries(got, "loginguard_"+want) {
			t.Errorf("no %s", want)
		}
	}

	for i := range mostPairs {
		c.Realms = append(c.Realms, fmt.Sprint("r", i))
	}
	if p, err = policy.New(c); err != nil {
		t.Fatal(err)
	}
	if err := b.Swap(Running{Rules: guard.Rules{Policy: p}}); err != nil {
		t.Fatal(err)
	}
	if after := counters(t, b); len(after) != len(got) {
		t.Errorf("%d series for very many realms, %d before", len(after), len(got))
	}
}

// TestRefusalsAddNoSeries: whatever a proxy or a mail server is refused for, its
// counter was there before.
func TestRefusalsAddNoSeries(t *testing.T) {
	fails := func(err error) func(*Config, *fakeEngine) { return func(_ *Config, f *fakeEngine) { f.err = err } }
	nowhere := func(c *Config, _ *fakeEngine) { c.Callers[0].Realms = nil }
	type refusal struct {
		cause  string
		change func(*Config, *fakeEngine)
		r      func() *http.Request
	}
	all := map[string][]refusal{"wforce": {
		{"command", nil, func() *http.Request { return command("delete", "{}") }},
		{"content_type", nil, func() *http.Request { return command("allow", "a=b", "Content-Type", "text/plain") }},
		{"content_encoding", nil, func() *http.Request { return command("allow", "{}", "Content-Encoding", "gzip") }},
		{"json", nil, func() *http.Request { return command("allow", "{") }},
		{"size", nil, func() *http.Request { return command("allow", strings.Repeat(" ", maxBody+1)) }},
		{"path", nil, func() *http.Request { return post("/wforce/x", "{}") }},
		{"method", nil, func() *http.Request { r := command("allow", "{}"); r.Method = "PUT"; return r }},
		{"role", nil, func() *http.Request { return command("reset", "{}") }},
		{"overloaded", fails(&guard.Error{Kind: guard.KindOverloaded}), func() *http.Request { return command("report", dovecotReport) }},
		{"proxy", loopback, func() *http.Request { return local(command("allow", dovecotAllow, "X-Forwarded-For", "203.0.113.9")) }},
	}}
	everywhere := func(own func() *http.Request) []refusal {
		sent := func(headers ...string) func() *http.Request {
			return func() *http.Request { return with(own(), headers...) }
		}
		here := func(headers ...string) func() *http.Request {
			return func() *http.Request { return with(local(own()), headers...) }
		}
		return []refusal{
			{"no_key", nil, sent("Authorization", "", "X-API-Key", "")},
			{"wrong_key", nil, sent("Authorization", "", "X-API-Key", "guess")},
			{"realm", nowhere, own},
			{"internal", fails(errors.New("boom")), own},
			{"store_unavailable", fails(&guard.Error{Kind: guard.KindStore}), own},
			{"value", fails(&guard.Error{Kind: guard.KindInvalid}), own},
			{"forbidden", fails(&guard.Error{Kind: guard.KindForbidden}), own},
			{"peer", loopback, own},
			{"origin", loopback, here("Origin", "https://elsewhere.example")},
			{"host", loopback, func() *http.Request { r := local(own()); r.Host = "elsewhere.example"; return r }},
		}
	}
	all["wforce"] = append(all["wforce"], everywhere(func() *http.Request { return command("allow", dovecotAllow) })...)
	for name := range profiles {
		own := func() *http.Request { return ask(name) }
		all["forward_auth_"+name] = append(everywhere(own),
			refusal{"account", nil, func() *http.Request { return with(own(), "Authorization", "Basic !") }})
	}
	for protocol, list := range all {
		for _, tt := range list {
			b := newBench(t, withForwardAuth(true), withNames, func(c *Config, f *fakeEngine) {
				if tt.change != nil {
					tt.change(c, f)
				}
			})
			before := counters(t, b)
			serve(b.API(), tt.r())
			after := counters(t, b)
			if len(after) != len(before) {
				t.Errorf("%s refused for %s: %d series, %d before", protocol, tt.cause, len(after), len(before))
			}
			if want := fmt.Sprintf("loginguard_refused_total{cause=%q,protocol=%q} 1", tt.cause, protocol); !hasSeries(after, want) {
				t.Errorf("no %s", want)
			}
		}
	}
}

// TestHistoryShowsNoLimitThatDeniedNobody: the page lists each limit of the
// history beside its chart.
func TestHistoryShowsNoLimitThatDeniedNobody(t *testing.T) {
	b := newBench(t)
	b.metrics.Decided("default", "login", accountDenial())
	b.remember(time.Unix(0, 0))
	var got []string
	for name := range answerOf[past](t, b, "/v1/status/history").Series {
		if strings.HasPrefix(name, "denied:") {
			got = append(got, name)
		}
	}
	if len(got) != 1 || got[0] != "denied:account" {
		t.Errorf("the history has %v, want denied:account alone", got)
	}
}
