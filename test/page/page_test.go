package page

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"loginguard/test/internal/client"
	"loginguard/test/internal/redisd"
	"loginguard/test/internal/service"
)

// rules make few attempts do much: a host that is dry after five, a /24 that is
// only watched, an override that is over and one that is not.
const rules = `
limits:
  network:
    host: {capacity: 5, refill: 5/1h}
    subnet: {mode: log_only, capacity: 8, refill: 8/1h}
overrides:
  - {limit: network, level: host, match: {network: 192.0.2.0/24}, capacity: 50, refill: 50/1h, reason: an exam hall, expires: 2099-12-31}
  - {limit: network, level: host, match: {network: 198.18.0.0/24}, capacity: 50, refill: 50/1h, reason: over, expires: 2020-01-01}
`

// metrics reads /metrics, by series.
func metrics(t *testing.T, s *service.Service) map[string]float64 {
	t.Helper()
	all := map[string]float64{}
	for _, line := range strings.Split(string(s.Page("/metrics").Body), "\n") {
		if i := strings.LastIndexByte(line, ' '); i > 0 && line[0] != '#' {
			if v, err := strconv.ParseFloat(line[i+1:], 64); err == nil {
				all[line[:i]] = v
			}
		}
	}
	return all
}

// sum adds up the series that begin with a name and have all labels given.
func sum(all map[string]float64, name string, labels ...string) float64 {
	var n float64
series:
	for series, v := range all {
		if series != name && !strings.HasPrefix(series, name+"{") {
			continue
		}
		for _, l := range labels {
			if !strings.Contains(series, l) {
				continue series
			}
		}
		n += v
	}
	return n
}

// sent is what the traffic of a test comes to.
type sent struct{ allowed, byAccount, byHost, would, people, success, failure, cancelled, repeated int }

// traffic sends attempts of every kind.
func traffic(t *testing.T, s *service.Service) sent {
	t.Helper()
	var n sent
	attempt := func(account, ip, outcome string) client.Decision {
		d := s.Check(client.Attempt{Account: account, IP: ip})
		switch {
		case d.Allowed():
			n.allowed++
			if len(d.WouldDeny) > 0 {
				n.would++
			}
		case d.Limit == "account":
			n.byAccount++
		case d.Limit == "network":
			n.byHost++
		default:
			t.Fatalf("answered %d: %s", d.Status, d.Body)
		}
		if d.Allowed() && outcome != "" {
			s.Report(d.Attempt, outcome)
			switch outcome {
			case "success":
				n.success++
				if len(d.WouldDeny) > 0 {
					n.people++
				}
			case "failure":
				n.failure++
			case "cancelled":
				n.cancelled++
			}
		}
		return d
	}
	for i := range 13 { // one account from many places: ten may pass
		attempt("alice", fmt.Sprintf("20.0.%d.7", i), "failure")
	}
	for i := range 7 { // many accounts from one place: five may pass
		attempt(fmt.Sprint("victim", i), "203.0.113.9", "failure")
	}
	for i := range 8 { // fills a /24 that is only watched
		attempt(fmt.Sprint("guest", i), fmt.Sprintf("198.51.100.%d", i), "failure")
	}
	attempt("person", "198.51.100.20", "success")
	attempt("stranger", "198.51.100.21", "failure")
	attempt("undone", "20.1.0.7", "cancelled")
	d := attempt("twice", "20.1.1.7", "success")
	s.Report(d.Attempt, "success")
	n.repeated++
	return n
}

