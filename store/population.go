package store

import (
	"fmt"
	"strconv"
	"strings"
)

// A population is the number of different accounts that signed in from a
// network or to a realm this week or last. Its members are kept in two
// HyperLogLogs that take turns by week, key:0 and key:1; the number itself is
// kept under key, so that a decision reads one short string.

const (
	week = 7 * 24 * 3600 * 1e6 // microseconds

	// populationMost bounds the count that a capacity is computed from, so
	// that its product with PerUser stays exact.
	populationMost = 1e7
)

// headcount is the value under a population's key: week/both/this, where both
// counts this week and the one before.
type headcount struct{ week, both, this int64 }

func (h headcount) String() string {
	return strconv.FormatInt(h.week, 10) + "/" + strconv.FormatInt(h.both, 10) + "/" + strconv.FormatInt(h.this, 10)
}

func parseHeadcount(v string) (headcount, error) {
	h := headcount{week: -2}
	if v == "" {
		return h, nil
	}
	w, rest, _ := strings.Cut(v, "/")
	both, this, _ := strings.Cut(rest, "/")
	if !number(w, &h.week) || !number(both, &h.both) || !number(this, &h.this) {
		return headcount{}, fmt.Errorf("read population: %w", errCorrupt)
	}
	return h, nil
}

// at returns the members counted at a moment: when no one has signed in this
// week yet, those of last week.
func (h headcount) at(now int64) int64 {
	switch now / week {
	case h.week:
		return h.both
	case h.week + 1:
		return h.this
	}
	return 0
}

// populationSlot returns the key of the HyperLogLog of a week.
func populationSlot(key string, w int64) string { return key + ":" + strconv.FormatInt(w%2, 10) }

// members is the part of a space that holds HyperLogLogs.
type members interface {
	// add puts member into the log under key and returns how often that was
	// done since its members were counted.
	add(key, member string, expires int64) int64
	// count returns the number of different members of all logs together.
	count(keys ...string) int64
}

// join adds member to the population under key; found is asked whether it may
// be the first one of it.
func join(s space, key, member string, now int64, found func() (bool, error)) error {
	h, err := parseHeadcount(s.get(key))
	if err != nil {
		return err
	}
	w := now / week
	if h.week < w-1 {
		if ok, err := found(); err != nil || !ok {
			return err
		}
	}
	this, other := populationSlot(key, w), populationSlot(key, w+1)
	if h.week != w {
		// The slot of this week still holds the week before last.
		s.del(this)
		if h.week != w-1 {
			s.del(other)
		}
	}
	expires := (w + 2) * week
	// To count takes long once there are thousands. To be up to one in a
	// hundred behind is within the error of the log.
	if n := s.add(this, member, expires); h.week == w && n*100 <= h.this {
		return nil
	}
	h = headcount{week: w, both: s.count(this, other), this: s.count(this)}
	s.set(key, h.String(), expires)
	return nil
}
