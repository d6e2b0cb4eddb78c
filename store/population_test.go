package store

import (
	"errors"
	"testing"

	"pgregory.net/rapid"
)

func TestHeadcountOverWeeks(t *testing.T) {
	h := headcount{week: 100, both: 30, this: 20}
	for w, want := range map[int64]int64{98: 0, 99: 0, 100: 30, 101: 20, 102: 0, 200: 0} {
		for _, now := range []int64{w * week, (w+1)*week - 1} {
			if got := h.at(now); got != want {
				t.Errorf("in week %d: %d members, want %d", w, got, want)
			}
		}
	}
	none, err := parseHeadcount("")
	if err != nil {
		t.Fatal(err)
	}
	for w := range int64(3) {
		if got := none.at(w * week); got != 0 {
			t.Errorf("nobody counts as %d", got)
		}
	}
}

func TestHeadcountRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, exact-1)
		h := headcount{n.Draw(t, "week"), n.Draw(t, "both"), n.Draw(t, "this")}
		if got, err := parseHeadcount(h.String()); err != nil || got != h {
			t.Fatalf("%q reads as %+v, %v", h, got, err)
		}
	})
	for _, v := range []string{"1", "1/2", "1/2/", "/1/2", "1/2/3/4", "1/2/x", "-1/2/3", "1/2/9007199254740992"} {
		if h, err := parseHeadcount(v); !errors.Is(err, errCorrupt) {
			t.Errorf("%q reads as %+v, %v; want it refused", v, h, err)
		}
	}
}

func TestPopulationSlotsTakeTurns(t *testing.T) {
	if a, b, c := populationSlot("k", 7), populationSlot("k", 8), populationSlot("k", 9); a == b || a != c || a != "k:1" || b != "k:0" {
		t.Errorf("slots %s, %s, %s", a, b, c)
	}
}
