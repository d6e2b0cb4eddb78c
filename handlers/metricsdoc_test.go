package handlers

import (
	goflag "flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"

	"loginguard/guard"
)

var update = goflag.Bool("update", false, "write the reference of the metrics anew")

// metricsPage is the reference in the manual.
const metricsPage = "../docs/metrics.md"

// labelWords says of each label which values it has.
var labelWords = map[string]string{
	"realm":     "the realms of the configuration",
	"route":     "the routes of the configuration",
	"decision":  "`allow`, `challenge`, `deny`",
	"limit":     "`account`, `device`, `familiar`, `network`, `global`, `password`, `repeat`, `challenged`; in `decisions_total` also empty (allowed), `store_unavailable`, `overloaded`",
	"level":     "`host`, `site`, `subnet`, `pool` for `network`, else empty",
	"mode":      "`enforce`, `log_only`, `off`",
	"outcome":   "`success`, `failure`, `cancelled`, `repeated`",
	"caller":    "the callers of the configuration, `front` for the reverse proxy, `loopback` without callers",
	"protocol":  "`forward_auth_plain`, `forward_auth_nginx`, `forward_auth_envoy`, `wforce`",
	"cause":     "a word of the log, such as `no_key`",
	"op":        "`take`, `settle`, `look` (whose account it is, in a flood from a closed network), `lookup` (an id), `forget`, `explain`, `search`, `probe`, `census`",
	"class":     "`timeout`, `pool` (no connection free in time), `refused`, `closed`, `tls`, `full`, `corrupt`, `wrongtype`, `script`, `other` and some more of Redis's own",
	"kind":      "the kinds of [events](events.md)",
	"result":    "`delivered`, `retried`, `failed`",
	"state":     "`active`, `expired`",
	"version":   "of the program",
	"goversion": "of Go",
}

// whatToDo says of each metric what an operator does with it.
var whatToDo = map[string]string{
	"breaker_open":                  "At 1 see why in `store_errors_total` and the log; attempts are decided by `on_failure` meanwhile.",
	"build_info":                    "Compare the instances.",
	"check_duration_seconds":        "Alert on p99: everybody who signs in waits for it. Then look at `store_duration_seconds`.",
	"config_hash":                   "More than one value over all instances: a reload has not reached all of them.",
	"decisions_total":               "The first thing to look at. A surge of denials by `account` is guessing at accounts, by `network` from few places, by `global` from very many.",
	"degraded_total":                "Not 0 means that passwords can be guessed without a limit (`open`) or nearly so (`local`): get the store back.",
	"denials_recalled_total":        "Its share of the denials is what a flood costs less: nothing is asked of the store for these.",
	"events_dropped_total":          "Kinds other than `attempt_denied` and `account_first_strike`: the webhook is too slow or down.",
	"exempt_total":                  "Far more than your probes make: `networks.exempt` is too wide.",
	"global_capacity":               "Divide `global_remaining` by it.",
	"global_remaining":              "Alert below a fifth. Falls fast: an attack from very many addresses. Falls slowly: more new people than the limit expects; raise `limits.global`.",
	"in_flight":                     "Near `server.max_in_flight`: more instances, or a faster store.",
	"limit_mode":                    "Join it to others: `loginguard_would_deny_total * on (instance, limit, level) group_left (mode) loginguard_limit_mode`.",
	"overrides":                     "Delete expired ones; `loginguard overrides list` shows them.",
	"population":                    "Far more than your accounts: somebody makes accounts in bulk.",
	"refused_total":                 "Not 0: a proxy or mail server is set up wrongly and lets nobody in.",
	"reports_total":                 "The share of `success` falls under an attack that is let through.",
	"store_duration_seconds":        "Near `store.timeout`: the store or the way to it is too slow.",
	"store_errors_total":            "Each failed `take` is an attempt decided by `on_failure`.",
	"unreported_total":              "Have the caller report every outcome, or its people are locked out.",
	"webhook_deliveries_total":      "`failed`: the log says what was answered.",
	"would_deny_total":              "What enforcing would deny. Compare with the next.",
	"would_deny_then_success_total": "What enforcing would cost. As good as 0: enforce.",

	"config_last_reload_successful":                "At 0 `loginguard config check` says what is wrong; the configuration before stays in force.",
	"config_last_reload_success_timestamp_seconds": "Its age says whether your last change has arrived.",
	"override_next_expiry_timestamp_seconds":       "Alert a week before: whoever asked for it will be denied again.",
}

