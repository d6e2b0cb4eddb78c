package store

import (
	"testing"

	"pgregory.net/rapid"
)

// TestBackoffDoublesToAnHour waits as told after every denial: each wait ends
// in one lent attempt, and the next is twice as long, up to an hour or to what
// the refill takes.
func TestBackoffDoublesToAnHour(t *testing.T) {
	z := accountSize()
	var s state
	now := start
	for range 10 {
		next, v := attempt(s, z, 1, now)
		if !v.pays {
			t.Fatal("a full bucket did not pay")
		}
		s = next
	}
	want := []int64{30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600}
	for i, w := range want {
		next, v := attempt(s, z, 1, now)
		if !v.dry() || v.wait != w*second || next.strikes != int64(i+1) {
			t.Fatalf("strike %d: %+v, want a wait of %d seconds", i+1, v, w)
		}
		s = next
		early, v := attempt(s, z, 1, now+w*second-1)
		if !v.waiting || v.wait != 1 || early != s {
			t.Fatalf("strike %d: %+v a microsecond early, want it denied and unchanged", i+1, v)
		}
		now += w * second
		next, v = attempt(s, z, 1, now)
		if !v.loan && !v.pays {
			t.Fatalf("strike %d: %+v, want an attempt at the end of the wait", i+1, v)
		}
		s = next
	}
	// What was lent is paid back: in the long run the refill is all there is.
	for range 20 {
		next, v := attempt(s, z, 1, now)
		s = next
		if v.dry() {
			now += v.wait
		}
	}
	if _, v := attempt(s, z, 1, now); v.dry() && v.wait != z.interval && v.wait != hour {
		t.Fatalf("%+v, want to wait for the refill in the end", v)
	}
}

func TestBackoffSteps(t *testing.T) {
	drained := func(more ...step) []step {
		return append([]step{{0, 10, 0, 0, true}}, more...)
	}
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"a shorter refill ends the wait", []step{
			{0, 10, 0, 0, true}, {2155 * second, 1, 0, 5 * second, false}, {2160 * second, 1, 0, 0, true},
		}},
		{"one attempt is lent, not two", drained(
			step{0, 1, 0, 30 * second, false}, step{30 * second, 1, 0, 0, true}, step{30 * second, 1, 0, minute, false},
		)},
		{"what was lent stays until strikes are forgotten", drained(
			step{0, 1, 0, 30 * second, false}, step{2000 * second, 1, 0, 0, true}, step{2000 * second, 1, 0, minute, false},
		)},
		{"strikes are forgotten six hours after the last", drained(
			step{1000 * second, 1, 0, 30 * second, false},
			step{1000*second + 6*hour, 10, 0, 0, true}, step{1000*second + 6*hour, 1, 0, 30 * second, false},
		)},
		{"and not a microsecond before", drained(
			step{1000 * second, 1, 0, 30 * second, false},
			step{1000*second + 6*hour - 1, 10, 0, 0, true}, step{1000*second + 6*hour - 1, 1, 0, minute, false},
		)},
		{"attempts in a wait do not prolong it", drained(
			step{0, 1, 0, 30 * second, false}, step{10 * second, 1, 0, 20 * second, false},
			step{29 * second, 1, 0, second, false}, step{30 * second, 1, 0, 0, true},
		)},
		{"a clock that steps back waits once more at most", drained(
			step{0, 1, 0, 30 * second, false}, step{-day, 1, 0, hour, false}, step{-day + hour, 1, 0, 0, true},
		)},
		{"and forgets by the clock that is", drained(
			step{0, 1, 0, 30 * second, false}, step{-day, 1, 0, hour, false},
			step{-day + 12*hour, 10, 0, 0, true}, step{-day + 12*hour, 1, 0, 30 * second, false},
		)},
	} {
		t.Run(c.name, func(t *testing.T) {
			runSteps(t, accountSize(), c.steps)
		})
	}
}

// drawBackoff returns any size with backoff that the policy accepts: the last
// wait is no shorter than the refill, and strikes are remembered for as long
// as it takes to pay back what the waits lend.
func drawBackoff(t *rapid.T) size {
	z := size{capacity: rapid.Int64Range(1, 20).Draw(t, "capacity"), interval: rapid.Int64Range(second, hour).Draw(t, "interval")}
	z.debt = hour - z.interval
	last := rapid.Int64Range(z.interval, hour).Draw(t, "last wait")
	for w := rapid.Int64Range(second, last).Draw(t, "first wait"); w < last; w *= 2 {
		z.waits = append(z.waits, w)
	}
	z.waits = append(z.waits, last)
	z.forget = int64(len(z.waits)+1) * z.interval
	return z
}

// TestBackoffIsNeverCut: while the clock only goes forward, whatever attempts,
// debits and refunds do, a state of the same size lies within what it may be.
// Were it cut, guesses would be given away.
func TestBackoffIsNeverCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := drawBackoff(t)
		var s state
		now := start
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "pause") {
			case 0:
				now += rapid.Int64Range(0, z.forget).Draw(t, "long pause")
			case 1, 2:
				now += rapid.Int64Range(0, z.interval).Draw(t, "short pause")
			case 3, 4, 5:
				now = max(now, s.until)
			}
			if v := judge(s, z, 1, now); v.cut || s.full-now > z.longest() {
				t.Fatalf("%+v at %d is cut", s, now)
			} else if v.wait > hour {
				t.Fatalf("%+v at %d waits for %d", s, now, v.wait)
			}
			switch rapid.IntRange(0, 9).Draw(t, "operation") {
			case 0:
				s = judge(s, z, 1, now).debit(z, 1).state(z)
			case 1:
				s = s.refund(1, now)
			default:
				s, _ = attempt(s, z, 1, now)
			}
		}
	})
}

func TestStrikesAreBounded(t *testing.T) {
	z := accountSize()
	s := state{full: start + z.capacity*z.interval, capacity: z.capacity, interval: z.interval, strikes: strikeMost, last: start}
	if next, v := attempt(s, z, 1, start); next.strikes != strikeMost || v.wait != z.interval {
		t.Fatalf("%+v after the last strike that is counted, waiting %d", next, v.wait)
	}
}
