package chaos

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"loginguard/test/internal/service"
)

// The buckets of which the consistency test keeps a history: of a network, of
// an account, and the global one, which a cluster splits into eight.
const (
	hostCapacity = 20
	hostInterval = 500 * time.Millisecond

	accountCapacity = 10
	accountInterval = 36 * time.Minute
	accountWait     = 30 * time.Second // the shortest after which one attempt is lent

	globalCapacity = 80
	globalInterval = 50 * time.Millisecond
)

const consistencyConfig = `
limits:
  network:
    host: {capacity: 20, refill: 20/10s}
    subnet: {capacity: 1000000, refill: 1000000/1h, max_capacity: 1000000}
  global: {capacity: 80, refill: 80/4s}
`

// clients is how many ask all the time.
const clients = 8

// bounds are those of the buckets, by the beginning of their names.
var bounds = map[string]bound{
	"host": func(d time.Duration, losses int) int { return hostCapacity*(1+losses) + int(d/hostInterval) },
	"account": func(d time.Duration, losses int) int {
		return accountCapacity*(1+losses) + int(d/accountInterval) + int(d/accountWait)
	},
	"global": func(d time.Duration, losses int) int { return globalCapacity*(1+losses) + int(d/globalInterval) },
}

// trial is a run of the consistency test.
type trial struct {
	urls [fleet]string // of the store, as each instance reaches it

	// nemesis does harm until the time is over, and returns when all is healed.
	nemesis func(h *history, end time.Time)
}

// run lets clients ask the instances while the nemesis takes the store apart,
// and returns what they saw. Answers that are none, or late, fail the test.
func (x trial) run(t *testing.T, length time.Duration) *history {
	t.Helper()
	var services []*service.Service
	for _, url := range x.urls {
		services = append(services, service.Start(t, service.Options{Redis: url, Config: consistencyConfig,
			Env: append([]string{"LOGINGUARD_LOG_LEVEL=error"}, realBudget...)}))
	}
	working(t, services...)
	h := newHistory()
	var all sync.WaitGroup
	stop := make(chan struct{})
	m := measure(t, services...)
	for w := range clients {
		all.Go(func() { h.client(t, services[w%fleet], rand.New(rand.NewPCG(uint64(w), 3)), stop) })
	}
	func() {
		// Also when the nemesis gives up and ends the test.
		defer func() {
			close(stop)
			all.Wait()
			m.end()
		}()
		x.nemesis(h, time.Now().Add(length))
	}()
	for _, s := range h.slow {
		if m.late(s, answerWithin) {
			t.Errorf("an answer took %v, want at most %v", s.end.Sub(s.begin), answerWithin)
		}
	}
	return h
}

// excesses returns what of a history no healthy store would have admitted.
func (h *history) excesses() []string {
	var found []string
	for _, bucket := range slices.Sorted(maps.Keys(h.admitted)) {
		if text := h.excess(bucket, bounds[strings.TrimRight(bucket, "0123456789")]); text != "" {
			found = append(found, text)
		}
	}
	return found
}

// judge fails the test for admissions that were too many, and when there was
// nothing to be seen.
func (h *history) judge(t *testing.T) {
	t.Helper()
	for _, text := range h.excesses() {
		t.Error(text)
	}
	counts := make(map[string]int)
	for bucket, list := range h.admitted {
		counts[bucket] = len(list)
	}
	t.Logf("answers: %v; counts were lost %d times; admitted: %v", h.answers, len(h.losses), counts)
	for _, kind := range []string{allowed, denied, crowded, unreachable} {
		if h.answers[kind] == 0 {
			t.Errorf("no answer was %s: nothing was tried", kind)
		}
	}
	if len(counts) != 7 {
		t.Errorf("%d buckets admitted, want all of 3 networks, 3 accounts and global", len(counts))
	}
}
