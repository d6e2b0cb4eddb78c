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
	"loginguard/test/internal/proxy"
	"loginguard/test/internal/redisd"
	"loginguard/test/internal/service"
)

// The buckets of which the consistency test keeps a history: of a network and
// of an account.
const (
	hostCapacity = 20
	hostInterval = 100 * time.Millisecond

	accountCapacity = 10
	accountInterval = 36 * time.Minute
	accountWait     = 30 * time.Second // the shortest after which one attempt is lent
)

const consistencyConfig = `
limits:
  network:
    host: {capacity: 20, refill: 20/2s}
    subnet: {capacity: 1000000, refill: 1000000/1h, max_capacity: 1000000}
  global: {capacity: 1000000, refill: 1000000/1h, max_capacity: 1000000}
`

// span is a stretch of time in which something happened, we do not know when.
type span struct{ begin, end time.Time }

// history is what the clients saw and what was done to the store.
type history struct {
	mu       sync.Mutex
	admitted map[string][]span // by bucket
	losses   []span            // moments at which all state was lost
	answers  map[int]int       // by status
	slow     []span            // answers that took longer than they may
}

// TestConsistency is the short edition.
func TestConsistency(t *testing.T) { consistency(t, 10*time.Second) }

// consistency lets clients ask three instances while a nemesis pauses and kills
// the store and takes the network apart, and checks the history: in every
// stretch of time the admissions of a bucket are within its capacity and what
// came back in that time, plus one capacity for each time all state was lost.
func consistency(t *testing.T, length time.Duration) {
	server := redisd.Start(t)
	var (
		services []*service.Service
		networks []*proxy.Proxy
	)
	for range 3 {
		p := proxy.Start(t, server.Addr)
		networks = append(networks, p)
		services = append(services, service.Start(t, service.Options{Redis: "redis://" + p.Addr, Config: consistencyConfig,
			Env: append([]string{"LOGINGUARD_LOG_LEVEL=error"}, realBudget...)}))
	}
	working(t, services...)
	h := &history{admitted: make(map[string][]span), answers: make(map[int]int)}
	var all sync.WaitGroup
	stop := make(chan struct{})
	m := measure(t, services[0])
	for w := range 8 {
		all.Go(func() { h.client(t, services[w%3], rand.New(rand.NewPCG(uint64(w), 3)), stop) })
	}
	h.nemesis(server, networks, length)
	close(stop)
	all.Wait()
	m.end()
	for _, s := range h.slow {
		if m.late(s, answerWithin) {
			t.Errorf("an answer took %v, want at most %v", s.end.Sub(s.begin), answerWithin)
		}
	}
	h.check(t, func(bucket string) bool { return bucket[0] == 'h' }, func(d time.Duration, losses int) int {
		return hostCapacity*(1+losses) + int(d/hostInterval)
	})
	h.check(t, func(bucket string) bool { return bucket[0] == 'a' }, func(d time.Duration, losses int) int {
		return accountCapacity*(1+losses) + int(d/accountInterval) + int(d/accountWait)
	})
	t.Logf("answers by status: %v; all state was lost %d times", h.answers, len(h.losses))
	for _, status := range []int{http.StatusOK, http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		if h.answers[status] == 0 {
			t.Errorf("no answer had the status %d: nothing was tried", status)
		}
	}
}

// client asks one instance, without a pause, for attempts on one of a few
// networks or accounts, each time with a fresh partner.
func (h *history) client(t *testing.T, s *service.Service, draw *rand.Rand, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(draw.IntN(20)) * time.Millisecond):
		}
		n := draw.IntN(3)
		fresh := draw.Uint32()
		a := client.Attempt{Account: fmt.Sprint("fresh", fresh), IP: fmt.Sprintf("198.51.%d.1", n)}
		bucket := fmt.Sprint("host", n)
		if draw.IntN(2) == 0 {
			bucket = fmt.Sprint("account", n)
			a = client.Attempt{Account: bucket, IP: fmt.Sprintf("20.%d.%d.7", fresh>>8&255, fresh&255)}
		}
		began := time.Now()
		d := s.Check(a)
		h.note(t, bucket, span{began, time.Now()}, d)
	}
}

