//go:build slow && !race

package efficacy

import "testing"

// All scenarios in full, all seeds and variants: what the page shows of
// loginguard, and every bound.
func TestMatrixKeepsTheBounds(t *testing.T) {
	r, err := Measure(t.Context(), Options{
		Scenarios: Scenarios, Contenders: Contenders[:1], Seeds: Seeds,
		Variants: Variants, Parallel: 2, Progress: func(what string) { t.Log(what) },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range Check(r) {
		t.Logf("%s: %v of %v", c.Text, c.Highest, c.Most)
		if !c.Holds() {
			t.Errorf("%s: %v in %s, want at most %v", c.Text, c.Highest, c.Place, c.Most)
		}
	}
}
