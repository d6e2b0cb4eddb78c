package store

// state is what is kept of one bucket: the virtual scheduling form of the
// token bucket (GCRA, ITU-T I.371 Annex A), with its backoff. The zero state
// is a full bucket without strikes, which needs no room in the store.
//
// All fields are whole microseconds or counts below 2^53, so that the Lua
// edition, whose numbers are doubles, computes the same.
type state struct {
	full     int64 // moment at which the bucket is full again
	capacity int64 // size for which full was computed ...
	interval int64 // ... so that a change of size can carry tokens over

	strikes int64 // how often it ran dry in a row; 0: the next two mean nothing
	until   int64 // end of the wait; in the past: one attempt may be borrowed; 0: that was used
	last    int64 // moment of the last strike
}

// size is a [Limit] with the population counted in.
type size struct {
	capacity, interval int64
	waits              []int64
	forget             int64
	debt               int64
}

// verdict says whether a bucket can pay, and is all that charge, strike and
// debit need to go on.
type verdict struct {
	now     int64
	missing int64 // microseconds until full, at the size in force
	strikes int64 // not yet forgotten
	until   int64
	last    int64

	pays    bool // enough tokens, no wait running
	loan    bool // a wait has ended: one attempt may be borrowed
	waiting bool // a wait runs
	wait    int64
	cut     bool // wait is true only if the state is kept as it is here
}

const (
	// carryParts is the resolution, in parts of one token, at which a
	// fraction of a token survives a change of size. 2^20 times the longest
	// interval is no more than 2^52, where a quotient of doubles is still
	// exact.
	carryParts = 1 << 20

	// waitMost is the longest that any wait may be, an hour.
	waitMost = 3600 * 1e6

	// intervalMost bounds the interval of a stored bucket, an hour being the
	// longest that a limit may have.
	intervalMost = 1 << 32

	// strikeKeep is the longest time for which strikes can be remembered. It
	// is used for buckets whose limit is not at hand.
	strikeKeep = 48 * 3600 * 1e6

	// strikeMost bounds the count of strikes; the waits have long reached
	// their last entry by then.
	strikeMost = 9999
)

// sized returns the limit at a population, counted in members.
func (l Limit) sized(population int64) size {
	s := size{l.Capacity, l.Interval, l.Waits, l.Forget, l.Debt}
	if l.PerUser == 0 || population <= 0 {
		return s
	}
	// Both factors are bounded so that the product stays below 2^53.
	grown := l.Capacity + l.PerUser*min(population, populationMost)/1e6
	s.capacity = max(l.Capacity, min(grown, l.MaxCapacity))
	s.interval = ceilDiv(l.Interval*l.Capacity, s.capacity)
	return s
}

// longest is the furthest that a state of this size can lie in the future:
// empty, plus what debits and the loans of the backoff may add. There are no
// more loans in debt than waits, since the last wait is no shorter than the
// refill of what is lent at its end.
func (z size) longest() int64 {
	return z.capacity*z.interval + z.debt + int64(len(z.waits))*z.interval
}

// missing returns the microseconds until the bucket is full at size z.
//
// When the size changed, the missing tokens are carried over, at most one
// capacity of them: no change frees a whole bucket or closes one for long.
// When it did not, a state from the future (the clock stepped back) is cut to
// the longest that the size allows.
func (s state) missing(z size, now int64) int64 {
	d := s.full - now
	if d <= 0 || s.interval == 0 {
		return 0
	}
	if !s.resized(z) {
		return min(d, z.longest())
	}
	whole := d / s.interval
	if whole >= z.capacity {
		return z.capacity * z.interval
	}
	parts := ceilDiv((d%s.interval)*carryParts, s.interval)
	return min(whole*z.interval+ceilDiv(parts*z.interval, carryParts), z.capacity*z.interval)
}

// resized reports whether s was kept at another size.
func (s state) resized(z size) bool {
	return s.interval != 0 && (s.capacity != z.capacity || s.interval != z.interval)
}

