package edge

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/prometheus/client_golang/prometheus"
)

// provision puts a limit to work as Caddy does, in a context of its own.
func provision(t *testing.T, l *Limit) (caddy.Context, error) {
	t.Helper()
	ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
	t.Cleanup(cancel)
	return ctx, l.Provision(ctx)
}

// ask sends a request of a client, "" for one without an address, through a
// limit to a handler that answers 204.
func ask(t *testing.T, l *Limit, client string) *http.Response {
	t.Helper()
	vars := map[string]any{caddyhttp.ClientIPVarKey: client}
	r := httptest.NewRequest(http.MethodPost, "/login", strings.NewReader("username=a"))
	r = r.WithContext(context.WithValue(r.Context(), caddyhttp.VarsCtxKey, vars))
	// What a client writes there is for Caddy's trusted_proxies to judge.
	r.Header.Set("X-Forwarded-For", "198.51.100."+strconv.Itoa(len(client)))
	w := httptest.NewRecorder()
	next := caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
		w.WriteHeader(http.StatusNoContent)
		return nil
	})
	if err := l.ServeHTTP(w, r, next); err != nil {
		t.Fatal(err)
	}
	return w.Result()
}

func wantStatus(t *testing.T, a *http.Response, status int) {
	t.Helper()
	if a.StatusCode != status {
		t.Fatalf("answered %d, want %d", a.StatusCode, status)
	}
}

func TestAFloodIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &Limit{Rate: "1/10s", Burst: 3}
		if _, err := provision(t, l); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			wantStatus(t, ask(t, l, "203.0.113.7"), http.StatusNoContent)
		}
		a := ask(t, l, "::ffff:203.0.113.7")
		wantStatus(t, a, http.StatusTooManyRequests)
		if got := a.Header.Get("Retry-After"); got != "10" {
			t.Errorf("Retry-After %q, want 10", got)
		}
		if got := a.Header.Get("Cache-Control"); got != "no-store" {
			t.Errorf("Cache-Control %q", got)
		}
		if got := a.Header.Get("Content-Type"); got != "application/problem+json" {
			t.Errorf("Content-Type %q", got)
		}
		var body map[string]any
		if err := json.NewDecoder(a.Body).Decode(&body); err != nil {
			t.Fatal(err)
		}
		if body["status"] != 429.0 || body["error"] != "too_many_requests" || body["retry_after"] != 10.0 {
			t.Errorf("body %v", body)
		}
		wantStatus(t, ask(t, l, "203.0.113.8"), http.StatusNoContent)
		// Nothing comes back before its time, and one after it.
		advance(9_500)
		a = ask(t, l, "203.0.113.7")
		wantStatus(t, a, http.StatusTooManyRequests)
		if got := a.Header.Get("Retry-After"); got != "1" {
			t.Errorf("Retry-After %q half a second before, want 1", got)
		}
		advance(500)
		wantStatus(t, ask(t, l, "203.0.113.7"), http.StatusNoContent)
		wantStatus(t, ask(t, l, "203.0.113.7"), http.StatusTooManyRequests)
	})
}

func TestClientsOfOneIPv6NetworkShareABucket(t *testing.T) {
	l := &Limit{Rate: "1/h", Burst: 1}
	if _, err := provision(t, l); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, ask(t, l, "2001:db8:1:2::3"), http.StatusNoContent)
	wantStatus(t, ask(t, l, "2001:db8:1:2:ffff::1"), http.StatusTooManyRequests)
	wantStatus(t, ask(t, l, "2001:db8:1:3::3"), http.StatusNoContent)
}

func TestClientsWithoutAnAddressAreLimitedTogether(t *testing.T) {
	l := &Limit{Rate: "1/h", Burst: 1}
	if _, err := provision(t, l); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, ask(t, l, ""), http.StatusNoContent)
	wantStatus(t, ask(t, l, "@"), http.StatusTooManyRequests)
	wantStatus(t, ask(t, l, "::1"), http.StatusNoContent)
}

func TestDefaults(t *testing.T) {
	l := new(Limit)
	if _, err := provision(t, l); err != nil {
		t.Fatal(err)
	}
	if l.Rate != "5/s" || l.Burst != 20 || l.MaxNetworks != 100_000 || l.IPv4Prefix != 32 || l.IPv6Prefix != 64 {
		t.Errorf("%s, %d, %d, %d, %d", l.Rate, l.Burst, l.MaxNetworks, l.IPv4Prefix, l.IPv6Prefix)
	}
}

func TestSettingsOutOfBounds(t *testing.T) {
	for want, l := range map[string]*Limit{
		"rate: must be written as requests/span, such as 5/s, 300/m or 1/10s":        {Rate: "fast"},
		"rate: 2/3h is one request every 1h30m0s: must be between 1µs and 1h0m0s":    {Rate: "2/3h"},
		"burst: -1 must be from 1 to 1000000":                                        {Burst: -1},
		"burst: 1000001 must be from 1 to 1000000":                                   {Burst: 1_000_001},
		"burst: 25 at 1/h takes 25h0m0s to come back, longer than 24h0m0s":           {Rate: "1/h", Burst: 25},
		"burst: 1000000 at 1/h takes 1000000h0m0s to come back, longer than 24h0m0s": {Rate: "1/h", Burst: 1_000_000},
		"max_networks: 10000001 must be from 1 to 10000000":                          {MaxNetworks: 10_000_001},
		"ipv4_prefix: 33 must be from 1 to 32":                                       {IPv4Prefix: 33},
		"ipv6_prefix: -1 must be from 1 to 128":                                      {IPv6Prefix: -1},
	} {
		if _, err := provision(t, l); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestMetricsOfAllLimitsTogether(t *testing.T) {
	first, second := &Limit{Rate: "1/h", Burst: 1, MaxNetworks: 1}, &Limit{Rate: "1/h", Burst: 1}
	ctx, err := provision(t, first)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Provision(ctx); err != nil {
		t.Fatal(err)
	}
	ask(t, first, "203.0.113.1")
	ask(t, first, "203.0.113.1") // refused
	ask(t, first, "203.0.113.2") // in the place of the other
	ask(t, second, "203.0.113.1")
	want := map[string]float64{
		"caddy_edge_limit_requests_total passed":  3,
		"caddy_edge_limit_requests_total refused": 1,
		"caddy_edge_limit_networks":               2,
		"caddy_edge_limit_networks_dropped_total": 1,
	}
	got := numbers(t, ctx.GetMetricsRegistry())
	for name, n := range want {
		if got[name] != n {
			t.Errorf("%s is %v, want %v", name, got[name], n)
		}
	}
	if len(got) != len(want) {
		t.Errorf("published are %v", got)
	}
}

// A reload makes a new registry and new limits.
func TestAReloadStartsAfresh(t *testing.T) {
	for range 2 {
		l := &Limit{Rate: "1/h", Burst: 1}
		ctx, err := provision(t, l)
		if err != nil {
			t.Fatal(err)
		}
		wantStatus(t, ask(t, l, "203.0.113.1"), http.StatusNoContent)
		if got := numbers(t, ctx.GetMetricsRegistry())["caddy_edge_limit_requests_total passed"]; got != 1 {
			t.Errorf("%v passed, want 1", got)
		}
	}
}

func TestAForeignMetricOfTheNameIsAnError(t *testing.T) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "caddy_edge_limit_networks", Help: "Something else."}))
	if _, err := newMetrics(registry); err == nil || !strings.HasPrefix(err.Error(), "registering metrics: ") {
		t.Errorf("error %v", err)
	}
}
