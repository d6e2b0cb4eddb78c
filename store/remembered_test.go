package store

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var sameRemembered = cmp.AllowUnexported(Remembered{})

func TestRememberedRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[A-Za-z0-9_:/.-]{1,30}`)
		m := Remembered{
			Found: true, Binding: word.Draw(t, "binding"), Attempt: word.Draw(t, "attempt"), Note: word.Draw(t, "note"),
			Issued: rapid.Int64Range(0, exact-1).Draw(t, "issued"), Replaced: rapid.Bool().Draw(t, "replaced"),
			Lane: Lane(1 << rapid.IntRange(0, 4).Draw(t, "lane")), uses: rapid.Int64Range(0, 4).Draw(t, "uses"),
			expires: rapid.Int64Range(1, exact-1).Draw(t, "expires"),
		}
		m.Reported = m.uses == 0
		if marks := rapid.SliceOfN(rapid.StringMatching(`[a-z0-9:]{1,9}`), 0, 5).Draw(t, "marks"); len(marks) > 0 {
			m.Marks = marks
		}
		got, err := parseRemembered(m.String(), m.expires-1)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(m, got, sameRemembered); diff != "" {
			t.Fatalf("%q (-want +got):\n%s", m, diff)
		}
		if got, err := parseRemembered(m.String(), m.expires); err != nil || got.Found {
			t.Fatalf("found %+v, %v at its end", got, err)
		}
	})
}

// FuzzParseRemembered: what is found is complete.
func FuzzParseRemembered(f *testing.F) {
	f.Add("")
	f.Add("binding 1 attempt 1790000000000000 1790000120000000 4 0 a,h note")
	f.Add("binding 0 attempt 1790000000000000 1790000120000000 16 1 - note")
	f.Add("b 1 a 1 2 17 0 m n")
	f.Add(" 1 a 1 9 4 0 m n")
	f.Add("b 1 a 1 9 4 0 m")
	f.Add("b -1 a 1 9 4 0 m n")
	f.Fuzz(func(t *testing.T, v string) {
		m, err := parseRemembered(v, 0)
		switch {
		case err != nil && !errors.Is(err, errCorrupt):
			t.Fatalf("error %v", err)
		case !m.Found:
			if diff := cmp.Diff(Remembered{}, m, sameRemembered); diff != "" {
				t.Fatalf("nothing was found, but:\n%s", diff)
			}
		case m.Binding == "" || m.Attempt == "" || m.Note == "" || m.Lane > LaneRepeatNetwork || m.Reported != (m.uses == 0):
			t.Fatalf("%q reads as %+v", v, m)
		}
	})
}

func TestRememberedText(t *testing.T) {
	m := Remembered{Binding: "b", Attempt: "a", Note: "n", Issued: start, Lane: LaneStranger, uses: 2, expires: start + minute}
	if got, want := m.String(), fmt.Sprintf("b 2 a %d %d 4 0 - n", start, start+minute); got != want {
		t.Errorf("written as %q, want %q", got, want)
	}
	m.Marks, m.Replaced = []string{"x", "y"}, true
	if got, want := m.String(), fmt.Sprintf("b 2 a %d %d 4 1 x,y n", start, start+minute); got != want {
		t.Errorf("written as %q, want %q", got, want)
	}
}