// note judges an answer and keeps it.
func (h *history) note(t *testing.T, bucket string, when span, d client.Decision) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answers[d.Status]++
	if d.Took > answerWithin {
		h.slow = append(h.slow, when)
	}
	wait, err := strconv.Atoi(d.Header.Get("Retry-After"))
	switch {
	case d.Allowed() && !d.Degraded:
		h.admitted[bucket] = append(h.admitted[bucket], when)
	case d.Status == http.StatusTooManyRequests && err == nil && wait >= 1 && wait == d.RetryAfter:
	case unavailable(d) == nil:
	default:
		t.Errorf("answered %d, Retry-After %q: %s", d.Status, d.Header.Get("Retry-After"), d.Body)
	}
}

// nemesis does harm for so long, and heals everything in the end.
func (h *history) nemesis(server *redisd.Server, networks []*proxy.Proxy, length time.Duration) {
	draw := rand.New(rand.NewPCG(11, 13))
	for end, n := time.Now().Add(length), 0; time.Now().Before(end); n++ {
		network := networks[draw.IntN(len(networks))]
		switch n % 6 {
		case 0:
			server.Pause()
			time.Sleep(300 * time.Millisecond)
			server.Resume()
		case 1:
			network.Blackhole()
			time.Sleep(400 * time.Millisecond)
		case 2:
			network.Cut(1 + draw.IntN(20))
			time.Sleep(200 * time.Millisecond)
		case 3:
			began := time.Now()
			server.Kill()
			server.Run()
			h.mu.Lock()
			h.losses = append(h.losses, span{began, time.Now()})
			h.mu.Unlock()
		case 4:
			network.Delay(time.Duration(20+draw.IntN(100)) * time.Millisecond)
			time.Sleep(300 * time.Millisecond)
		case 5:
			network.Reset()
		}
		network.Heal()
		time.Sleep(500 * time.Millisecond)
	}
}

// check bounds the admissions of the buckets of one kind.
func (h *history) check(t *testing.T, of func(string) bool, most func(d time.Duration, losses int) int) {
	t.Helper()
	for bucket, list := range h.admitted {
		if !of(bucket) {
			continue
		}
		if text := h.excess(bucket, most); text != "" {
			t.Error(text)
		}
		t.Logf("%s: %d admitted", bucket, len(list))
	}
}

// excess looks for a stretch of time, which begins and ends with an admission,
// in which too many began and ended, and describes it.
func (h *history) excess(bucket string, most func(d time.Duration, losses int) int) string {
	list := slices.Clone(h.admitted[bucket])
	slices.SortFunc(list, func(a, b span) int { return a.end.Compare(b.end) })
	for _, first := range list {
		n := 0
		for _, s := range list {
			if s.begin.Before(first.begin) {
				continue
			}
			n++
			losses := 0
			for _, l := range h.losses {
				if !l.end.Before(first.begin) && !l.begin.After(s.end) {
					losses++
				}
			}
			if d := s.end.Sub(first.begin); n > most(d, losses) {
				return fmt.Sprintf("%s: %d admitted in %v, in which all state was lost %d times; want at most %d", bucket, n, d, losses, most(d, losses))
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
		{[]span{{at(0), at(1)}, {at(1), at(2)}, {at(2), at(1000)}}, nil, true},
		{[]span{{at(900), at(1000)}, {at(901), at(1000)}, {at(902), at(1000)}, {at(0), at(1)}}, nil, false},
	} {
		h := &history{admitted: map[string][]span{"x": c.admitted}, losses: c.losses}
		if got := h.excess("x", func(d time.Duration, losses int) int { return 2*(1+losses) + int(d/(900*time.Millisecond)) }) == ""; got != c.fits {
			t.Errorf("%v with losses %v: fits %v, want %v", c.admitted, c.losses, got, c.fits)
		}
	}
}
