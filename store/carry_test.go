package store

import (
	"testing"

	"pgregory.net/rapid"
)

// TestSizeChangeCarriesTokens: what was taken stays taken, and no more.
func TestSizeChangeCarriesTokens(t *testing.T) {
	for _, c := range []struct {
		name            string
		old             size
		taken           int64
		after           int64 // microseconds until the change
		new             size
		remaining, wait int64 // at the new size, for one more
	}{
		{"the same", plainSize(10, minute), 4, 0, plainSize(10, minute), 6, 0},
		{"more room", plainSize(10, minute), 10, 0, plainSize(15, minute), 5, 0},
		{"less room, some left", plainSize(10, minute), 4, 0, plainSize(5, minute), 1, 0},
		{"less room, none left", plainSize(10, minute), 7, 0, plainSize(5, minute), 0, 3 * minute},
		{"less room, much taken", plainSize(100, minute), 90, 0, plainSize(2, minute), 0, minute},
		{"faster", plainSize(10, minute), 10, 0, plainSize(10, second), 0, second},
		{"slower", plainSize(10, second), 10, 0, plainSize(10, minute), 0, second},
		{"a fraction is kept", plainSize(10, minute), 10, 30 * second, plainSize(10, 2*second), 0, second},
		{"a full bucket stays full", plainSize(10, minute), 1, minute, plainSize(3, minute), 3, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _ := attempt(state{}, c.old, c.taken, start)
			v := judge(s, c.new, 1, start+c.after)
			if got := v.remaining(c.new); got != c.remaining || v.dry() != (c.wait > 0) || v.wait != c.wait {
				t.Errorf("%d remaining, wait %d; want %d, %d", got, v.wait, c.remaining, c.wait)
			}
		})
	}
}

// TestSizeChangeClosesNothingForLong: after any change of a plain limit, as
// the policy allows them, the wait is at most an hour, and waiting it out
// suffices although denials in between see the bucket too.
func TestSizeChangeClosesNothingForLong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) size {
			return plainSize(rapid.Int64Range(1, 1000).Draw(t, name+" capacity"), rapid.Int64Range(1, hour).Draw(t, name+" interval"))
		}
		old, z := draw("old"), draw("new")
		taken := rapid.Int64Range(1, old.capacity).Draw(t, "taken")
		s, _ := attempt(state{}, old, taken, start)
		now := start + rapid.Int64Range(0, old.interval).Draw(t, "pause")
		v := judge(s, z, 1, now)
		if v.missing > z.capacity*z.interval {
			t.Fatalf("%d missing of %d", v.missing, z.capacity*z.interval)
		}
		// No token is made: those missing are as many as before, or all.
		before := judge(s, old, 1, now).missing
		if v.missing < z.capacity*z.interval && v.missing/z.interval < before/old.interval {
			t.Fatalf("%d tokens missing, were %d", v.missing/z.interval, before/old.interval)
		}
		if !v.dry() {
			return
		}
		if v.wait <= 0 || v.wait > hour {
			t.Fatalf("wait %d", v.wait)
		}
		end := now + v.wait
		for _, at := range []int64{now, now + v.wait/2, end - 1} {
			v := judge(s, z, 1, at)
			if !v.dry() || at+v.wait > end {
				t.Fatalf("at %d: %+v, want it dry until %d at most", at, v, end)
			}
			if v.cut {
				s = v.state(z)
			}
		}
		if v := judge(s, z, 1, end); v.dry() {
			t.Fatalf("dry after the wait: %+v", v)
		}
	})
}

// TestTwoSizesOfOneBucket: a caller with a raised limit and one without share
// a bucket. The denials of the one give no token to the other.
func TestTwoSizesOfOneBucket(t *testing.T) {
	large, small := plainSize(1000, 3600000), plainSize(100, 36*second)
	var s state
	admitted := 0
	for range 5000 {
		next, v := attempt(s, large, 1, start)
		if !v.dry() {
			admitted++
			s = next
		}
		if v := judge(s, small, 1, start); v.dry() && v.cut {
			s = v.state(small)
		} else if v.dry() && (v.wait > hour || judge(s, small, 1, start+v.wait).dry()) {
			t.Fatalf("the small one waits for %d", v.wait)
		}
	}
	if admitted != 1000 {
		t.Fatalf("%d admitted, want 1000", admitted)
	}
}

func TestPopulationSizes(t *testing.T) {
	l := Limit{Capacity: 30, Interval: 120 * second, PerUser: 150_000, MaxCapacity: 3000, Debt: 5}
	for _, c := range []struct{ population, capacity, interval int64 }{
		{-1, 30, 120 * second}, {0, 30, 120 * second}, {6, 30, 120 * second}, {7, 31, 116129033},
		{200, 60, 60 * second}, {19800, 3000, 1200000}, {exact - 1, 3000, 1200000},
	} {
		z := l.sized(c.population)
		if z.capacity != c.capacity || z.interval != c.interval || z.debt != 5 {
			t.Errorf("population %d: %d tokens, one in %d; want %d, %d", c.population, z.capacity, z.interval, c.capacity, c.interval)
		}
		if z.capacity*z.interval < l.Capacity*l.Interval {
			t.Errorf("population %d: refills faster than in proportion", c.population)
		}
	}
	l.PerUser = 225_000 // times the largest number, more than 64 bits hold
	if z := l.sized(exact - 1); z.capacity != 3000 {
		t.Errorf("a damaged headcount gives %d tokens", z.capacity)
	}
	l.PerUser = 0
	if z := l.sized(1e6); z.capacity != 30 {
		t.Errorf("a limit that does not grow has %d tokens", z.capacity)
	}
}
