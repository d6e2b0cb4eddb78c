package policy

import (
	"testing"
	"time"
)

func TestParseRate(t *testing.T) {
	tests := []struct {
		in       string
		want     Rate
		interval int64 // microseconds
		out      string
	}{
		{"10/6h", Rate{10, 6 * time.Hour}, minutes(36), "10/6h"},
		{"1/1s", Rate{1, time.Second}, 1_000_000, "1/1s"},
		{"7/1h", Rate{7, time.Hour}, 514_285_715, "7/1h"}, // 514285714.28...
		{"3/10us", Rate{3, 10 * time.Microsecond}, 4, "3/10µs"},
		{"1/1500ns", Rate{1, 1500}, 2, "1/1.5µs"},
		{"2/90m", Rate{2, 90 * time.Minute}, minutes(45), "2/1h30m"},
		{"1000/1h0m0s", Rate{1000, time.Hour}, 3_600_000, "1000/1h"},
	}
	for _, tt := range tests {
		got, err := ParseRate(tt.in)
		if err != nil || got != tt.want {
			t.Errorf("ParseRate(%q) = %v, %v, want %v", tt.in, got, err, tt.want)
			continue
		}
		if got.interval() != tt.interval {
			t.Errorf("%s: interval %d, want %d", tt.in, got.interval(), tt.interval)
		}
		if got.String() != tt.out {
			t.Errorf("%s is written %s, want %s", tt.in, got, tt.out)
		}
	}
}

func TestParseRateRefuses(t *testing.T) {
	for _, in := range []string{"", "10", "10/", "/6h", "10/6", "0/6h", "-1/6h", "+1/6h", "1/-6h", "1/0s", " 1/6h", "1 /6h", "1/ 6h",
		"1.5/6h", "1e3/6h", "1/6h/2", "1/6d", "0x1/1h", "9223372036854775808/1h", "1/3000000h", "10 per hour"} {
		if got, err := ParseRate(in); err == nil {
			t.Errorf("ParseRate(%q) = %v, want an error", in, got)
		} else if err.Error() != "must be written as tokens/span, like 10/6h" {
			t.Errorf("ParseRate(%q): %v", in, err)
		}
	}
}

// What is read is written back as the same rate, and no rate in bounds refills
// faster than it says.
func FuzzParseRate(f *testing.F) {
	for _, s := range []string{"10/6h", "1/1us", "7/1h", "1/1500ns", "9223372036854775807/1h", "1/2562047h", "-1/1h", "1//1h"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRate(s)
		if err != nil {
			if r != (Rate{}) {
				t.Fatalf("%q: rate %v beside an error", s, r)
			}
			return
		}
		again, err := ParseRate(r.String())
		if err != nil || again != r {
			t.Fatalf("%q is written %q and read as %v, %v", s, r, again, err)
		}
		i := r.interval()
		if i < 1 {
			t.Fatalf("%q: interval %d", s, i)
		}
		if us := float64(r.Per) / 1000 / float64(r.Tokens); float64(i) < us*(1-1e-9) {
			t.Fatalf("%q: interval %d is shorter than %v", s, i, us)
		}
	})
}
