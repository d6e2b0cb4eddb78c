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

// TestShortForm: what a bucket with a key of its own looks like, and all that
// keeps it from the short form.
func TestShortForm(t *testing.T) {
	for want, s := range map[string]state{
		"30212163200000000":   {full: start, capacity: 30, interval: 120 * second},
		"1212163200000001":    {full: start + 1, capacity: 1, interval: hour},
		"37212163200000000":   {full: start, capacity: 37, interval: 97297298}, // grown: an hour in 37 parts, rounded up
		"7000212163200000000": {full: start, capacity: 7000, interval: 514286},
		"7003212163200000000": {full: start, capacity: 3, interval: 20 * second},
		"8000212163200000000": {full: start, capacity: 1000, interval: minute / 1000},
		"8024212163200000000": {full: start, capacity: 24, interval: hour},
		"9000999999999999999": {full: shortEpoch + shortSpan - 1, capacity: 1000, interval: 86400 * second / 1000},
		// Not filled in an hour, a minute or a day, or too large.
		"1790000000000000/10x2160000000": {full: start, capacity: 10, interval: 2160 * second},
		"1790000000000000/37x97297297":   {full: start, capacity: 37, interval: 97297297},
		"1790000000000000/7001x514213":   {full: start, capacity: 7001, interval: 514213},
		// Before and after the span of the digits; strikes.
		"1577836799999999/30x120000000":                      {full: shortEpoch - 1, capacity: 30, interval: 120 * second},
		"2577836800000000/30x120000000":                      {full: shortEpoch + shortSpan, capacity: 30, interval: 120 * second},
		"1790000000000000/30x120000000/3/0/1790000000000000": {full: start, capacity: 30, interval: 120 * second, strikes: 3, last: start},
	} {
		if got := s.text(); got != want {
			t.Errorf("%+v is written as %q, want %q", s, got, want)
		}
		if got, err := parseState(want); err != nil || got != s {
			t.Errorf("%q reads as %+v, %v; want %+v", want, got, err, s)
		}
	}
}

// TestShortFormLosesNothing: whatever form a bucket takes, it reads the same.
func TestShortFormLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := state{full: rapid.Int64Range(shortEpoch-2, shortEpoch+shortSpan+1).Draw(t, "full"), capacity: rapid.Int64Range(1, 8000).Draw(t, "capacity")}
		window := rapid.SampledFrom([]int64{minute, hour, 24 * hour}).Draw(t, "window")
		s.interval = min(intervalMost, ceilDiv(window, s.capacity)) + rapid.Int64Range(-1, 0).Draw(t, "off")
		if got, err := parseState(s.text()); err != nil || got != s {
			t.Fatalf("%q reads as %+v, %v; want %+v", s.text(), got, err, s)
		}
	})
}

// FuzzParseState: what is read at all is safe to reckon with, and is written
// as a value that reads the same.
func FuzzParseState(f *testing.F) {
	for _, v := range []string{
		"", "1/2x3", "1790000000000000/10x2160000000/3/0/1790000000000000", "1/2x3/0/5/6", "0/0x1", "1/2x0", "1/2x-3", "1/2x3/1/2",
		"30212163200000000", "1212163200000000", "9001212163200000000", "030212163200000000", "212163200000000", "9000999999999999999",
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
		if again, err := parseState(s.text()); v != "" && (err != nil || again != s) {
			t.Fatalf("%q: %+v, then in short %+v, %v", v, s, again, err)
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
