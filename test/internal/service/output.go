package service

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// output collects what a process writes.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer and never fails.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// String returns all of it so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// tailLines is how much of a log a failed test shows.
const tailLines = 60

// tail returns the last lines of a log.
func tail(log string) string {
	lines := strings.Split(strings.TrimRight(log, "\n"), "\n")
	if n := len(lines) - tailLines; n > 0 {
		lines = append([]string{"..."}, lines[n:]...)
	}
	return strings.Join(lines, "\n")
}

// Await asks again and again until cond holds, and fails the test when it does
// not within the time given. what completes "waited for ...".
func Await(t testing.TB, within time.Duration, what string, cond func() bool) {
	t.Helper()
	end := time.NewTimer(within)
	defer end.Stop()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for !cond() {
		select {
		case <-end.C:
			t.Fatalf("waited %s in vain for %s", within, what)
		case <-again.C:
		}
	}
}
