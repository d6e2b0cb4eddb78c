package replay

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// stamps reads the time stamps of a system's log. The old form of syslog says
// neither year nor zone: the zone is taken as UTC, and the year as the one that
// puts the line nearest to the line before, so that a log may run over New Year
// and be a little out of order.
type stamps struct {
	year int       // of the first stamp without one, 0 for not known
	now  time.Time // by which it is guessed then
	last time.Time // of the line before
}

var (
	oldStamp = regexp.MustCompile(`^([A-Z][a-z]{2}) ([ 0-3]?\d) (\d\d):(\d\d):(\d\d)(\.\d{1,9})? +`)
	newStamp = regexp.MustCompile(`^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)([.,]\d{1,9})?(Z|[+-]\d\d:?\d\d)? +`)
	epoch    = regexp.MustCompile(`^(\d{9,11}\.\d{1,9}) +`)

	// priority is what stands before the stamp when the log was received over
	// the network and kept as it came; RFC 5424 adds its version.
	priority = regexp.MustCompile(`^<\d{1,3}>(?:1 )?`)
)

var errStamp = errors.New("begins with no time stamp of syslog, RFC 3339 or RFC 5424")

// cut reads the stamp at the beginning of a line, in microseconds since 1970,
// and returns what follows it.
func (s *stamps) cut(line string) (at int64, rest string, err error) {
	line = line[len(priority.FindString(line)):]
	var t time.Time
	if m := newStamp.FindStringSubmatch(line); m != nil {
		t, err = modern(m)
		rest = line[len(m[0]):]
	} else if m := oldStamp.FindStringSubmatch(line); m != nil {
		t, err = s.old(m)
		rest = line[len(m[0]):]
	} else if m := epoch.FindStringSubmatch(line); m != nil {
		var seconds float64
		seconds, err = strconv.ParseFloat(m[1], 64)
		t = time.UnixMicro(int64(math.Round(seconds * 1e6)))
		rest = line[len(m[0]):]
	} else {
		err = errStamp
	}
	if err != nil {
		return 0, "", err
	}
	s.last = t
	return t.UnixMicro(), rest, nil
}

// modern reads RFC 3339 as rsyslog and the journal write it: the zone with or
// without a colon, or none, which is UTC then.
func modern(m []string) (time.Time, error) {
	zone := strings.Replace(m[3], ":", "", 1)
	if zone == "" || zone == "Z" {
		zone = "+0000"
	}
	text := strings.Replace(m[1], " ", "T", 1) + strings.Replace(m[2], ",", ".", 1) + zone
	t, err := time.Parse("2006-01-02T15:04:05.999999999-0700", text)
	if err != nil {
		return time.Time{}, errStamp
	}
	return t, nil
}

// old reads the form without a year.
func (s *stamps) old(m []string) (time.Time, error) {
	text := m[1] + " " + strings.TrimSpace(m[2]) + " " + m[3] + ":" + m[4] + ":" + m[5] + m[6]
	in := func(year int) (time.Time, error) {
		return time.Parse("2006 Jan 2 15:04:05.999999999", strconv.Itoa(year)+" "+text)
	}
	if s.last.IsZero() {
		return s.first(in)
	}
	var best time.Time
	for year := s.last.Year() - 1; year <= s.last.Year()+1; year++ {
		// 29 February is not in every year.
		if t, err := in(year); err == nil && (best.IsZero() || away(t, s.last) < away(best, s.last)) {
			best = t
		}
	}
	if best.IsZero() {
		return best, errStamp
	}
	return best, nil
}

// first picks the year of the first stamp: the one that was named, or the
// latest in which it is not in the future.
func (s *stamps) first(in func(year int) (time.Time, error)) (time.Time, error) {
	if s.year != 0 {
		t, err := in(s.year)
		if err != nil {
			return t, errors.New("has a time stamp that is in no calendar of " + strconv.Itoa(s.year))
		}
		return t, nil
	}
	now := s.now
	if now.IsZero() {
		now = time.Now()
	}
	// The log's zone is not known: it may be up to half a day ahead. There are
	// never more than eight years from one leap year to the next.
	for year := now.Year() + 1; year >= now.Year()-8; year-- {
		if t, err := in(year); err == nil && !t.After(now.Add(14*time.Hour)) {
			return t, nil
		}
	}
	return time.Time{}, errStamp
}

func away(a, b time.Time) time.Duration {
	if d := a.Sub(b); d > 0 {
		return d
	}
	return b.Sub(a)
}
