package chaos

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"loginguard/test/internal/client"
	"loginguard/test/internal/service"
)

// span is a stretch of time in which something happened, we do not know when.
type span struct{ begin, end time.Time }

// history is what the clients saw and what was done to the store.
type history struct {
	mu       sync.Mutex
	admitted map[string][]span // by bucket
	losses   []span            // in each of which the store lost what it had counted, or some of it
	answers  map[string]int    // by kind
	slow     []span            // answers that took longer than they may
}

func newHistory() *history {
	return &history{admitted: make(map[string][]span), answers: make(map[string]int)}
}

// The kinds of answers.
const (
	allowed     = "allowed"
	denied      = "denied"
	crowded     = "denied by global"
	unreachable = "store unavailable"
)

// client asks one instance, almost without a pause, for attempts on one of a
// few networks, on one of a few accounts, or on neither, each time with a fresh
// partner. All are attempts on the global bucket.
func (h *history) client(t *testing.T, s *service.Service, draw *rand.Rand, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(draw.IntN(20)) * time.Millisecond):
		}
		n := draw.IntN(3)
		fresh := draw.Uint32()
		a := client.Attempt{Account: fmt.Sprint("fresh", fresh), IP: fmt.Sprintf("20.%d.%d.7", fresh>>8&255, fresh&255)}
		buckets := []string{"global"}
		switch draw.IntN(5) {
		case 0, 1:
			a.IP = fmt.Sprintf("198.51.%d.1", n)
			buckets = append(buckets, fmt.Sprint("host", n))
		case 2, 3:
			a.Account = fmt.Sprint("account", n)
			buckets = append(buckets, a.Account)
		}
		began := time.Now()
		d := s.Check(a)
		h.note(t, buckets, span{began, time.Now()}, d)
	}
}

// note judges an answer and keeps it: a denial says how long to wait.
func (h *history) note(t *testing.T, buckets []string, when span, d client.Decision) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if d.Took > answerWithin {
		h.slow = append(h.slow, when)
	}
	wait, err := strconv.Atoi(d.Header.Get("Retry-After"))
	waits := err == nil && wait >= 1 && wait == d.RetryAfter
	switch {
	case d.Allowed() && !d.Degraded:
		h.answers[allowed]++
		for _, bucket := range buckets {
			h.admitted[bucket] = append(h.admitted[bucket], when)
		}
	case d.Status == http.StatusTooManyRequests && waits:
		h.answers[denied]++
	case d.Status == http.StatusServiceUnavailable && d.Limit == "global" && waits:
		h.answers[crowded]++
	case unavailable(d) == nil:
		h.answers[unreachable]++
	default:
		t.Errorf("answered %d, Retry-After %q: %s", d.Status, d.Header.Get("Retry-After"), d.Body)
	}
}

// loses does something after which the store may lack what it had counted.
func (h *history) loses(do func()) {
	began := time.Now()
	do()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.losses = append(h.losses, span{began, time.Now()})
}

// bound says how many admissions a bucket may have in a stretch of time in
// which so many losses fall.
type bound func(d time.Duration, losses int) int

// excess looks for a stretch of time, which begins and ends with an admission,
// in which too many began and ended, and describes it; "" when there is none.
func (h *history) excess(bucket string, most bound) string {
	list := slices.Clone(h.admitted[bucket])
	slices.SortFunc(list, func(a, b span) int { return a.end.Compare(b.end) })
	losses := slices.Clone(h.losses)
	slices.SortFunc(losses, func(a, b span) int { return a.begin.Compare(b.begin) })
	for i, first := range list {
		n, begun, over := 0, 0, 0
		for _, l := range losses {
			if l.end.Before(first.begin) {
				over++
			}
		}
		for j, s := range list {
			if s.begin.Before(first.begin) || j < i && s.end.Before(first.end) {
				continue
			}
			n++
			for begun < len(losses) && !losses[begun].begin.After(s.end) {
				begun++
			}
			lost := max(0, begun-over)
			if d := s.end.Sub(first.begin); n > most(d, lost) {
				return fmt.Sprintf("%s: %d admitted in %v, in which counts were lost %d times; want at most %d", bucket, n, d, lost, most(d, lost))
			}
		}
	}
	return ""
}

// TestConsistencyCheckerFinds what it looks for: one admission too many.
func TestConsistencyCheckerFinds(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	for _, c := range []struct {
		admitted []span
		losses   []span
		fits     bool
	}{
		{[]span{{at(0), at(1)}, {at(1), at(2)}}, nil, true},
		{[]span{{at(0), at(1)}, {at(1), at(2)}, {at(2), at(3)}}, nil, false},
		{[]span{{at(0), at(1)}, {at(1), at(2)}, {at(2), at(3)}}, []span{{at(1), at(2)}}, true},
		{[]span{{at(0), at(1)}, {at(1), at(2)}, {at(2), at(3)}}, []span{{at(4), at(5)}}, false},
		{[]span{{at(4), at(5)}, {at(5), at(6)}, {at(6), at(7)}}, []span{{at(1), at(3)}}, false},
		{[]span{{at(0), at(1)}, {at(1), at(2)}, {at(2), at(3)}, {at(3), at(4)}, {at(5), at(6)}}, []span{{at(1), at(9)}}, false},
		{[]span{{at(0), at(1)}, {at(1), at(2)}, {at(2), at(1000)}}, nil, true},
		{[]span{{at(900), at(1000)}, {at(901), at(1000)}, {at(902), at(1000)}, {at(0), at(1)}}, nil, false},
	} {
		h := newHistory()
		h.admitted["x"], h.losses = c.admitted, c.losses
		if got := h.excess("x", func(d time.Duration, losses int) int { return 2*(1+losses) + int(d/(900*time.Millisecond)) }) == ""; got != c.fits {
			t.Errorf("%v with losses %v: fits %v, want %v", c.admitted, c.losses, got, c.fits)
		}
	}
}
