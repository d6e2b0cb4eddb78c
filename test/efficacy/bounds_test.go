package efficacy

import (
	"maps"
	"slices"
	"testing"
)

// bounded returns the scenarios of a name in which there is a bound.
func bounded(keep func(name string) bool) []Scenario {
	return slices.DeleteFunc(slices.Clone(Scenarios), func(s Scenario) bool {
		return !keep(s.Name) || !slices.ContainsFunc(Bounds, func(b Bound) bool { return slices.Contains(b.Scenarios, s.Name) })
	})
}

// The small edition keeps every bound: in the variant that is hardest on owners
// and, where tags decide, in the one with tags, too.
func TestDefaultsKeepTheBounds(t *testing.T) {
	hard, kind := Variant{}, Variant{Devices: true, Tags: true}
	all := make(Results)
	for _, part := range []struct {
		v    Variant
		keep func(string) bool
	}{
		{hard, func(name string) bool { return name != "lockoutservers" }},
		{kind, func(name string) bool { return name == "oldpassword" || name == "spraying" }},
	} {
		r, err := Measure(t.Context(), Options{
			Scenarios: bounded(part.keep), Contenders: Contenders[:1], Seeds: Seeds[:1],
			Variants: []Variant{part.v}, Small: true, Parallel: 2,
		})
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(all, r)
	}
	checked := Check(all)
	if len(checked) != len(Bounds) {
		t.Errorf("%d of %d bounds were checked", len(checked), len(Bounds))
	}
	for _, c := range checked {
		if !c.Holds() {
			t.Errorf("%s: %v in %s, want at most %v", c.Text, c.Highest, c.Place, c.Most)
		}
	}
	for cell, runs := range all {
		i := slices.IndexFunc(Scenarios, func(s Scenario) bool { return s.Name == cell.Scenario })
		if attacked := runs[0].Attempts > 0; attacked != Scenarios[i].Attack {
			t.Errorf("%s has attackers: %v, want %v", cell.Scenario, attacked, Scenarios[i].Attack)
		}
		if runs[0].SignIns == 0 {
			t.Errorf("nobody signed in in %s", cell.Scenario)
		}
	}
}

// A bound is broken by the worst of the runs that it is about, and by no other.
func TestCheckFindsTheWorstRun(t *testing.T) {
	with, without := Variant{true, true}, Variant{true, false}
	r := Results{
		Cell{"spraying", Ours, with}:          {{Guesses: 20}, {Guesses: 301}},
		Cell{"spraying", Ours, without}:       {{Guesses: 12_000}, {Guesses: 13_000}},
		Cell{"spraying", "Keycloak", with}:    {{Guesses: 60_000}, {Guesses: 60_000}},
		Cell{"oldpassword", Ours, without}:    {{Lost: 7, SignIns: 9}, {}},
		Cell{"firstday", Ours, with}:          {{Lost: 1, SignIns: 1000}, {}},
		Cell{"lockout", Ours, Variant{}}:      {{Lost: 5, Known: 0, Worst: 60}, {}},
		Cell{"carrierguessing", Ours, with}:   {{Lost: 5, Known: 5, Guesses: 9000}, {}},
		Cell{"stuffing", Challenging, with}:   {{Guesses: 4000, Found: 300}, {}},
		Cell{"botnet", "fail2ban", Variant{}}: {{Guesses: 4000, Worst: 300}, {}},
	}
	broken := make(map[string]float64)
	for _, c := range Check(r) {
		if !c.Holds() {
			broken[c.Text] = c.Highest
		}
	}
	if len(broken) != 1 || broken["Sprayed guesses of 60,000, with tags"] != 301 {
		t.Errorf("broken are %v, want only the sprayed guesses with tags, by 301", broken)
	}
}

// A rival is better by its median, in the columns that a scenario has.
func TestRivalsAreBetterByTheMedian(t *testing.T) {
	v := Variant{true, true}
	r := Results{
		Cell{"botnet", Ours, v}:      {{Guesses: 10, Lost: 3}, {Guesses: 300, Lost: 3}, {Guesses: 200, Lost: 0}},
		Cell{"botnet", "axes", v}:    {{Guesses: 199, Lost: 9}, {Guesses: 900, Lost: 9}, {Guesses: 199, Lost: 9}},
		Cell{"botnet", "Auth0", v}:   {{Guesses: 900, Lost: 2}, {Guesses: 900, Lost: 2}, {Guesses: 900, Lost: 2}},
		Cell{"botnet", "devise", v}:  {{Guesses: 1, Lost: 1}, {Guesses: 1, Lost: 1}, {Guesses: 1, Lost: 1}},
		Cell{"botnet", "wforce", v}:  {{Guesses: 200, Lost: 3}, {Guesses: 200, Lost: 3}, {Guesses: 200, Lost: 3}},
		Cell{"ordinary", Ours, v}:    {{Guesses: 5}},
		Cell{"ordinary", "axes", v}:  {{Guesses: 0}},
		Cell{"botnet", Sparing, v}:   {{}, {}, {}},
		Cell{"ordinary", Sparing, v}: {{}},
	}
	got := make(map[string][2]bool)
	for _, rival := range Rivals(r) {
		if rival.Scenario != "botnet" {
			t.Errorf("%+v is a rival", rival)
		}
		got[rival.Contender] = [2]bool{rival.Guesses, rival.Lost}
	}
	want := map[string][2]bool{"axes": {true, false}, "Auth0": {false, true}, "devise": {true, true}}
	if len(got) != len(want) || got["axes"] != want["axes"] || got["Auth0"] != want["Auth0"] || got["devise"] != want["devise"] {
		t.Errorf("rivals are %v, want %v", got, want)
	}
}