// allSeries makes every metric of the service appear, and returns them.
func allSeries(t *testing.T) []*dto.MetricFamily {
	t.Helper()
	b := newBench(t)
	m := b.metrics
	m.Decided("default", "login", guard.Decision{Verdict: guard.Allow, Degraded: true})
	m.Decided("default", "login", guard.Decision{Verdict: guard.Deny, Limit: "account", Recalled: true})
	m.WouldDeny("account", "")
	m.WouldDenyThenSuccess("account", "")
	m.Exempt("default")
	m.Unreported("idp", 1)
	m.StoreCall("take", time.Millisecond, "timeout")
	m.refused.WithLabelValues("wforce", "no_key")
	m.Counted("default", guard.Census{Population: 1})
	all, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(f *dto.MetricFamily) bool { return !strings.HasPrefix(f.GetName(), "loginguard_") })
}

// TestReferenceOfTheMetricsIsCurrent: the page is made from the code; -update
// writes it.
func TestReferenceOfTheMetricsIsCurrent(t *testing.T) {
	var page strings.Builder
	page.WriteString(`# Metrics

The admin listener answers ` + "`/metrics`" + ` in the format of Prometheus, without a key and without a
limit. This page is made from the code (` + "`go test ./handlers -run Reference -update`" + `).
Beside these there are the usual ` + "`go_`" + ` and ` + "`process_`" + ` metrics. Counters begin at 0 with each
process, so look at ` + "`rate`" + ` or ` + "`increase`" + `.

All series of a counter are there from the start, and from the reload that names a new realm,
route or caller, so that ` + "`increase`" + ` sees the first event, too. Two exceptions: of
` + "`loginguard_decisions_total`" + ` only what was allowed and what ` + "`global`, `store_unavailable`" + `
and ` + "`overloaded`" + ` denied, since all its labels together are too many; and with more than
256 realms times routes the series with the label ` + "`realm`" + ` appear with their first event.

Values of labels come from the configuration and from fixed words: no client can make a
series. Who was denied is not a label; the log and ` + "`loginguard explain`" + ` say it.

Each instance counts what it did itself, so add them up; gauges of the store (population,
global) are the same everywhere, so take the maximum.

[deploy/prometheus](../deploy/prometheus) has alerts and recording rules,
[deploy/grafana](../deploy/grafana) a dashboard.

| metric | type | labels | meaning | what to do |
|---|---|---|---|---|
`)
	labels := make(map[string]bool)
	for _, f := range allSeries(t) {
		name := strings.TrimPrefix(f.GetName(), "loginguard_")
		var own []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			own = append(own, "`"+l.GetName()+"`")
			labels[l.GetName()] = true
		}
		if whatToDo[name] == "" {
			t.Errorf("nothing is said about what to do with %s", name)
		}
		kind := strings.ToLower(f.GetType().String())
		fmt.Fprintf(&page, "| `%s` | %s | %s | %s | %s |\n", f.GetName(), kind, strings.Join(own, ", "), f.GetHelp(), whatToDo[name])
	}
	page.WriteString("\n## Labels\n\n| label | values |\n|---|---|\n")
	for name := range labels {
		if labelWords[name] == "" {
			t.Errorf("nothing is said about the label %s", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		fmt.Fprintf(&page, "| `%s` | %s |\n", name, labelWords[name])
	}
	if *update {
		if err := os.WriteFile(metricsPage, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(metricsPage)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(page.String(), string(got)); diff != "" {
		t.Errorf("docs/metrics.md is stale: go test ./handlers -run Reference -update\n(-code +page)\n%s", diff)
	}
}
