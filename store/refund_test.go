package store

import (
	"testing"

	"pgregory.net/rapid"
)

// TestRefund starts from a bucket of ten on which so much is missing.
func TestRefund(t *testing.T) {
	z := accountSize()
	i := z.interval
	at := func(missing, strikes, until int64) state {
		s := state{full: start + missing, capacity: z.capacity, interval: i, strikes: strikes, until: until}
		if strikes > 0 {
			s.last = start - minute
		}
		return s
	}
	for _, c := range []struct {
		name string
		from state
		cost int64
		want state
	}{
		{"gives back what was taken", at(5*i, 0, 0), 2, at(3*i, 0, 0)},
		{"fills no further than full", at(i/2, 0, 0), 1, at(0, 0, 0)},
		{"ends a wait when the bucket can pay again", at(10*i, 3, start+minute), 1, at(9*i, 3, 0)},
		{"leaves the wait when it cannot", at(10*i+5, 3, start+minute), 1, at(9*i+5, 3, start+minute)},
		{"gives a lent attempt back", at(11*i, 3, 0), 1, at(10*i, 3, start)},
		{"keeps an attempt that may be lent", at(11*i, 3, start-5), 1, at(10*i, 3, start-5)},
		{"forgives no strike", at(i, 3, 0), 1, at(0, 3, 0)},
		{"does nothing to a bucket that is gone", state{}, 1, state{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.from.refund(c.cost, start); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// TestRefundUndoesOneCharge: at any state that can pay, a charge and its
// refund leave what was, and nothing that an attacker could keep.
func TestRefundUndoesOneCharge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := drawBackoff(t)
		var s state
		now := start
		for range rapid.IntRange(0, 30).Draw(t, "attempts before") {
			now += rapid.Int64Range(0, z.interval).Draw(t, "pause")
			s, _ = attempt(s, z, 1, now)
		}
		v := judge(s, z, 1, now)
		if v.dry() {
			return
		}
		back := v.charge(z, 1).state(z).refund(1, now)
		again := judge(back, z, 1, now)
		if again.missing != v.missing || again.strikes != v.strikes || again.dry() {
			t.Fatalf("%+v, charged and refunded: %+v", v, again)
		}
	})
}
