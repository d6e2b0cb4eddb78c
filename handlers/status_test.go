package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"loginguard/guard"
)

// answerOf reads a JSON answer of the admin listener.
func answerOf[T any](t *testing.T, b *bench, path string) T {
	t.Helper()
	w := serve(b.Admin(), httptest.NewRequest("GET", path, nil))
	var v T
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil || w.Code != 200 {
		t.Fatalf("%s: %d, %v: %s", path, w.Code, err, w.Body)
	}
	return v
}

func TestStatusAddsUpTheMetrics(t *testing.T) {
	b := newBench(t)
	m := b.metrics
	for range 3 {
		m.Decided("default", "login", someAllow())
	}
	m.Decided("shop", "signup", guard.Decision{Verdict: guard.Allow, Degraded: true})
	m.Decided("default", "login", accountDenial())
	m.Decided("shop", "login", accountDenial())
	m.Decided("default", "login", guard.Decision{Verdict: guard.Deny, Limit: "network", Level: "host"})
	m.Decided("default", "login", guard.Decision{Verdict: guard.Deny, Reason: guard.ReasonStore, Busy: true})
	m.Decided("default", "login", guard.Decision{Verdict: guard.Challenge, Limit: "network", Level: "pool"})
	m.WouldDeny("network", "pool")
	m.WouldDeny("network", "pool")
	m.Reported("success", true)
	m.Reported("failure", true)
	m.Reported("failure", false)
	m.Unreported("idp", 3)
	m.StoreCall("take", 2*time.Millisecond, "")
	m.StoreCall("take", 2*time.Millisecond, "timeout")
	m.StoreCall("probe", time.Second, "timeout")
	m.StoreCall("census", time.Millisecond, "")
	m.StoreCall("search", time.Millisecond, "")
	b.engine.down = true

	s := answerOf[status](t, b, "/v1/status")
	for _, tt := range []struct {
		name      string
		got, want any
	}{
		{"attempts", s.Attempts, verdicts{Allow: 4, Challenge: 1, Deny: 4, Degraded: 1}},
		{"denials", s.Denials, []limitCount{{"account", "", 2}, {"network", "host", 1}, {"store_unavailable", "", 1}}},
		{"challenges", s.Challenges, []limitCount{{"network", "pool", 1}}},
		{"routes", s.Routes, []routeCount{
			{"default", "login", verdicts{Allow: 3, Challenge: 1, Deny: 3}}, {"shop", "login", verdicts{Deny: 1}},
			{"shop", "signup", verdicts{Allow: 1, Degraded: 1}},
		}},
		{"log-only", s.LogOnly, []wouldDeny{{Limit: "network", Level: "pool", Mode: "enforce", WouldDeny: 2}}},
		{"reports", s.Reports, reportCounts{Success: 1, Failure: 1, Repeated: 1}},
		{"unreported", s.Unreported, []callerCount{{"idp", 3}}},
		{"store", s.Store.Up, false},
		{"since", s.Store.Since, "2026-11-30T12:00:00.000Z"},
		{"store calls", s.Store.Calls.Count, 2.0},
		{"store failures", s.Store.Errors, []classCount{{"timeout", 2}}},
		{"version", s.Version, "v1.2.3"},
		{"mode", s.Mode, "enforce"},
		{"realms", len(s.Realms), 3},
		{"routes by name", s.RouteNames, []string{"kiosk", "login", "mfa", "password_reset", "signup"}},
		{"limits", len(s.Limits), 11},
	} {
		if diff := cmp.Diff(tt.want, tt.got, cmp.AllowUnexported(routeCount{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestStatusShowsAReloadThatFailed(t *testing.T) {
	b := newBench(t)
	at := time.Unix(1796040000, 0)
	b.metrics.Reloaded(true, at)
	b.metrics.Reloaded(false, at.Add(time.Hour))
	s := answerOf[status](t, b, "/v1/status")
	if s.Reload.OK || s.Reload.At == nil || *s.Reload.At != 1796040000 {
		t.Errorf("got %+v", s.Reload)
	}
}

// unreadable is a metric that cannot be gathered.
type unreadable struct{}

func (unreadable) Describe(ch chan<- *prometheus.Desc) { ch <- descNextExpiry }

func (unreadable) Collect(ch chan<- prometheus.Metric) {
	ch <- prometheus.NewInvalidMetric(descNextExpiry, errors.New("cannot be gathered"))
}

// TestStatusThatFailsIsLogged: the answer says that the log says why.
func TestStatusThatFailsIsLogged(t *testing.T) {
	b := newBench(t)
	if serve(b.Admin(), httptest.NewRequest("GET", "/livez", nil)); b.out.String() != "" {
		t.Errorf("a probe is logged: %s", b.out)
	}
	b.metrics.registry = prometheus.NewRegistry()
	b.metrics.registry.MustRegister(unreadable{})
	for _, path := range []string{"/v1/status", "/v1/status/history"} {
		w := serve(b.Admin(), httptest.NewRequest("GET", path, nil))
		if w.Code != 500 || strings.Contains(w.Body.String(), "gathered") {
			t.Errorf("%s: got %s", path, dump(w))
		}
		_, line, _ := strings.Cut(b.out.String(), w.Header().Get("X-Request-Id"))
		if !strings.Contains(line, "cannot be gathered") {
			t.Errorf("%s: the log does not say why: %s", path, b.out)
		}
	}
}

// TestStatusOfNothing has lists where there is nothing, and null where a
// number could not be told.
func TestStatusOfNothing(t *testing.T) {
	b := newBench(t)
	s := answerOf[map[string]json.RawMessage](t, b, "/v1/status")
	for _, list := range []string{"denials", "challenges", "routes", "log_only", "unreported"} {
		if string(s[list]) != "[]" {
			t.Errorf("%s is %s", list, s[list])
		}
	}
	got := answerOf[status](t, b, "/v1/status")
	if got.Check.P50 != nil || got.Check.Count != 0 || !got.Store.Up {
		t.Errorf("got %+v, %+v", got.Check, got.Store)
	}
}

func TestQuantiles(t *testing.T) {
	h := func(counts ...float64) spread { return spread{bounds: []float64{1, 2, 4}, counts: counts} }
	for _, tt := range []struct {
		name string
		s    spread
		q    float64
		want float64 // NaN for none
	}{
		{"nothing observed", h(0, 0, 0, 0), .5, math.NaN()},
		{"no histogram", spread{}, .5, math.NaN()},
		{"first bucket, from 0", h(10, 10, 10, 10), .5, .5},
		{"within a bucket", h(0, 10, 10, 10), .5, 1.5},
		{"at a bound", h(5, 10, 10, 10), .5, 1},
		{"across empty buckets", h(5, 5, 10, 10), .9, 3.6},
		{"all", h(5, 5, 10, 10), 1, 4},
		{"beyond the highest bound", h(0, 0, 0, 10), .5, 4},
	} {
		got := tt.s.quantile(tt.q)
		if got == nil != math.IsNaN(tt.want) || got != nil && math.Abs(*got-tt.want) > 1e-9 {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
	later := h(1, 3, 6, 9).since([]float64{1, 2})
	if !slices.Equal(later.counts, []float64{0, 1, 6, 9}) {
		t.Errorf("since: %v", later.counts)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	b := newBench(t)
	begin := time.Unix(1e9, 0)
	for i := range 2*historyRows + 7 {
		b.metrics.Decided("default", "login", someAllow())
		if i == historyRows+7 {
			b.metrics.Decided("default", "login", accountDenial())
		}
		b.remember(begin.Add(time.Duration(i) * historyEvery))
	}
	p := answerOf[past](t, b, "/v1/status/history")
	if len(p.Times) != historyRows || cap(b.history.rows) > 2*historyRows {
		t.Fatalf("%d rows in room for %d, want %d", len(p.Times), cap(b.history.rows), historyRows)
	}
	if got := p.Times[historyRows-1] - p.Times[0]; got != 1800 {
		t.Errorf("covers %g s, want 1800", got)
	}
	allowed := p.Series["attempts:allow"]
	for i, v := range allowed {
		if want := float64(historyRows + 8 + i); v == nil || *v != want {
			t.Fatalf("row %d: %v, want %g", i, v, want)
		}
	}
	denied := p.Series["denied:account"]
	if denied[0] == nil || *denied[0] != 1 || len(denied) != historyRows {
		t.Errorf("denials %v", denied[0])
	}
}

func TestHistoryKnowsNoMoreSeriesThanItsBound(t *testing.T) {
	var h history
	many := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "loginguard_would_deny_total"}, []string{"limit", "level"})
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.registry.MustRegister(many)
	for i := range 3 * historySeries {
		many.WithLabelValues(fmt.Sprint("limit", i), "").Inc()
		if i%historySeries != 0 {
			continue
		}
		r, err := m.read()
		if err != nil {
			t.Fatal(err)
		}
		h.add(time.Unix(int64(i), 0), r)
		if n := len(h.rows[len(h.rows)-1].values); n != len(h.names) || n > historySeries {
			t.Errorf("%d values, %d names, at most %d", n, len(h.names), historySeries)
		}
	}
}

// TestSeriesThatBeganLater are null before, in the middle of other series.
func TestSeriesThatBeganLater(t *testing.T) {
	b := newBench(t)
	b.remember(time.Unix(0, 0))
	b.metrics.Decided("default", "login", accountDenial())
	b.remember(time.Unix(5, 0))
	got := answerOf[past](t, b, "/v1/status/history").Series["denied:account"]
	if len(got) != 2 || got[0] != nil || got[1] == nil || *got[1] != 1 {
		t.Errorf("got %v", got)
	}
}

// TestLatencyIsOfTheLastMinutes forgets what was slow before its window.
func TestLatencyIsOfTheLastMinutes(t *testing.T) {
	b := newBench(t)
	now := time.Now()
	for range 100 {
		b.metrics.checked(700 * time.Millisecond)
	}
	b.remember(now.Add(-quantileWindow - time.Minute))
	b.remember(now.Add(-quantileWindow - time.Second))
	for range 10 {
		b.metrics.checked(time.Millisecond)
	}
	b.remember(now.Add(-time.Second))
	got := answerOf[status](t, b, "/v1/status").Check
	if got.Count != 110 || got.P99 == nil || *got.P99 > .001 {
		t.Errorf("count %g, p99 %v, want 110 and at most 1 ms", got.Count, got.P99)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	b := newBench(t)
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); b.Run(ctx) }()
	for len(answerOf[past](t, b, "/v1/status/history").Times) == 0 {
		runtime.Gosched()
	}
	cancel()
	<-done
	// The one that waited for it may still be on its way out.
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

func TestStatusIsForTheAdminListenerAlone(t *testing.T) {
	b := newBench(t)
	for _, path := range []string{"/v1/status", "/v1/status/history", "/page/page.js"} {
		if w := serve(b.API(), httptest.NewRequest("GET", path, nil)); w.Code != 404 {
			t.Errorf("%s on the API: %d", path, w.Code)
		}
		if w := serve(b.Admin(), httptest.NewRequest("POST", path, nil)); w.Code != 405 {
			t.Errorf("POST %s: %d", path, w.Code)
		}
	}
	if got := b.out.String(); got == "" {
		t.Error("refusals leave a line") // the two above, unlike what is polled
	}
}
