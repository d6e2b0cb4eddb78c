package handlers

import (
	"net/http"
	"strconv"

	"loginguard/guard"
)

// setRateLimit announces the state of the buckets of an attempt, twice: in the
// plain headers that most clients know, which can show one bucket, and in the
// structured ones of draft-ietf-httpapi-ratelimit-headers-10, which show every
// enforced bucket that was charged or, where nothing was charged, the one that
// is in the way.
func setRateLimit(h http.Header, d guard.Decision) {
	if d.Shown >= 0 && d.Shown < len(d.Meters) {
		m := d.Meters[d.Shown]
		h[headerLimit] = []string{strconv.FormatInt(m.Capacity, 10)}
		h[headerRemaining] = []string{strconv.FormatInt(m.Remaining, 10)}
		h[headerReset] = []string{strconv.FormatInt(m.Reset, 10)}
	}
	policies, states := make([]byte, 0, 192), make([]byte, 0, 192)
	for i, m := range d.Meters {
		if d.Verdict == guard.Allow && !m.Charged || d.Verdict != guard.Allow && i != d.Shown {
			continue
		}
		policies = item(policies, m, ";q=", m.Capacity, ";w=", m.Window)
		states = item(states, m, ";r=", m.Remaining, ";t=", m.Reset)
	}
	if len(policies) > 0 {
		h[headerPolicy] = []string{string(policies)}
		h[headerState] = []string{string(states)}
	}
}

// The names of the headers as a http.Header has them: Set would make them anew
// for every answer.
var (
	headerLimit     = http.CanonicalHeaderKey("RateLimit-Limit")
	headerRemaining = http.CanonicalHeaderKey("RateLimit-Remaining")
	headerReset     = http.CanonicalHeaderKey("RateLimit-Reset")
	headerPolicy    = http.CanonicalHeaderKey("RateLimit-Policy")
	headerState     = http.CanonicalHeaderKey("RateLimit")
)

// item appends one item of a structured header, with two parameters.
func item(b []byte, m guard.Meter, first string, n int64, second string, k int64) []byte {
	if len(b) > 0 {
		b = append(b, ", "...)
	}
	b = append(append(append(b, '"'), meterName(m)...), '"')
	b = strconv.AppendInt(append(b, first...), n, 10)
	return strconv.AppendInt(append(b, second...), k, 10)
}

// meterName tells the levels of the network limit apart, since one answer must
// not have two items of one name. Names are words of ours and need no escapes
// as sf-strings.
func meterName(m guard.Meter) string {
	if m.Level == "" || m.Level == m.Limit {
		return m.Limit
	}
	return m.Limit + "-" + m.Level
}
