package handlers

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

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
		h.Set("RateLimit-Limit", strconv.FormatInt(m.Capacity, 10))
		h.Set("RateLimit-Remaining", strconv.FormatInt(m.Remaining, 10))
		h.Set("RateLimit-Reset", strconv.FormatInt(m.Reset, 10))
	}
	var policies, states []string
	for i, m := range d.Meters {
		if d.Verdict == guard.Allow && !m.Charged || d.Verdict != guard.Allow && i != d.Shown {
			continue
		}
		name := meterName(m)
		policies = append(policies, fmt.Sprintf("%q;q=%d;w=%d", name, m.Capacity, m.Window))
		states = append(states, fmt.Sprintf("%q;r=%d;t=%d", name, m.Remaining, m.Reset))
	}
	if len(policies) > 0 {
		h.Set("RateLimit-Policy", strings.Join(policies, ", "))
		h.Set("RateLimit", strings.Join(states, ", "))
	}
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
