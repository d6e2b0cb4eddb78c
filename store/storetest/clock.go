package storetest

import (
	"testing"

	"loginguard/store"
)

// Clock runs buckets without backoff on a virtual clock, which also steps
// back: limits hold over every border and at every rhythm. rounds says how
// long the longest part is.
func Clock(t *testing.T, open Opener, rounds int) {
	parts := []struct {
		name string
		run  func(*testing.T, Harness)
	}{
		{"steady attempts get the rate and the burst", steadyRates},
		{"no window has a border", borders},
		{"probing at the exact interval is never denied", func(t *testing.T, h Harness) { exactInterval(t, h, rounds) }},
		{"denied attempts do not lengthen a wait", func(t *testing.T, h Harness) { hammering(t, h, rounds) }},
		{"no credit grows while idle", idle},
		{"two clocks a second apart", twoClocks},
		{"a clock that steps back refills nothing twice", backAnHour},
		{"a clock that steps back costs one wait at most", backAnHourWaits},
	}
	for _, p := range parts {
		t.Run(p.name, func(t *testing.T) { p.run(t, open(t)) })
	}
}

// bucket is one bucket on a virtual clock.
type bucket struct {
	t     *testing.T
	h     Harness
	limit store.Limit
}

// try makes one attempt at a moment after start.
func (b bucket) try(at int64) (ok bool, state store.Bucket) {
	out := b.h.take(b.t, single("lg:{b}:x", b.limit, 1, start+at))
	return out.Outcome == store.Admitted, out.Buckets[0]
}

// many makes n attempts at one moment and returns how many were admitted.
func (b bucket) many(n int, at int64) int {
	admitted := 0
	for range n {
		if ok, _ := b.try(at); ok {
			admitted++
		}
	}
	return admitted
}

// steadyRates: an attempt every so often for a while, and what it may get. The
// upper bound is the burst and the refill.
func steadyRates(t *testing.T, h Harness) {
	for _, c := range []struct {
		name               string
		capacity, interval int64
		every, span        int64
		least, most        int
	}{
		{"3/s, ten a second for a minute", 3, 333334, second / 10, minute, 180, 3 + 180},
		{"10/30s, one a second for a minute", 10, 3 * second, second, minute, 29, 10 + 20},
		{"0.2/min, six a minute for an hour", 1, 300 * second, 10 * second, hour + 1, 13, 1 + 12},
		{"5/s, a thousand a second for a second", 5, second / 5, second / 1000, second, 9, 5 + 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			h.forget(t, store.Forget{Keys: []string{"lg:{b}:x"}})
			b := bucket{t, h, plainLimit(c.capacity, c.interval)}
			admitted := 0
			for at := int64(0); at < c.span; at += c.every {
				if ok, _ := b.try(at); ok {
					admitted++
				}
			}
			if admitted < c.least || admitted > c.most {
				t.Errorf("%d admitted, want %d to %d", admitted, c.least, c.most)
			}
		})
	}
}

// borders: where a fixed window would begin anew.
func borders(t *testing.T, h Harness) {
	for _, c := range []struct {
		name          string
		limit         store.Limit
		first, second int64
		then          int
	}{
		{"60/min around the minute", plainLimit(60, second), 59900000, 60100000, 0},
		{"120/min around the minute", plainLimit(120, second/2), 59 * second, 61 * second, 4},
		{"10/6h around the hour", plainLimit(10, 2160*second), hour - second, hour + second, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			h.forget(t, store.Forget{Keys: []string{"lg:{b}:x"}})
			b := bucket{t, h, c.limit}
			n := int(c.limit.Capacity)
			if got := b.many(n, c.first); got != n {
				t.Errorf("first %d admitted, want %d", got, n)
			}
			if got := b.many(n, c.second); got != c.then {
				t.Errorf("then %d admitted, want the refill of %d", got, c.then)
			}
		})
	}
}

