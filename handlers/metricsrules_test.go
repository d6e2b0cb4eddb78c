package handlers

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"loginguard/guard"
	"loginguard/policy"
)

// TestMetricsOfThePolicyFollowAReload: they change in one step with the
// decisions, and leave nothing of the policy before.
func TestMetricsOfThePolicyFollowAReload(t *testing.T) {
	b := newBench(t)
	c := policy.Defaults()
	c.Limits.Account.Mode, c.Limits.Site.Mode = policy.LogOnly, policy.Off
	c.Now = time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, day := range []string{"2026-12-30", "2026-12-31", "2027-01-31", "2027-02-28", ""} {
		c.Overrides = append(c.Overrides, policy.Override{Limit: "global", Capacity: 2000, Reason: "x", Expires: day})
	}
	p, err := policy.New(c)
	if err != nil {
		t.Fatal(err)
	}
	b.engine.rules = guard.Rules{Policy: p}
	got := scrape(t, b)
	modes := slices.DeleteFunc(slices.Clone(got), func(s string) bool { return !strings.HasPrefix(s, "loginguard_limit_mode") })
	if len(modes) != 11 {
		t.Errorf("%d modes, want one for each of the 11 limits:\n%s", len(modes), strings.Join(modes, "\n"))
	}
	for _, want := range []string{
		`loginguard_limit_mode{level="",limit="account",mode="log_only"} 1`,
		`loginguard_limit_mode{level="site",limit="network",mode="off"} 1`,
		`loginguard_limit_mode{level="host",limit="network",mode="enforce"} 1`,
		`loginguard_overrides{state="active"} 3`,
		`loginguard_overrides{state="expired"} 2`,
		`loginguard_override_next_expiry_timestamp_seconds 1.80144e+09`, // 2027-02-01T00:00Z
	} {
		if !hasSeries(got, want) {
			t.Errorf("no series %s in\n%s", want, strings.Join(got, "\n"))
		}
	}
}

// TestOldCensusIsNotShown: after an outage no number is better than one from
// before.
func TestOldCensusIsNotShown(t *testing.T) {
	var c census
	begin := time.Unix(1e9, 0)
	c.set("gone", guard.Census{Capacity: 1}, begin)
	c.set("default", guard.Census{Capacity: 1}, begin.Add(30*time.Second))
	shown := func(now time.Time) int {
		ch := make(chan prometheus.Metric, 16)
		c.collect(ch, now)
		return len(ch)
	}
	for after, want := range map[time.Duration]int{time.Minute: 6, time.Minute + 1: 3, 90*time.Second + 1: 0} {
		if got := shown(begin.Add(after)); got != want {
			t.Errorf("after %s there are %d series, want %d", after, got, want)
		}
	}
	c.set("default", guard.Census{Capacity: 1}, begin.Add(2*time.Minute))
	if len(c.realms) != 1 {
		t.Errorf("%d realms are kept, want 1", len(c.realms))
	}
}
