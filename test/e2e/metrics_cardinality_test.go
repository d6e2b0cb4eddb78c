package e2e

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"loginguard/test/internal/client"
	"loginguard/test/internal/redisd"
	"loginguard/test/internal/service"
)

var (
	series = regexp.MustCompile(`^(loginguard_[a-z_]+)(?:\{(.*)\})? \S+$`)
	label  = regexp.MustCompile(`([a-z_]+)="((?:[^"\\]|\\.)*)"`)
)

// scrape returns the series of our own metrics and their values.
func scrape(t *testing.T, s *service.Service) map[string]string {
	t.Helper()
	p := s.Page("/metrics")
	if p.Status != http.StatusOK {
		t.Fatalf("/metrics answers %d", p.Status)
	}
	all := make(map[string]string)
	for _, line := range strings.Split(string(p.Body), "\n") {
		if series.MatchString(line) {
			name, value, _ := cutLast(line, " ")
			all[name] = value
		}
	}
	return all
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// TestEveryDocumentedMetricAppears makes each of them happen.
func TestEveryDocumentedMetricAppears(t *testing.T) {
	t.Parallel()
	server := redisd.Start(t)
	s := service.Start(t, service.Options{Redis: server.URL(), Env: realBudget, Config: `
attempt_ttl: 1s
limits: {network: {host: {mode: log_only, capacity: 5}}}
`})
	for i := range 10 {
		s.Check(client.Attempt{Account: fmt.Sprint("account", i), IP: "203.0.113.9"})
	}
	report(t, s, s.Check(client.Attempt{Account: "alice", IP: "198.51.100.7"}).Attempt, "success")
	report(t, s, s.Check(client.Attempt{Account: "bob", IP: "203.0.113.9"}).Attempt, "success") // host would have denied
	service.Await(t, patient, "unreported attempts to be counted", func() bool {
		return scrape(t, s)[`loginguard_unreported_total{caller="loopback"}`] == "10"
	})
	service.Await(t, patient, "the global limit to be read", func() bool {
		return scrape(t, s)[`loginguard_population{realm="default"}`] == "2"
	})
	server.Kill()
	busy(t, s.Check(client.Attempt{Account: "alice", IP: "198.51.100.7"}))
	service.Await(t, patient, "the breaker to open", func() bool { return scrape(t, s)["loginguard_breaker_open"] == "1" })

	got := scrape(t, s)
	names := make(map[string]bool)
	for line := range got {
		names[series.FindStringSubmatch(line + " 0")[1]] = true
	}
	for _, name := range []string{
		"decisions_total", "would_deny_total", "reports_total", "unreported_total",
		"check_duration_seconds_count", "check_duration_seconds_bucket", "check_duration_seconds_sum",
		"store_duration_seconds_count", "store_errors_total", "breaker_open",
		"config_last_reload_successful", "config_last_reload_success_timestamp_seconds", "build_info",
		"would_deny_then_success_total", "limit_mode", "population", "global_capacity", "global_remaining", "overrides",
		"override_next_expiry_timestamp_seconds", "in_flight", "events_dropped_total", "webhook_deliveries_total",
	} {
		if !names["loginguard_"+name] {
			t.Errorf("no loginguard_%s", name)
		}
	}
	for line, want := range map[string]string{
		`loginguard_would_deny_total{level="host",limit="network"}`:                                                    "6",
		`loginguard_would_deny_then_success_total{level="host",limit="network"}`:                                       "1",
		`loginguard_limit_mode{level="host",limit="network",mode="log_only"}`:                                          "1",
		`loginguard_global_remaining{realm="default"}`:                                                                 "990",
		`loginguard_reports_total{outcome="success"}`:                                                                  "2",
		`loginguard_config_last_reload_successful`:                                                                     "1",
		`loginguard_decisions_total{decision="allow",level="",limit="",realm="default",route="login"}`:                 "12",
		`loginguard_decisions_total{decision="deny",level="",limit="store_unavailable",realm="default",route="login"}`: "1",
	} {
		if got[line] != want {
			t.Errorf("%s is %s, want %s", line, got[line], want)
		}
	}
}

// words are all the values that labels may have in the test below.
var words = []string{
	"default", "login", "signup", "password_reset", "mfa", "allow", "deny", "challenge", "", "account", "network", "global",
	"host", "site", "subnet", "pool", "success", "failure", "cancelled", "repeated", "loopback",
	"take", "settle", "lookup", "search", "probe", "census", // calls of the store
	"password", "device", "familiar", "repeat", "challenged", "enforce", "log_only", "off", "active", "expired", // of the policy
	"attempt_denied", "global_exhausted", "account_first_strike", "override_expired", "store_down", "store_up", // events
	"delivered", "retried", "failed", // requests to the webhook
	"store_unavailable", "overloaded", "forward_auth_plain", "forward_auth_nginx", "forward_auth_envoy", "wforce", // why nothing was decided, and who asked
	"account", "command", "conflict", "content_encoding", "content_type", "forbidden", "framing", "host", "internal", "json",
	"loopback", "method", "no_key", "origin", "path", "peer", "proxy", "realm", "role", "size", "value", "wrong_key",
	"timeout", "pool", "refused", "closed", "readonly", "oom", "noscript", "crossslot", "wrongtype", "moved", // failures of the store
	"auth", "tls", "loading", "busy", "noreplicas", "clusterdown", "masterdown", "misconf", "corrupt", "full", "script", "other",
}

// TestStrangersMakeNoSeries sends two thousand random accounts, addresses,
// paths, methods, hosts and agents. Labels come from the configuration and
// from fixed sets, or anybody could fill the memory of whoever scrapes.
func TestStrangersMakeNoSeries(t *testing.T) {
	s := service.Start(t, service.Options{})
	random := rand.New(rand.NewPCG(1, 2))
	flood := func(n int) map[string]string {
		for range n / 50 {
			seed := random.Uint32()
			storm(50, func(i int) client.Attempt {
				a := client.Attempt{
					Account: fmt.Sprintf("planted%d-%d", seed, i), IP: address(int(seed) + i),
					PasswordTag: fmt.Sprint("planted", i), Device: fmt.Sprint("planted", i), ID: fmt.Sprint("planted", seed, i),
				}
				if i%2 == 0 {
					a.IP = fmt.Sprintf("2001:db8:%x:%x::1", seed&0xffff, i)
				}
				a.Route = []string{"", "signup", "password_reset", "mfa", fmt.Sprint("planted", i)}[i%5]
				if i%7 == 0 {
					a.Realm = fmt.Sprint("planted", i)
				}
				return a
			}, s)
			s.Do(fmt.Sprint("PLANTED", seed), fmt.Sprint("/planted", seed), http.Header{"User-Agent": {fmt.Sprint("planted", seed)}, "X-Forwarded-For": {"20.1.2.3"}}, "")
			s.Do("POST", fmt.Sprint("/v1/check?planted=", seed), http.Header{"Host": {fmt.Sprint("planted", seed)}}, "{}")
		}
		return scrape(t, s)
	}
	// The global limit is first read some seconds after the start, which adds
	// series that no stranger has made.
	service.Await(t, patient, "the global limit to be read", func() bool {
		_, read := scrape(t, s)[`loginguard_population{realm="default"}`]
		return read
	})
	first := flood(1000)
	second := flood(1000)
	if added := len(second) - len(first); added > 10 {
		// A limit may be hit for the first time, but not per stranger.
		t.Errorf("the second thousand attempts added %d series", added)
	}
	if len(second) > 250 { // most are counters that begin at 0
		t.Errorf("%d series", len(second))
	}
	for _, line := range slices.Sorted(maps.Keys(second)) {
		if strings.Contains(line, "build_info") {
			continue
		}
		for _, l := range label.FindAllStringSubmatch(line, -1) {
			if l[1] != "le" && !slices.Contains(words, l[2]) {
				t.Errorf("%s has the label value %q", line, l[2])
			}
		}
	}
	if page := string(s.Page("/metrics").Body); strings.Contains(page, "planted") || strings.Contains(page, "20.1.") || strings.Contains(page, "2001:db8") {
		t.Error("the page shows what a stranger sent")
	}
}
