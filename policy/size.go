package policy

import (
	"math"
	"math/big"
	"strconv"
	"time"

	"loginguard/store"
)

const (
	hour = int64(time.Hour / time.Microsecond)

	maxTokens = 1_000_000

	// maxFill bounds capacity x interval, the microseconds in which an empty
	// bucket fills: a quarter of 2^53, so that moments and debts added to it
	// are still exact where all numbers are floating point (Lua).
	maxFill = 1 << 51

	// maxWaits bounds the table of waits, which travels with every charge.
	maxWaits = 100
)

// size is what one bucket holds, in the two forms in which it is charged.
type size struct {
	plain  store.Limit // the base
	grown  store.Limit // the base and what the population adds
	reason string      // of the override that made it, "" for none
}

// exact returns the limit as it is configured, for one process and one shard.
func exact(l *Limit) store.Limit {
	s := store.Limit{Capacity: l.Capacity, Interval: l.Refill.interval()}
	if b := l.Backoff; b != nil {
		s.Waits, s.Forget = waits(b), store.Micros(b.Forget)
	}
	if l.PerUser > 0 {
		s.PerUser = ceil(new(big.Rat).Mul(decimal(l.PerUser), big.NewRat(1_000_000, 1)))
		s.MaxCapacity = l.MaxCapacity
	}
	return s
}

// waits returns the table base x factor^(k-1) for k = 1, 2, ..., each rounded
// up to microseconds, up to the first that reaches max, which ends it.
func waits(b *Backoff) []int64 {
	var table []int64
	wait := big.NewRat(int64(b.Base), int64(time.Microsecond))
	factor, last := decimal(b.Factor), store.Micros(b.Max)
	for len(table) < maxWaits-1 {
		us := ceil(wait)
		if us >= last {
			break
		}
		table = append(table, us)
		wait.Mul(wait, factor)
	}
	return append(table, last)
}

// climb returns how many factors lie between base and max: log_factor(max/base).
// It is infinite where a factor of 1 never gets there.
func climb(b *Backoff) float64 {
	if b.Max == b.Base {
		return 0
	}
	return math.Log(float64(b.Max)/float64(b.Base)) / math.Log(b.Factor)
}

// memory returns the least span after which strikes may be forgotten. Were it
// shorter, waiting for it would be faster than the refill, and pay off.
func memory(b *Backoff, interval int64) time.Duration {
	ns := (climb(b) + 1) * float64(interval) * float64(time.Microsecond)
	if ns > math.MaxInt64/2 {
		return math.MaxInt64
	}
	return time.Duration(ns)
}

// shrink multiplies the capacity with scale, rounded up and never below cost.
// The refill stays: a data centre gets fewer attempts at once and in a row.
func shrink(l store.Limit, scale *big.Rat, cost int64) store.Limit {
	l.Capacity = max(cost, ceil(new(big.Rat).Mul(scale, big.NewRat(l.Capacity, 1))))
	l.MaxCapacity = max(l.MaxCapacity, l.Capacity)
	return l
}

// split divides the limit among n equal buckets that together hold what one
// did, rounded up and never below cost, and together refill as fast.
func split(l store.Limit, n, cost int64) store.Limit {
	if n <= 1 {
		return l
	}
	l.Capacity = max(cost, over(l.Capacity, n))
	l.Interval *= n
	l.PerUser = over(l.PerUser, n)
	if l.PerUser > 0 {
		l.MaxCapacity = max(l.Capacity, over(l.MaxCapacity, n))
	}
	return l
}

// bounded caps the interval of a bucket that was split among instances, so that
// what New demands of every limit holds for it too: the largest cost comes back
// within an hour and within the longest wait, and forgetting does not pay.
// An instance alone is therefore a little more generous than its share.
func bounded(l store.Limit, b *Backoff, cost int64) store.Limit {
	l.Interval = min(l.Interval, hour/cost)
	if b != nil {
		steps := climb(b) + 1
		l.Interval = min(l.Interval, int64(b.Max/time.Microsecond), int64(float64(l.Forget)/steps))
	}
	return l
}

// forms returns both forms of the limit, with the debt that leaves the largest
// cost payable within an hour.
func forms(l store.Limit, cost int64, reason string) size {
	l.Debt = hour - cost*l.Interval
	s := size{plain: l, grown: l, reason: reason}
	s.plain.PerUser, s.plain.MaxCapacity = 0, 0
	return s
}

// over returns v/n rounded up.
func over(v, n int64) int64 { return (v + n - 1) / n }

// decimal returns the number that was written, so that 30 x 0.1 is 3 and not
// 3.0000000000000004, which rounds up to 4. f must be finite.
func decimal(f float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	if !ok {
		return new(big.Rat) // not finite: New has refused it
	}
	return r
}

// ceil returns the least whole number that is not below r, which must not be
// negative and must fit.
func ceil(r *big.Rat) int64 {
	q, m := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if m.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q.Int64()
}
