package efficacy

import (
	"os"
	"strings"
	"testing"
)

// The page in docs is of all scenarios and policies that there are, in the
// words that are used here, and every bound held when it was written.
func TestPageIsOfWhatThereIs(t *testing.T) {
	text, err := os.ReadFile("../../docs/efficacy.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for _, s := range Scenarios {
		if !strings.Contains(page, "## "+s.Title+"\n\n"+s.About+"\n") {
			t.Errorf("%s is not in the page, or in other words: write it again", s.Name)
		}
	}
	for _, c := range Contenders {
		if !strings.Contains(page, "- **"+c.Name+"**: "+c.About) || !strings.Contains(page, "\n| "+c.Name+" | ") {
			t.Errorf("%s is not in the page, or in other words: write it again", c.Name)
		}
	}
	for _, b := range Bounds {
		if !strings.Contains(page, "| "+b.Text+" | ") {
			t.Errorf("the bound %q is not in the page: write it again", b.Text)
		}
	}
	if strings.Contains(page, "does not hold") {
		t.Error("the page says that a bound does not hold")
	}
}

// Rows that are the same in several variants are one, named by what they share.
func TestRowsOfVariantsAreJoined(t *testing.T) {
	tests := []struct {
		variants []Variant
		want     string
	}{
		{Variants, "all"},
		{Variants[:1], "devices, tags"},
		{Variants[:2], "devices"},
		{Variants[2:], "some devices"},
		{[]Variant{{true, true}, {false, true}}, "tags"},
		{[]Variant{{true, false}, {false, false}}, "no tags"},
		{Variants[1:3], "devices, no tags; some devices, tags"},
	}
	for _, test := range tests {
		var names []string
		for _, v := range test.variants {
			names = append(names, v.String())
		}
		if got := together(names); got != test.want {
			t.Errorf("together(%q) = %q, want %q", names, got, test.want)
		}
	}
}

func TestFiguresAreReadable(t *testing.T) {
	for f, want := range map[float64]string{0: "0", 7: "7", 999: "999", 1000: "1,000", 43200: "43,200", 1234567: "1,234,567", 0.1: "0.10", 14.725: "14.72"} {
		if got := decimal(f); got != want {
			t.Errorf("decimal(%v) = %q, want %q", f, got, want)
		}
	}
}
