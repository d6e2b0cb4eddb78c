package chaos

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"loginguard/test/internal/service"
)

// meter measures how slow the machine itself is: what an answer takes that
// never touches the store, from the same process to the same process, at the
// same time. Without it a busy machine would fail tests of deadlines.
type meter struct {
	t    *testing.T
	stop chan struct{}
	done sync.WaitGroup

	mu      sync.Mutex
	samples []span
}

// measure begins to measure, by each of the services; it ends with [meter.end].
func measure(t *testing.T, services ...*service.Service) *meter {
	t.Helper()
	m := &meter{t: t, stop: make(chan struct{})}
	for _, s := range services {
		m.done.Go(func() { m.sample(s) })
	}
	return m
}

func (m *meter) sample(s *service.Service) {
	for {
		select {
		case <-m.stop:
			return
		case <-time.After(10 * time.Millisecond):
		}
		began := time.Now()
		if p := s.Page("/livez"); p.Status != http.StatusOK {
			m.t.Errorf("/livez answers %d", p.Status)
		}
		m.mu.Lock()
		m.samples = append(m.samples, span{began, time.Now()})
		m.mu.Unlock()
	}
}

func (m *meter) end() {
	close(m.stop)
	m.done.Wait()
}

// lag returns the longest that such an answer took in a stretch of time.
func (m *meter) lag(when span) (longest time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.samples {
		if !s.end.Before(when.begin) && !s.begin.After(when.end) {
			longest = max(longest, s.end.Sub(s.begin))
		}
	}
	return longest
}

// late reports whether something took longer than it may, the machine's own
// slowness aside. A request and its answer are scheduled several times, at both
// ends.
func (m *meter) late(when span, within time.Duration) bool {
	took := when.end.Sub(when.begin)
	return took > within && took > within+4*m.lag(when)
}
