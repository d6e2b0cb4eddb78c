package efficacy

import "time"

// bucket is a token bucket in virtual scheduling form: the moment at which it is
// full again.
type bucket int64

// take takes one token of a bucket of capacity tokens, one of which comes back
// every interval microseconds. It returns 0, or how long there is none.
func (b *bucket) take(now, interval int64, capacity int64) time.Duration {
	full := max(int64(*b), now)
	if wait := full + interval - now - capacity*interval; wait > 0 {
		return time.Duration(wait) * time.Microsecond
	}
	*b = bucket(full + interval)
	return 0
}

// buckets is the plain limiter: every attempt takes a token of its address and
// one of its account, whatever comes of it.
type buckets struct {
	addresses, accounts map[string]bucket
}

const (
	bucketTokens   = 10
	bucketInterval = minute / 10
)

func newBuckets() *buckets {
	return &buckets{make(map[string]bucket), make(map[string]bucket)}
}

func (m *buckets) try(a *Attempt) Answer {
	address, account := m.addresses[a.From.Host], m.accounts[a.Account]
	wait := max(address.take(a.At, bucketInterval, bucketTokens), account.take(a.At, bucketInterval, bucketTokens))
	if wait > 0 {
		return Answer{Wait: wait}
	}
	m.addresses[a.From.Host], m.accounts[a.Account] = address, account
	return Answer{Allowed: true}
}
