package netprefix

import (
	"runtime"
	"runtime/metrics"
	"testing"
	"time"
)

// heapBytes is the size of all objects on the heap, those included that only
// await collection.
func heapBytes() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// peakHeap runs f and gives by how much the heap grew at most while it ran, as
// seen every millisecond, and how much of that is left.
func peakHeap(f func()) (peak, left uint64) {
	runtime.GC()
	before := heapBytes()
	done, most := make(chan struct{}), make(chan uint64)
	go func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		highest := before
		for {
			highest = max(highest, heapBytes())
			select {
			case <-tick.C:
			case <-done:
				most <- highest
				return
			}
		}
	}()
	f()
	close(done)
	peak = <-most - before
	runtime.GC()
	return peak, max(heapBytes(), before) - before
}

// The promise for list files: 50,000 blocks load within 2 s and 100 MiB. The
// time is a deadline, far from what it takes (a few tenths of a second), and
// longer with the race detector, which is many times slower.
func TestFiftyThousandBlocksLoadInTimeAndSpace(t *testing.T) {
	c := bigConfig(t, 50_000)
	var table *Table
	began := time.Now()
	peak, left := peakHeap(func() { table = mustTable(t, c) })
	took := time.Since(began)
	t.Logf("took %v, at most %.1f MiB while loading, %.1f MiB afterwards", took, float64(peak)/(1<<20), float64(left)/(1<<20))
	if took > loadDeadline {
		t.Errorf("loading took %v, want at most %v", took, loadDeadline)
	}
	if peak > 100<<20 {
		t.Errorf("loading took %d bytes, want at most 100 MiB", peak)
	}
	if left > 20<<20 {
		t.Errorf("the table keeps %d bytes, want at most 20 MiB", left)
	}
	if n := len(table.index.starts); n < 50_000 {
		t.Errorf("the index has %d entries: it cannot hold 50,000 blocks", n)
	}
}
