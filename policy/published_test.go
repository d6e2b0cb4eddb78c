package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPublishedLimits(t *testing.T) {
	p := must(t, func(c *Config) {
		c.SupportURL = "https://help.example"
		c.Mode = LogOnly
		c.Limits.Global.Mode = Off
		c.Limits.Subnet.PerUser = 0
	})
	type line struct {
		Name, Level       string
		Capacity          int64
		Refill, Wait, Mod string
		Max               int64
	}
	want := []line{
		{"account", "", 10, "10/6h", "30s..1h", "log_only", 0},
		{"device", "", 10, "10/15m", "10s..15m", "log_only", 0},
		{"familiar", "", 10, "10/2h", "30s..30m", "log_only", 0},
		{"network", "host", 30, "30/1h", "", "log_only", 3000},
		{"network", "site", 60, "60/1h", "", "log_only", 5000},
		{"network", "subnet", 100, "100/1h", "", "log_only", 0},
		{"network", "pool", 100, "100/1h", "", "log_only", 10000},
		{"global", "", 1000, "1000/1h", "", "off", 100000},
		{"password", "", 20, "20/1h", "", "log_only", 0},
		{"repeat", "", 10, "10/1h", "", "log_only", 0},
		{"challenged", "", 5, "5/1h", "", "log_only", 0},
	}
	var got []line
	for _, e := range p.Published() {
		got = append(got, line{e.Name, e.Level, e.Capacity, e.Refill, e.Backoff, e.Mode, e.MaxCapacity})
		if !strings.HasPrefix(e.Purpose, "protection: ") || e.Scope == "" {
			t.Errorf("%s: purpose %q, scope %q", e.Name, e.Purpose, e.Scope)
		}
		if !strings.Contains(e.Raise, "https://help.example") {
			t.Errorf("%s: how to ask for more: %q", e.Name, e.Raise)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
	if r := must(t, nil).Published()[0].Raise; r == "" || strings.Contains(r, "ask at") {
		t.Errorf("without a place to ask: %q", r)
	}
}

func TestPolicyTellsItsSettings(t *testing.T) {
	p := must(t, func(c *Config) { c.Mode, c.SupportURL = LogOnly, "https://help.example" })
	if p.Mode() != LogOnly || p.SupportURL() != "https://help.example" {
		t.Errorf("mode %q, support %q", p.Mode(), p.SupportURL())
	}
	if d := Defaults(); p.AttemptTTL() != d.AttemptTTL || p.DeviceTTL() != d.DeviceTTL {
		t.Errorf("attempts live %v, devices %v", p.AttemptTTL(), p.DeviceTTL())
	}
	if got := must(t, func(c *Config) { c.Mode = "" }).Mode(); got != Enforce {
		t.Errorf("no mode is %q, want enforce", got)
	}
}