// exactInterval: one attempt whenever a token has come back. A microsecond
// earlier is denied, with that microsecond as the wait.
func exactInterval(t *testing.T, h Harness, rounds int) {
	b := bucket{t, h, plainLimit(1, 333334)}
	for n := range int64(rounds) {
		at := n * 333334
		if n%10 == 9 {
			if ok, s := b.try(at - 1); ok || s.Wait != 1 {
				t.Fatalf("round %d, a microsecond early: %v, wait %d", n, ok, s.Wait)
			}
		}
		if ok, s := b.try(at); !ok {
			t.Fatalf("round %d: denied, %+v", n, s)
		}
	}
}

// hammering: the end of the wait stays where it was.
func hammering(t *testing.T, h Harness, rounds int) {
	b := bucket{t, h, plainLimit(10, 300*second)}
	b.many(10, 0)
	for n := range int64(rounds) {
		at := n * 299 * second / int64(rounds)
		if ok, s := b.try(at); ok || at+s.Wait != 300*second {
			t.Fatalf("attempt %d: admitted %v, wait ends at %d", n, ok, at+s.Wait)
		}
	}
	if ok, s := b.try(300 * second); !ok {
		t.Fatalf("denied after the wait: %+v", s)
	}
}

// idle: a full bucket stays just full.
func idle(t *testing.T, h Harness) {
	b := bucket{t, h, plainLimit(10, 3*second)}
	for _, at := range []int64{0, hour, day, 400 * day} {
		if _, s := b.try(at); s.Remaining() != 9 {
			t.Errorf("%d left at %d, want 9", s.Remaining(), at)
		}
	}
	if got := b.many(100, 400*day+hour); got != 10 {
		t.Errorf("%d admitted after a pause, want 10", got)
	}
}

// twoClocks: instances that would pass their own time, one a second behind.
func twoClocks(t *testing.T, h Harness) {
	b := bucket{t, h, plainLimit(5, second/5)}
	admitted := 0
	for i := range 50 {
		at := 1000900000 - int64(i%2)*second
		if ok, _ := b.try(at); ok {
			admitted++
		}
	}
	if admitted > 10 || admitted < 5 {
		t.Errorf("%d admitted, want 5 to 10: the burst and a second's refill", admitted)
	}
}

// backAnHour: a clock that runs for an hour, is set back and runs through the
// same hour once more. To keep the wait at an hour, one attempt is let off.
func backAnHour(t *testing.T, h Harness) {
	b := bucket{t, h, plainLimit(10, 360*second)}
	admitted := 0
	for range 2 {
		for at := int64(0); at <= hour; at += minute {
			if ok, _ := b.try(at); ok {
				admitted++
			}
		}
	}
	if admitted < 20 || admitted > 21 {
		t.Errorf("%d admitted, want 20 or 21: the burst, and the refill of an hour once", admitted)
	}
}

// backAnHourWaits: after the step the wait is at most one hour, and one that
// is waited out suffices, for limits with and without backoff.
func backAnHourWaits(t *testing.T, h Harness) {
	for _, c := range []struct {
		name  string
		limit store.Limit
	}{
		{"without backoff", plainLimit(10, 360*second)},
		{"with backoff", accountLimit()},
	} {
		t.Run(c.name, func(t *testing.T) {
			h.forget(t, store.Forget{Keys: []string{"lg:{b}:x"}})
			b := bucket{t, h, c.limit}
			b.many(11, 100*hour)
			for _, at := range []int64{99 * hour, 10 * hour, second} {
				ok, s := b.try(at)
				if ok || s.Wait > hour || s.Wait <= 0 {
					t.Fatalf("at %d: admitted %v, wait %d", at, ok, s.Wait)
				}
				if ok, s := b.try(at + s.Wait); !ok {
					t.Fatalf("at %d: denied after the wait: %+v", at, s)
				}
			}
		})
	}
}
