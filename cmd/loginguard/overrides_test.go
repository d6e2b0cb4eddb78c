package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loginguard/cmd/loginguard/config"
)

// The last day counts in full, in UTC.
func TestDaysLeftOfOverrides(t *testing.T) {
	at := func(s string) time.Time {
		now, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	for _, tt := range []struct {
		now     string
		left    int
		text    string
		expired bool
		in7days int
	}{
		{"2027-01-01T12:00:00Z", 30, "30", false, 0},
		{"2027-01-24T23:59:59Z", 7, "7", false, 0},
		{"2027-01-25T00:00:00Z", 6, "6", false, 1},
		{"2027-01-31T00:00:00Z", 0, "last day", false, 1},
		{"2027-01-31T23:59:59Z", 0, "last day", false, 1},
		{"2027-01-31T23:59:59-02:00", -1, "expired", true, 1},
		{"2027-02-01T00:00:00Z", -1, "expired", true, 1},
		{"2027-02-03T08:00:00Z", -3, "expired", true, 1},
	} {
		list := []config.Override{{Limit: "account", Expires: "2027-01-31"}}
		o := overridesOf(list, at(tt.now))[0]
		if *o.DaysLeft != tt.left || o.Expired != tt.expired || o.left() != tt.text {
			t.Errorf("at %s: %d days left, expired %v, %q", tt.now, *o.DaysLeft, o.Expired, o.left())
		}
		if n := expiring(list, at(tt.now), 7*day); n != tt.in7days {
			t.Errorf("at %s: %d expire within 7 days, want %d", tt.now, n, tt.in7days)
		}
		if n := expired(list, at(tt.now)); (n == 1) != tt.expired {
			t.Errorf("at %s: %d have expired", tt.now, n)
		}
	}
	if o := overridesOf([]config.Override{{Limit: "account"}}, at("2027-01-01T00:00:00Z"))[0]; o.DaysLeft != nil || o.Expired || o.left() != "-" {
		t.Errorf("one without an end: %+v", o)
	}
}

func TestSpansAreReadInDays(t *testing.T) {
	for text, want := range map[string]string{"7d": "7d", "2w": "14d", "36h": "36h0m0s", "48h": "2d", "0d": "0d",
		"7": "", "": "", "-1d": "", "-1h": "", "99999d": "", "1e3d": "", "d": "", "1.5d": "", "36501d": "", "876001h": ""} {
		var s span
		if err := s.Set(text); (err == nil) != (want != "") || s.String() != want {
			t.Errorf("%q is %q, %v; want %q", text, s.String(), err, want)
		}
	}
}

const someOverrides = `
overrides:
  - {limit: network, level: subnet, match: {network: 203.0.113.0/24, realm: default}, capacity: 500, reason: the exam hall, expires: 2099-01-31}
  - {limit: account, match: {account: bob}, refill: 50/6h, reason: gone, expires: 2020-01-31}
  - {limit: global, capacity: 2000, reason: more}
`

func TestOverridesAreListed(t *testing.T) {
	file := write(t, "config.yaml", someOverrides)
	code, out, errs := once(t, nil, "overrides", "list", "--config", file)
	lines := strings.Split(out, "\n")
	for i, want := range []string{
		"# LIMIT FOR CAPACITY REFILL EXPIRES DAYS LEFT REASON",
		"0 network subnet network 203.0.113.0/24, realm default 500 - 2099-01-31 N the exam hall",
		"1 account account bob - 50/6h 2020-01-31 expired gone",
		"2 global everybody 2000 - never - more",
	} {
		got := strings.Join(strings.Fields(lines[i]), " ")
		before, after, _ := strings.Cut(want, " N ")
		if !strings.HasPrefix(got, before) || !strings.HasSuffix(got, after) {
			t.Errorf("line %d is %q, want %q", i, got, want)
		}
	}
	if code != 0 || errs != "" {
		t.Errorf("exit status %d, %s", code, errs)
	}

	code, out, _ = once(t, nil, "overrides", "list", "--json", "--within", "7d", "--config", file)
	var v struct{ Overrides []override }
	if err := json.Unmarshal([]byte(out), &v); err != nil || len(v.Overrides) != 3 {
		t.Fatalf("%v in %s", err, out)
	}
	if code != int(exitFound) {
		t.Errorf("one has expired, and the exit status is %d", code)
	}
	first := v.Overrides[0]
	if first.DaysLeft == nil || *first.DaysLeft < 365 {
		t.Errorf("the first has %v days left", first.DaysLeft)
	}
	first.DaysLeft = nil
	want := override{Path: "overrides[0]", Limit: "network", Level: "subnet", Match: map[string]string{"network": "203.0.113.0/24", "realm": "default"},
		Capacity: 500, Reason: "the exam hall", Expires: "2099-01-31"}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("the first (-want +got):\n%s", diff)
	}

	young := write(t, "config.yaml", "overrides: [{limit: account, capacity: 20, reason: x, expires: 2099-01-31}]\n")
	if code, _, _ := once(t, nil, "overrides", "list", "--within", "7d", "--config", young); code != 0 {
		t.Errorf("none expires within 7 days, and the exit status is %d", code)
	}
	if code, out, _ := once(t, nil, "overrides", "list", "--config", write(t, "config.yaml", "mode: enforce\n")); code != 0 || out != "there are no overrides\n" {
		t.Errorf("without any: %d, %s", code, out)
	}
	if code, _, errs := once(t, nil, "overrides", "list", "--within", "soon"); code != exitUsage || !strings.Contains(errs, "must be a span such as 7d") {
		t.Errorf("a wrong span: %d, %s", code, errs)
	}
}
