package store

import "testing"

// Spans in microseconds, and a moment at which tests begin.
const (
	second = int64(1e6)
	minute = 60 * second
	hour   = 60 * minute
	day    = 24 * hour
	start  = int64(1790000000000000)
)

// plainSize is a bucket without backoff.
func plainSize(capacity, interval int64) size {
	return size{capacity: capacity, interval: interval, debt: hour - interval}
}

// accountSize is the default limit of an account.
func accountSize() size {
	return size{
		capacity: 10, interval: 2160 * second, forget: 6 * hour, debt: hour - 2160*second,
		waits: []int64{30 * second, minute, 2 * minute, 4 * minute, 8 * minute, 16 * minute, 32 * minute, hour},
	}
}

// remaining returns the whole tokens that v leaves at size z.
func (v verdict) remaining(z size) int64 {
	return Bucket{Capacity: z.capacity, Interval: z.interval, Missing: v.missing}.Remaining()
}

// attempt runs one enforced attempt on s, as take does: a charge, or a strike.
func attempt(s state, z size, cost, now int64) (state, verdict) {
	v := judge(s, z, cost, now)
	if v.dry() {
		return v.strike(z).state(z), v
	}
	return v.charge(z, cost).state(z), v
}

// step is one row of a table: an attempt at a time, and what it must give.
type step struct {
	time, cost, remaining, wait int64 // remaining after the attempt
	ok                          bool
}

// runSteps runs a table on one bucket.
func runSteps(t *testing.T, z size, steps []step) {
	t.Helper()
	var s state
	for i, w := range steps {
		next, v := attempt(s, z, w.cost, start+w.time)
		wait := int64(0)
		if v.dry() {
			wait = v.wait
		}
		left := judge(next, z, 1, start+w.time).remaining(z)
		if !v.dry() != w.ok || wait != w.wait || left != w.remaining {
			t.Errorf("step %d at %d: ok %v, wait %d, remaining %d; want %v, %d, %d", i, w.time, !v.dry(), wait, left, w.ok, w.wait, w.remaining)
		}
		s = next
	}
}
