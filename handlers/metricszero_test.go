package handlers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

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
		`refused_total{cause="no_key",protocol="forward_auth"}`,
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
