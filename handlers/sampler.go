package handlers

import (
	"sync"
	"time"
)

// sampler lets a number of things through per second and counts the rest. A
// fixed window is enough for log lines: twice the number in a bad second hurts
// nobody. The zero value lets nothing through.
type sampler struct {
	perSecond int64

	mu      sync.Mutex
	window  int64 // Unix second
	passed  int64 // in this window
	dropped int64 // since the last one that passed
}

// take tells whether one more may pass and, if so, how many were dropped since
// the one before it.
func (s *sampler) take(now time.Time) (ok bool, dropped int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sec := now.Unix(); sec != s.window {
		s.window, s.passed = sec, 0
	}
	if s.passed >= s.perSecond {
		s.dropped++
		return false, 0
	}
	s.passed++
	dropped, s.dropped = s.dropped, 0
	return true, dropped
}