// group writes a whole number as the page does.
func group(n float64) string {
	s := strconv.FormatFloat(n, 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// TestEveryNumberIsRight compares the page with what was sent and with
// /metrics, which is read while nothing is sent.
func TestEveryNumberIsRight(t *testing.T) {
	t.Parallel()
	s := service.Start(t, service.Options{Config: rules})
	n := traffic(t, s)
	if n != (sent{allowed: 27, byAccount: 3, byHost: 2, would: 2, people: 1, success: 2, failure: 24, cancelled: 1, repeated: 1}) {
		t.Fatalf("sent %+v", n)
	}
	b := open(t, s.Admin)
	b.await(`document.getElementById("total").textContent === "32"`)
	b.await(`document.querySelectorAll("#chart-denials .legend li").length === 2`)
	m := metrics(t, s)

	if got := sum(m, "loginguard_decisions_total"); got != 32 {
		t.Fatalf("/metrics counts %g attempts, 32 were sent", got)
	}
	for id, want := range map[string]string{
		"denied":     group(sum(m, "loginguard_decisions_total", `decision="deny"`)),
		"challenged": "0",
		"in-flight":  ", " + group(m["loginguard_in_flight"]) + " in progress",
		"share":      "16%", // 5 of 32
		"store":      "up",
		"mode":       "enforcing",
		"reload":     "current",
		"overrides":  group(m[`loginguard_overrides{state="active"}`]),
		"pulse-text": "live",
	} {
		if got := b.text(id); got != want {
			t.Errorf("%s shows %q, want %q", id, got, want)
		}
	}
	if got := b.text("denied"); got != fmt.Sprint(n.byAccount+n.byHost) {
		t.Errorf("%s denied, %d were", got, n.byAccount+n.byHost)
	}
	if got := b.text("overrides-next"); !regexp.MustCompile(`^next expires in \d+ d(?: \d+ h)?, 1 expired$`).MatchString(got) {
		t.Errorf("overrides: %q", got)
	}
	if hash := m["loginguard_config_hash"]; hash == 0 || b.text("reload-hash") != ", hash "+strconv.FormatFloat(hash, 'f', 0, 64) {
		t.Errorf("hash %q, want %.0f", b.text("reload-hash"), hash)
	}

	tables(t, b, m, n)
	latencies(t, b, m)
	charts(t, b, n)
}

// tables compares every table.
func tables(t *testing.T, b *tab, m map[string]float64, n sent) {
	t.Helper()
	decided := func(labels ...string) float64 { return sum(m, "loginguard_decisions_total", labels...) }
	for selector, want := range map[string][][]string{
		"#t-denials": {
			{"account", group(decided(`decision="deny"`, `limit="account"`)), "9.4%", "0"},
			{"network host", group(decided(`decision="deny"`, `limit="network"`, `level="host"`)), "6.3%", "0"},
		},
		"#t-logonly": {{"network subnet", "log only", group(sum(m, "loginguard_would_deny_total", `level="subnet"`)),
			group(sum(m, "loginguard_would_deny_then_success_total", `level="subnet"`)) + " (50%)"}},
		"#t-routes": {{"login", fmt.Sprint(n.allowed), "0", fmt.Sprint(n.byAccount + n.byHost), "0"}},
		"#t-reports": {
			{"success", fmt.Sprint(n.success)}, {"failure", fmt.Sprint(n.failure)},
			{"cancelled", fmt.Sprint(n.cancelled)}, {"repeated", fmt.Sprint(n.repeated)},
		},
		"#t-errors": {},
	} {
		if got := b.table(selector); !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%s shows %q, want %q", selector, got, want)
		}
	}
	if got := b.table("#t-logonly")[0][2]; got != fmt.Sprint(n.would) {
		t.Errorf("would have denied %s, %d were so answered", got, n.would)
	}
	if got := b.table("#t-logonly")[0][3]; got != fmt.Sprint(n.people, " (50%)") {
		t.Errorf("then signed in: %s, %d did", got, n.people)
	}
	limits := b.table("#t-limits")
	if len(limits) != 11 {
		t.Fatalf("%d limits", len(limits))
	}
	for _, l := range limits {
		name, level, _ := strings.Cut(l[0], " ")
		if got := sum(m, "loginguard_limit_mode", `limit="`+name+`"`, `level="`+level+`"`, `mode="`+strings.ReplaceAll(l[1], " ", "_")+`"`); got != 1 {
			t.Errorf("the page says that %s is in mode %s, /metrics does not", l[0], l[1])
		}
	}
}

// latencies compares the times with the histograms: the service is younger than
// the window of the page, so that both are about the same attempts.
func latencies(t *testing.T, b *tab, m map[string]float64) {
	t.Helper()
	status := value[map[string]any](b, `fetch("/v1/status").then(r => r.json())`, chromedp.EvalAwaitPromise)
	check := status["check"].(map[string]any)
	if got, want := check["count"].(float64), m["loginguard_check_duration_seconds_count"]; got != want {
		t.Errorf("%g decisions were timed, /metrics says %g", got, want)
	}
	for name, q := range map[string]float64{"p50": .5, "p99": .99} {
		got, rank := check[name].(float64), q*m["loginguard_check_duration_seconds_count"]
		// The quantile lies in the bucket in which the rank is reached.
		at := func(le float64) float64 {
			return m[`loginguard_check_duration_seconds_bucket{le="`+strconv.FormatFloat(le, 'g', -1, 64)+`"}`]
		}
		low, high := 0.0, 0.0
		for _, le := range []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1} {
			if high = le; at(le) >= rank {
				break
			}
			low = le
		}
		if got < low || got > high {
			t.Errorf("%s is %g s, /metrics has it between %g and %g", name, got, low, high)
		}
		shown := b.text("check-" + name)
		number, unit, _ := strings.Cut(strings.TrimPrefix(shown, "≥"), " ")
		v, err := strconv.ParseFloat(number, 64)
		if unit == "ms" {
			v /= 1000
		}
		if err != nil || v < got*.9 || v > got*1.1 {
			t.Errorf("%s shows %q for %g s", name, shown, got)
		}
	}
}

