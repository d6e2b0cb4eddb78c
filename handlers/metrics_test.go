package handlers

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"loginguard/guard"
)

// scrape returns the lines of /metrics that are series.
func scrape(t *testing.T, b *bench) []string {
	t.Helper()
	w := serve(b.Admin(), httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("scrape: %d", w.Code)
	}
	var series []string
	for _, l := range strings.Split(w.Body.String(), "\n") {
		if l != "" && l[0] != '#' {
			series = append(series, l)
		}
	}
	return series
}

func hasSeries(series []string, want string) bool {
	for _, s := range series {
		if s == want {
			return true
		}
	}
	return false
}

func TestEveryMetricCanBeMadeToAppear(t *testing.T) {
	b := newBench(t)
	m := b.metrics
	m.Decided("default", "login", someAllow())
	m.Decided("default", "login", accountDenial())
	m.Decided("shop", "signup", guard.Decision{Verdict: guard.Deny, Limit: "network", Level: "host"})
	m.Decided("default", "login", guard.Decision{Verdict: guard.Challenge, Limit: "network", Level: "subnet"})
	m.Decided("default", "login", guard.Decision{Verdict: guard.Deny, Limit: "global", Busy: true})
	m.Decided("default", "login", guard.Decision{Verdict: guard.Deny, Reason: guard.ReasonStore, Busy: true})
	m.Decided("default", "login", guard.Decision{Verdict: guard.Deny, Reason: guard.ReasonOverloaded, Busy: true})
	m.Decided("default", "login", guard.Decision{Verdict: guard.Allow, Degraded: true})
	m.WouldDeny("account", "")
	m.WouldDeny("network", "pool")
	m.WouldDenyThenSuccess("network", "pool")
	m.Exempt("shop")
	m.Counted("shop", guard.Census{Population: 40, Capacity: 1002, Remaining: 2})
	m.Counted("default", guard.Census{Population: -1, Capacity: 1000, Remaining: 0})
	m.Delivery("delivered")
	m.Delivery("retried")
	m.Delivery("failed")
	b.events.dropped(EventAttemptDenied)
	for _, o := range []string{"success", "failure", "cancelled"} {
		m.Reported(o, true)
	}
	m.Reported("success", false)
	m.Unreported("idp", 3)
	m.Unreported("idp", 0)
	m.StoreCall("take", 2*time.Millisecond, "")
	m.StoreCall("settle", 60*time.Millisecond, "timeout")
	m.checked(2 * time.Millisecond)
	at := time.Unix(1796040000, 0)
	m.Reloaded(true, at)
	m.Reloaded(false, at.Add(time.Hour))
	b.engine.down = true

	got := scrape(t, b)
	for _, want := range []string{
		`loginguard_decisions_total{decision="allow",level="",limit="",realm="default",route="login"} 2`,
		`loginguard_decisions_total{decision="deny",level="",limit="account",realm="default",route="login"} 1`,
		`loginguard_decisions_total{decision="deny",level="host",limit="network",realm="shop",route="signup"} 1`,
		`loginguard_decisions_total{decision="challenge",level="subnet",limit="network",realm="default",route="login"} 1`,
		`loginguard_decisions_total{decision="deny",level="",limit="global",realm="default",route="login"} 1`,
		`loginguard_decisions_total{decision="deny",level="",limit="store_unavailable",realm="default",route="login"} 1`,
		`loginguard_decisions_total{decision="deny",level="",limit="overloaded",realm="default",route="login"} 1`,
		`loginguard_degraded_total{realm="default",route="login"} 1`,
		`loginguard_would_deny_total{level="",limit="account"} 1`,
		`loginguard_would_deny_total{level="pool",limit="network"} 1`,
		`loginguard_would_deny_then_success_total{level="pool",limit="network"} 1`,
		`loginguard_exempt_total{realm="shop"} 1`,
		`loginguard_population{realm="shop"} 40`,
		`loginguard_global_capacity{realm="shop"} 1002`,
		`loginguard_global_remaining{realm="shop"} 2`,
		`loginguard_global_remaining{realm="default"} 0`,
		`loginguard_webhook_deliveries_total{result="delivered"} 1`,
		`loginguard_webhook_deliveries_total{result="retried"} 1`,
		`loginguard_webhook_deliveries_total{result="failed"} 1`,
		`loginguard_events_dropped_total{kind="attempt_denied"} 1`,
		`loginguard_events_dropped_total{kind="store_up"} 0`,
		`loginguard_in_flight 7`,
		`loginguard_limit_mode{level="",limit="account",mode="enforce"} 1`,
		`loginguard_limit_mode{level="host",limit="network",mode="enforce"} 1`,
		`loginguard_limit_mode{level="pool",limit="network",mode="enforce"} 1`,
		`loginguard_overrides{state="active"} 0`,
		`loginguard_overrides{state="expired"} 0`,
		`loginguard_override_next_expiry_timestamp_seconds 0`,
		`loginguard_reports_total{outcome="success"} 1`,
		`loginguard_reports_total{outcome="failure"} 1`,
		`loginguard_reports_total{outcome="cancelled"} 1`,
		`loginguard_reports_total{outcome="repeated"} 1`,
		`loginguard_unreported_total{caller="idp"} 3`,
		`loginguard_check_duration_seconds_count 1`,
		`loginguard_check_duration_seconds_bucket{le="0.0025"} 1`,
		`loginguard_store_duration_seconds_count{op="take"} 1`,
		`loginguard_store_duration_seconds_count{op="settle"} 1`,
		`loginguard_store_errors_total{class="timeout"} 1`,
		`loginguard_breaker_open 1`,
		`loginguard_config_last_reload_successful 0`,
		`loginguard_config_last_reload_success_timestamp_seconds 1.79604e+09`,
	} {
		if !hasSeries(got, want) {
			t.Errorf("no series %s in\n%s", want, strings.Join(got, "\n"))
		}
	}
	all := strings.Join(got, "\n")
	if strings.Contains(all, `loginguard_population{realm="default"}`) {
		t.Error("a population is shown that is not counted")
	}
	for _, want := range []string{`loginguard_build_info{goversion="go`, `version="v1.2.3"} 1`, "go_goroutines", "process_open_fds"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in\n%s", want, all)
		}
	}
	b.engine.down = false
	m.Reloaded(true, at)
	got = scrape(t, b)
	if !hasSeries(got, "loginguard_breaker_open 0") || !hasSeries(got, "loginguard_config_last_reload_successful 1") {
		t.Error("breaker and reload do not come back")
	}
}

