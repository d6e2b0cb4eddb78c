package store

import (
	"testing"

	"pgregory.net/rapid"
)

func TestBucketPaysAndRefills(t *testing.T) {
	for _, c := range []struct {
		name  string
		size  size
		steps []step
	}{
		{"drains and says when the next token comes", plainSize(3, 10*second), []step{
			{0, 1, 2, 0, true}, {0, 1, 1, 0, true}, {0, 1, 0, 0, true},
			{0, 1, 0, 10 * second, false}, {4 * second, 1, 0, 6 * second, false},
			{10*second - 1, 1, 0, 1, false}, {10 * second, 1, 0, 0, true},
		}},
		{"keeps fractions of a token", plainSize(2, 10*second), []step{
			{0, 2, 0, 0, true}, {15 * second, 1, 0, 0, true}, {15 * second, 1, 0, 5 * second, false}, {20 * second, 1, 0, 0, true},
		}},
		{"never holds more than its capacity", plainSize(2, second), []step{
			{0, 1, 1, 0, true}, {day, 1, 1, 0, true}, {day, 1, 0, 0, true}, {day, 1, 0, second, false},
		}},
		{"takes a cost at once or not at all", plainSize(10, 10*second), []step{
			{0, 7, 3, 0, true}, {0, 5, 3, 20 * second, false}, {0, 3, 0, 0, true}, {50 * second, 5, 0, 0, true},
		}},
		{"takes the largest cost from a full bucket only", plainSize(5, 60*second), []step{
			{0, 5, 0, 0, true}, {4 * minute, 5, 4, minute, false}, {5 * minute, 5, 0, 0, true},
		}},
		{"rounds a refill up", plainSize(3, 333334), []step{
			{0, 3, 0, 0, true}, {333333, 1, 0, 1, false}, {333334, 1, 0, 0, true},
		}},
		{"a clock that steps back a little refills nothing", plainSize(3, 10*second), []step{
			{minute, 3, 0, 0, true}, {minute - 5*second, 1, 0, 15 * second, false}, {minute + 10*second, 1, 0, 0, true},
		}},
		{"a clock that steps back far costs an hour at most", plainSize(3, 10*second), []step{
			{day, 3, 0, 0, true}, {0, 1, 0, hour, false}, {hour - second, 1, 0, second, false}, {hour, 1, 0, 0, true},
		}},
	} {
		t.Run(c.name, func(t *testing.T) { runSteps(t, c.size, c.steps) })
	}
}

// TestBucketOverAnyTime checks the promise itself: in any span no more tokens
// are taken than the capacity and the refill of the span, whatever the costs
// and the rhythm.
func TestBucketOverAnyTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := plainSize(rapid.Int64Range(1, 50).Draw(t, "capacity"), rapid.Int64Range(1, 3600*second).Draw(t, "interval"))
		var s state
		now, taken := start, int64(0)
		for range rapid.IntRange(1, 60).Draw(t, "attempts") {
			now += rapid.Int64Range(0, 2*z.interval).Draw(t, "pause")
			cost := rapid.Int64Range(1, z.capacity).Draw(t, "cost")
			next, v := attempt(s, z, cost, now)
			if !v.dry() {
				taken += cost
			} else if early, _ := attempt(s, z, cost, now+v.wait-1); early.full != s.full {
				t.Fatalf("paid a microsecond before the wait of %d was over", v.wait)
			} else if _, after := attempt(s, z, cost, now+v.wait); after.dry() {
				t.Fatalf("denied after the wait of %d", v.wait)
			}
			s = next
			if taken*z.interval > z.capacity*z.interval+now-start {
				t.Fatalf("%d tokens in %d microseconds", taken, now-start)
			}
		}
	})
}

func TestRemainingIsNeverNegative(t *testing.T) {
	for _, c := range []struct {
		bucket Bucket
		want   int64
	}{
		{Bucket{}, 0},
		{Bucket{Capacity: 3, Interval: 10}, 3},
		{Bucket{Capacity: 3, Interval: 10, Missing: 1}, 2},
		{Bucket{Capacity: 3, Interval: 10, Missing: 10}, 2},
		{Bucket{Capacity: 3, Interval: 10, Missing: 11}, 1},
		{Bucket{Capacity: 3, Interval: 10, Missing: 30}, 0},
		{Bucket{Capacity: 3, Interval: 10, Missing: 3000}, 0},
	} {
		if got := c.bucket.Remaining(); got != c.want {
			t.Errorf("%+v: %d remaining, want %d", c.bucket, got, c.want)
		}
	}
}