// charts adds up what the pictures tell: their text alternatives, and what the
// arrow keys read.
func charts(t *testing.T, b *tab, n sent) {
	t.Helper()
	for _, c := range []struct{ id, want string }{
		{"chart-attempts", "Attempts per second, last 30 minutes. allowed: now "},
		{"chart-denials", "Denials by limit per minute, last 30 minutes. account: now "},
		{"chart-time", "Time to decide p99 of 5 minutes, last 30 minutes. decision: now "},
	} {
		if got := value[string](b, `document.querySelector("#`+c.id+` svg[role=img]").getAttribute("aria-label")`); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s is described as %q", c.id, got)
		}
	}
	b.tabTo(`document.querySelector("#chart-denials .plot")`)
	b.keys(kb.Home)
	b.await(`/^\d\d:\d\d:\d\d: account /.test(document.querySelector("#chart-denials [role=status]").textContent)`)
	// A bin tells denials per minute: a quarter minute each but for the first and
	// the last, so that the whole is found again in all of them.
	total := value[float64](b, `(() => {
		const plot = document.querySelector("#chart-denials .plot"), said = document.querySelector("#chart-denials [role=status]");
		let most = 0;
		for (let i = 0; i < 130; i++) {
			const v = said.textContent.match(/account ([\d.,]+)/);
			if (v) most = Math.max(most, Number(v[1].replaceAll(",", "")));
			plot.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight"}));
		}
		return most;
	})()`)
	// All three came within one or two bins.
	if least, most := float64(n.byAccount)*60/30, float64(n.byAccount)*60; total < least || total > most {
		t.Errorf("the chart's highest rate of denials by account is %g a minute, want %g to %g", total, least, most)
	}
}

// TestOutageIsSeen kills the store, and then the service.
func TestOutageIsSeen(t *testing.T) {
	t.Parallel()
	server := redisd.Start(t)
	s := service.Start(t, service.Options{Redis: server.URL(), Env: []string{"LOGINGUARD_STORE_TIMEOUT=200ms"}})
	b := open(t, s.Admin)
	b.await(`document.getElementById("store").textContent === "up"`)
	server.Kill()
	b.await(`document.getElementById("store").textContent === "down"`)
	for range 3 {
		if d := s.Check(client.Attempt{Account: "alice", IP: "203.0.113.9"}); d.Status != http.StatusServiceUnavailable {
			t.Fatalf("answered %d: %s", d.Status, d.Body)
		}
	}
	b.await(`document.querySelector("#t-denials td.num")?.textContent === "3"`)
	if got := b.table("#t-denials"); len(got) != 1 || got[0][0] != "store unavailable" {
		t.Errorf("denials %q", got)
	}
	if len(b.table("#t-errors")) == 0 {
		t.Error("no failures of the store are shown")
	}
	b.await(`document.querySelector("#chart-time .down") && document.title === "store down – loginguard"`)

	b.expect("net::ERR")
	s.Kill()
	b.await(`!document.getElementById("lost").hidden && document.getElementById("pulse-text").textContent === "no answer"`)
	if got := b.text("lost"); !regexp.MustCompile(`^The service does not answer\. What you see is of \d\d:\d\d:\d\d\.$`).MatchString(got) {
		t.Errorf("says %q", got)
	}
}