func TestMetricsBeforeTheServerIsMade(t *testing.T) {
	m := NewMetrics("v0")
	m.Unreported("idp", 1) // no logger yet: counted, not lost, no panic
	w := httptest.NewRecorder()
	m.handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{`loginguard_unreported_total{caller="idp"} 1`, "loginguard_breaker_open 0", "loginguard_config_last_reload_successful 1",
		`loginguard_reports_total{outcome="cancelled"} 0`} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("no %s", want)
		}
	}
}

func TestNoClientMakesASeries(t *testing.T) {
	b := newBench(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	word := func() string { return fmt.Sprintf("w%x", rnd.Uint64()) }
	round := func() {
		for _, d := range []guard.Decision{someAllow(), accountDenial()} {
			b.engine.decision = d
			for _, body := range []string{
				`{"account":"` + word() + `","ip":"` + word() + `","id":"` + word() + `"}`,
				`{"account":"` + word() + `","ip":"::1","realm":"` + word() + `"}`,
				`{"account":"` + word() + `","ip":"::1","route":"` + word() + `"}`,
				`{"` + word() + `":1}`,
			} {
				r := post("/v1/check", body, "User-Agent", word(), "X-Request-Id", word(), "X-Tenant", word())
				r.Host = word()
				serve(b.API(), r)
				serve(b.API(), post("/"+word(), body))
				r = post("/v1/check", body, "X-API-Key", word())
				r.Method = "M" + strings.ToUpper(word())
				serve(b.API(), r)
				serve(b.Admin(), post("/v1/explain", body, "Authorization", "Bearer "+word()))
			}
		}
	}
	round()
	before := len(scrape(t, b))
	for range 200 {
		round()
	}
	after := len(scrape(t, b))
	if after != before || after > 300 {
		t.Errorf("%d series after the first round, %d at the end, at most 300 expected", before, after)
	}
}

func TestLabelsOfTheStoreAreFew(t *testing.T) {
	b := newBench(t)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 500 {
				b.metrics.StoreCall("op", time.Millisecond, fmt.Sprintf("class-%d-%d", w, i))
			}
		})
	}
	wg.Wait()
	n := 0
	for _, s := range scrape(t, b) {
		if strings.HasPrefix(s, "loginguard_store_errors_total") {
			n++
		}
	}
	if n != maxWords { // "other" is one of them
		t.Errorf("%d classes, want %d", n, maxWords)
	}
}

func TestUnreportedAttemptsAreWarnedAboutOncePerHourAndCaller(t *testing.T) {
	b := newBench(t)
	now := time.Unix(1e9, 0)
	warn := func(caller string, n int, after time.Duration) {
		b.metrics.silence.unreported(caller, n, now.Add(after))
	}
	warn("idp", 2, 0)
	warn("idp", 3, time.Minute)
	warn("boss", 1, time.Minute)
	warn("idp", 4, time.Hour-1)
	warn("idp", 5, time.Hour)
	warn("idp", 6, time.Hour+time.Minute)

	type line struct {
		Level, Caller, Message string
		Attempts               int
	}
	var got []line
	for _, l := range strings.Split(strings.TrimSpace(b.out.String()), "\n") {
		var v line
		if err := json.Unmarshal([]byte(l), &v); err != nil {
			t.Fatal(err)
		}
		if v.Level != "warn" || !strings.Contains(v.Message, "must report") || !strings.Contains(v.Message, "locked out after ten sign-ins") {
			t.Errorf("line %s", l)
		}
		v.Level, v.Message = "", ""
		got = append(got, v)
	}
	want := []line{{Caller: "idp", Attempts: 2}, {Caller: "boss", Attempts: 1}, {Caller: "idp", Attempts: 12}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
