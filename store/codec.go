package store

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// errCorrupt is returned when a value in the store is not one that this
// package writes. The attempt is then denied: to read such a bucket as full
// would let somebody who can damage a value open it.
var errCorrupt = errors.New("corrupt value")

// exact is the bound below which doubles, and so Lua, hold every integer.
const exact = 1 << 53

// String writes a bucket as full/capacityxinterval or, while it has strikes,
// full/capacityxinterval/strikes/until/last.
func (s state) String() string {
	b := make([]byte, 0, 80)
	b = strconv.AppendInt(b, s.full, 10)
	b = append(b, '/')
	b = strconv.AppendInt(b, s.capacity, 10)
	b = append(b, 'x')
	b = strconv.AppendInt(b, s.interval, 10)
	if s.strikes > 0 {
		for _, n := range [...]int64{s.strikes, s.until, s.last} {
			b = append(b, '/')
			b = strconv.AppendInt(b, n, 10)
		}
	}
	return string(b)
}

// The short form of a bucket is one integer, which Redis keeps inside the
// key's entry: with it a bucket takes a quarter less memory. It is the code of
// the size followed by the 15 digits of full in microseconds since shortEpoch.
// A size has a code where its refill fills it in an hour, a minute or a day, as
// that of networks and global does by default, at any population. Others, and
// buckets with strikes, have the long form.
const (
	shortEpoch = 1_577_836_800_000_000 // 2020-01-01 UTC
	shortSpan  = 1_000_000_000_000_000 // 15 digits last until 2051
)

// windows are the times in which a bucket with a short form fills. Its code is
// the capacity, counted on from where its window begins; the highest is 9000,
// which with 15 digits is below 2^63.
var windows = [...]struct{ micros, most, begin int64 }{
	{3600 * 1e6, 7000, 0},
	{60 * 1e6, 1000, 7000},
	{86400 * 1e6, 1000, 8000},
}

// text writes a bucket that has a key of its own, in the short form where it
// has one.
func (s state) text() string {
	since := s.full - shortEpoch
	if s.strikes > 0 || since < 0 || since >= shortSpan || s.capacity < 1 {
		return s.String()
	}
	for _, w := range windows {
		if s.capacity <= w.most && s.interval == ceilDiv(w.micros, s.capacity) {
			return strconv.FormatInt((w.begin+s.capacity)*shortSpan+since, 10)
		}
	}
	return s.String()
}

// parseShort reads the short form.
func parseShort(v string) (state, error) {
	n, err := strconv.ParseUint(v, 10, 63)
	code := int64(n) / shortSpan
	if err == nil && v[0] != '0' && code > 0 {
		for _, w := range windows {
			if capacity := code - w.begin; capacity >= 1 && capacity <= w.most && ceilDiv(w.micros, capacity) <= intervalMost {
				return state{full: int64(n)%shortSpan + shortEpoch, capacity: capacity, interval: ceilDiv(w.micros, capacity)}, nil
			}
		}
	}
	return state{}, fmt.Errorf("read bucket: %w", errCorrupt)
}

// parseState reads what String and text wrote; "" is the full bucket.
func parseState(v string) (state, error) {
	var s state
	if v == "" {
		return s, nil
	}
	if !strings.Contains(v, "/") {
		return parseShort(v)
	}
	full, rest, _ := strings.Cut(v, "/")
	size, rest, struck := strings.Cut(rest, "/")
	capacity, interval, _ := strings.Cut(size, "x")
	ok := number(full, &s.full) && number(capacity, &s.capacity) && number(interval, &s.interval) &&
		s.interval > 0 && s.interval <= intervalMost && s.capacity <= (exact-1)/s.interval
	if struck {
		strikes, times, _ := strings.Cut(rest, "/")
		until, last, _ := strings.Cut(times, "/")
		ok = ok && number(strikes, &s.strikes) && number(until, &s.until) && number(last, &s.last)
	}
	if !ok {
		return state{}, fmt.Errorf("read bucket: %w", errCorrupt)
	}
	return s, nil
}

// number reads a plain decimal below 2^53 into n.
func number(v string, n *int64) bool {
	if v == "" || len(v) > 16 {
		return false
	}
	*n = 0
	for i := range len(v) {
		if v[i] < '0' || v[i] > '9' {
			return false
		}
		*n = *n*10 + int64(v[i]-'0')
	}
	return *n < exact
}