// judge decides whether a bucket can pay cost tokens now. It is the pure
// function that everything else in this package moves bytes for.
func judge(s state, z size, cost, now int64) verdict {
	v := verdict{now: now, missing: s.missing(z, now)}
	// A denial writes nothing, so what was cut to size now would be so again
	// and again, for as long as the clock was ahead: such a state is kept.
	v.cut = !s.resized(z) && s.full-now > v.missing && v.missing > 0
	if n := len(z.waits); n > 0 && s.strikes > 0 {
		last := min(s.last, now)
		if now-last < z.forget {
			v.strikes, v.last = s.strikes, last
			v.until = min(s.until, now+z.waits[n-1])
			v.cut = v.cut || v.until < s.until
		}
	}
	need := v.missing + cost*z.interval - z.capacity*z.interval
	switch {
	case v.until > now:
		v.waiting, v.wait = true, v.until-now
	case need <= 0:
		v.pays = true
	case v.until > 0:
		v.loan = true
	case len(z.waits) > 0:
		v.wait = min(need, z.waits[min(v.strikes, int64(len(z.waits))-1)])
	case s.resized(z):
		v.wait, v.cut = s.waitResized(z, cost, need, now)
	default:
		v.wait = need
	}
	return v
}

// waitResized returns the wait of a dry bucket without backoff that was kept
// at another size. It goes on to refill as it did then, since a denial writes
// nothing, and does so also where one bucket is charged at two sizes. Only
// where it would refill faster from now on, or be closed for more than an
// hour, is it kept at its new size, so that need is the wait.
func (s state) waitResized(z size, cost, need, now int64) (wait int64, cut bool) {
	wait = s.full - now - (z.capacity-cost)*s.interval
	if z.interval < s.interval || wait > waitMost {
		return need, true
	}
	return wait, false
}

// dry reports whether the bucket refuses the attempt.
func (v verdict) dry() bool { return !v.pays && !v.loan }

// state returns v as it is kept at size z.
func (v verdict) state(z size) state {
	return state{v.now + v.missing, z.capacity, z.interval, v.strikes, v.until, v.last}
}

// charge takes cost tokens; by a loan the bucket goes into debt for them.
// Whatever was lent at the end of a wait is used up.
func (v verdict) charge(z size, cost int64) verdict {
	v.missing += cost * z.interval
	v.until = 0
	return v
}

// useLoan ends a loan without a debt, for buckets that only log.
func (v verdict) useLoan() verdict {
	v.until = 0
	return v
}

// strike notes that the bucket ran dry and starts the wait that judge named.
// A bucket without backoff, or one whose wait already runs, stays as it is.
func (v verdict) strike(z size) verdict {
	if len(z.waits) == 0 || v.waiting || !v.dry() {
		return v
	}
	v.strikes = min(v.strikes+1, strikeMost)
	v.until, v.last = v.now+v.wait, v.now
	return v
}

// debit takes cost tokens whether or not the bucket can pay, into debt of at
// most z.debt beyond empty. It never makes a bucket fuller.
func (v verdict) debit(z size, cost int64) verdict {
	most := z.capacity*z.interval + z.debt
	v.missing = max(v.missing, min(v.missing+cost*z.interval, most))
	return v
}

// refund gives cost tokens back at the size for which s was computed. When
// the bucket can pay again its wait ends; when it cannot but has strikes and
// no wait, the attempt that was borrowed may be made again.
func (s state) refund(cost, now int64) state {
	if s.interval == 0 {
		return s
	}
	d := max(0, s.full-now-cost*s.interval)
	s.full = now + d
	if s.strikes == 0 {
		return s
	}
	switch {
	case d+s.interval <= s.capacity*s.interval:
		s.until = 0
	case s.until == 0:
		s.until = now
	}
	return s
}

// expires returns the moment from which s says nothing any more.
func (s state) expires(forget int64) int64 {
	if s.strikes == 0 {
		return s.full
	}
	return max(s.full, s.until, s.last+forget)
}

// ceilDiv returns a/b rounded up, for a >= 0 and b > 0.
func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }
