package edge

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Bounds of a rate. Below a microsecond the rounding to nanoseconds would
// show; a network that waits for hours is not stopped from flooding but shut
// out, which is not for an edge to do.
const (
	minInterval = time.Microsecond // between two requests
	maxInterval = time.Hour
)

// errRate says how a rate is written.
var errRate = errors.New("must be written as requests/span, such as 5/s, 300/m or 1/10s")

// parseRate reads how many requests may come in a span, evenly spread, and
// returns the time between two of them, rounded up so that no network gets
// more than was written. The span is a unit (s, m, h) or anything that
// [time.ParseDuration] reads. Signs, blanks and fractions are refused, and so
// is an interval below a microsecond or above an hour.
func parseRate(s string) (time.Duration, error) {
	requests, span, ok := strings.Cut(s, "/")
	if !ok || strings.ContainsAny(s, "+-") {
		return 0, errRate
	}
	n, err := strconv.ParseInt(requests, 10, 64)
	if err != nil || n < 1 {
		return 0, errRate
	}
	switch span {
	case "s", "m", "h":
		span = "1" + span
	}
	per, err := time.ParseDuration(span)
	if err != nil || per <= 0 {
		return 0, errRate
	}
	interval := time.Duration((int64(per)-1)/n + 1)
	if interval < minInterval || interval > maxInterval {
		return 0, fmt.Errorf("%s is one request every %s: must be between %s and %s", s, interval, minInterval, maxInterval)
	}
	return interval, nil
}
