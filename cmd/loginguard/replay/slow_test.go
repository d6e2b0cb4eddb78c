//go:build slow

package replay

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	"loginguard/guard"
	"loginguard/keys"
)

// endless writes n lines of a log as they are read: 20,000 people, and guesses
// at names that never come again.
type endless struct {
	n, most int
	rest    []byte
	at      func(n int)
}

// Read implements io.Reader.
func (e *endless) Read(p []byte) (int, error) {
	if len(e.rest) == 0 {
		if e.n == e.most {
			return 0, io.EOF
		}
		e.n++
		e.at(e.n)
		account, outcome := fmt.Sprint("user", e.n*7919%20_000), guard.Success
		ip := fmt.Sprintf("10.%d.%d.9", e.n*7919%20_000/250, e.n*7919%20_000%250)
		if e.n%3 == 0 {
			account, outcome, ip = fmt.Sprint("guess", e.n), guard.Failure, fmt.Sprintf("11.%d.%d.%d", e.n%200, e.n/200%250, e.n%7)
		}
		e.rest = fmt.Appendf(e.rest, `{"time":%d,"account":%q,"ip":%q,"outcome":%q}`+"\n", 1_790_000_000+6*e.n, account, ip, outcome)
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// TestReplayOfAMillionEventsInConstantMemory reads ten weeks of log. What is
// held follows the people, and the names of the last month, not the log.
func TestReplayOfAMillionEventsInConstantMemory(t *testing.T) {
	heap := make(map[int]uint64)
	log := &endless{most: 1_000_000, at: func(n int) {
		if n == 100_000 || n == 500_000 || n == 1_000_000 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			heap[n] = m.HeapAlloc >> 20
		}
	}}
	r, err := NewReader(log, "endless", LogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	report, err := Run(context.Background(), r, RunOptions{Policy: Policy{"default", newRules(t), keys.RandomRing()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d events, %v each; heap in MB: %v", report.Events, time.Since(began)/time.Duration(report.Events), heap)
	if report.Events != 1_000_000 {
		t.Errorf("%d events, want 1000000", report.Events)
	}
	if heap[1_000_000] > heap[500_000]+heap[500_000]/4+16 {
		t.Errorf("the heap grew from %d MB at half of the log to %d MB at its end", heap[500_000], heap[1_000_000])
	}
}
