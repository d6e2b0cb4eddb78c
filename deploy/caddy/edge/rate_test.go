package edge

import (
	"strings"
	"testing"
	"time"
)

func TestParseRate(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"5/s":        200 * time.Millisecond,
		"20/1s":      50 * time.Millisecond,
		"300/m":      200 * time.Millisecond,
		"1/h":        time.Hour,
		"1/10s":      10 * time.Second,
		"3/1m30s":    30 * time.Second,
		"3/s":        333_333_334, // rounded up: never more than was written
		"1000000/s":  time.Microsecond,
		"7/1000000s": 0,
	} {
		got, err := parseRate(s)
		if want == 0 {
			if err == nil || !strings.Contains(err.Error(), "must be between 1µs and 1h0m0s") {
				t.Errorf("%s: %s, error %v", s, got, err)
			}
		} else if got != want || err != nil {
			t.Errorf("%s: %s, %v, want %s", s, got, err, want)
		}
	}
}

func TestParseRateRefuses(t *testing.T) {
	for _, s := range []string{"", "5", "/s", "5/", "5/d", "5/0s", "0/s", "-5/s", "5/-1s", "+5/s", "5/s/s", "1.5/s", "5 /s", "5/ s", "1e3/s",
		"0x5/s", "99999999999999999999/s", "5/9999999h", "5/S", "１/s", "2000000/s", "1/61m"} {
		if got, err := parseRate(s); err == nil {
			t.Errorf("%q is read as one every %s", s, got)
		}
	}
}

func FuzzParseRate(f *testing.F) {
	for _, s := range []string{"5/s", "300/m", "1/10s", "3/1m30s", "1000000/s", "1/h", "9223372036854775807/1ns", "5/.5s", "-1/s", "5//s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := parseRate(s)
		if err != nil {
			if got != 0 {
				t.Errorf("%q: %s beside the error %v", s, got, err)
			}
			return
		}
		if got < minInterval || got > maxInterval {
			t.Errorf("%q: %s is out of bounds", s, got)
		}
	})
}
