package store

import (
	"errors"
	"testing"

	"pgregory.net/rapid"
)

func TestStateRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		moment := rapid.Int64Range(0, exact-1)
		s := state{full: moment.Draw(t, "full"), interval: rapid.Int64Range(1, intervalMost).Draw(t, "interval")}
		s.capacity = rapid.Int64Range(0, (exact-1)/s.interval).Draw(t, "capacity")
		if s.strikes = rapid.Int64Range(0, strikeMost).Draw(t, "strikes"); s.strikes > 0 {
			s.until, s.last = moment.Draw(t, "until"), moment.Draw(t, "last")
		}
		got, err := parseState(s.String())
		if err != nil || got != s {
			t.Fatalf("%q reads as %+v, %v; want %+v", s, got, err, s)
		}
	})
}

func TestStateText(t *testing.T) {
	for want, s := range map[string]state{
		"1790000000000000/10x2160000000":                                      {full: start, capacity: 10, interval: 2160 * second},
		"1790000000000000/10x2160000000/3/0/1790000000000000":                 {full: start, capacity: 10, interval: 2160 * second, strikes: 3, last: start},
		"9007199254740991/1x1/9999/9007199254740991/9007199254740991":         {exact - 1, 1, 1, 9999, exact - 1, exact - 1},
		"1790000000000000/1000000x4294967296":                                 {full: start, capacity: 1e6, interval: intervalMost},
		"1790000000000000/10x2160000000/1/1790000030000000/1790000000000000":  {start, 10, 2160 * second, 1, start + 30*second, start},
		"1790000000000001/10x2160000000/12/1790003600000000/1790000000000000": {start + 1, 10, 2160 * second, 12, start + hour, start},
	} {
		if got := s.String(); got != want {
			t.Errorf("written as %q, want %q", got, want)
		}
	}
	if s, err := parseState(""); err != nil || s != (state{}) {
		t.Errorf("nothing reads as %+v, %v; want a full bucket", s, err)
	}
}

// FuzzParseState: what is read at all is safe to reckon with, and is written
// as a value that reads the same.
func FuzzParseState(f *testing.F) {
	for _, v := range []string{
		"", "1/2x3", "1790000000000000/10x2160000000/3/0/1790000000000000", "1/2x3/0/5/6", "0/0x1", "1/2x0", "1/2x-3", "1/2x3/1/2",
		"9007199254740991/2097151x4294967296", "9007199254740991/1x1/9999/9007199254740991/9007199254740991", "1/1x4294967297",
	} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v string) {
		s, err := parseState(v)
		if err != nil {
			if !errors.Is(err, errCorrupt) {
				t.Fatalf("error %v", err)
			}
			return
		}
		if s.strikes == 0 {
			s.until, s.last = 0, 0 // they mean nothing
		}
		if again, err := parseState(s.String()); v != "" && (err != nil || again != s) {
			t.Fatalf("%q: %+v, then %+v, %v", v, s, again, err)
		}
		z := accountSize()
		got := judge(s, z, 1, start)
		if got.missing < 0 || got.missing > z.longest() || got.wait < 0 || got.wait > hour || got.dry() != (got.wait > 0) {
			t.Fatalf("%q: %+v", v, got)
		}
		if back := s.refund(1, start); back.full < start && s.interval != 0 {
			t.Fatalf("%q: refunded to %+v", v, back)
		}
		if plain := judge(s, plainSize(10, minute), 1, start); plain.wait < 0 || plain.wait > hour {
			t.Fatalf("%q: %+v", v, plain)
		}
	})
}
