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

// parseState reads what String wrote; "" is the full bucket.
func parseState(v string) (state, error) {
	var s state
	if v == "" {
		return s, nil
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
