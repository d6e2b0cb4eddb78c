package policy

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// Rate is how fast a bucket refills: Tokens come back, evenly spread, in every
// Per. Unlike "requests per second" it keeps what the operator wrote, so that
// 10/6h is published as 10/6h.
type Rate struct {
	Tokens int64         // at least 1
	Per    time.Duration // above 0
}

// errRate says how a rate is written. It leaves out what was read, since the
// caller names the setting.
var errRate = errors.New("must be written as tokens/span, like 10/6h")

// ParseRate reads a rate such as "10/6h": whole tokens of at least 1, a slash,
// and a span above 0 in the notation of [time.ParseDuration]. Signs, blanks and
// fractions of tokens are refused. Whether the rate is in bounds is for [New]
// to say.
func ParseRate(s string) (Rate, error) {
	tokens, per, ok := strings.Cut(s, "/")
	if !ok || strings.ContainsAny(s, "+-") {
		return Rate{}, errRate
	}
	n, err := strconv.ParseInt(tokens, 10, 64)
	if err != nil || n < 1 {
		return Rate{}, errRate
	}
	d, err := time.ParseDuration(per)
	if err != nil || d <= 0 {
		return Rate{}, errRate
	}
	return Rate{Tokens: n, Per: d}, nil
}

// String returns the rate as [ParseRate] reads it, or "" for the zero value.
func (r Rate) String() string {
	if r == (Rate{}) {
		return ""
	}
	return strconv.FormatInt(r.Tokens, 10) + "/" + span(r.Per)
}

// interval returns the microseconds in which one token comes back, rounded up
// so that no bucket refills faster than was written. The rate must be valid.
func (r Rate) interval() int64 {
	// Whole microseconds first: Per may be any number of nanoseconds, and
	// rounding up twice rounds up once.
	us := (int64(r.Per)-1)/int64(time.Microsecond) + 1
	return (us-1)/r.Tokens + 1
}

// span writes d the way people write it in a configuration: 6h, not 6h0m0s.
func span(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// micros converts microseconds back to a span, for messages.
func micros(us int64) time.Duration { return time.Duration(us) * time.Microsecond }
