package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// clockAt is a clock that a test moves.
type clockAt struct{ now atomic.Int64 }

func newMemoryAt(t *testing.T, most int) (*Memory, *clockAt) {
	t.Helper()
	c := new(clockAt)
	c.now.Store(start)
	m := NewMemory(MemoryOptions{MaxKeys: most, Now: c.now.Load})
	t.Cleanup(func() { _ = m.Close() })
	return m, c
}

// tries is a take on one bucket of five a minute, each gone after it refilled.
func tries(key string) Take {
	return Take{Challenged: -1, Attempt: "x", Charges: []Charge{{
		Key: key, Cost: 1, When: LaneStranger, Limit: Limit{Capacity: 5, Interval: 12 * second, Debt: hour - 12*second},
	}}}
}

// TestMemoryIsBounded: a flood of names fills the store and no more; the name
// that is under attack keeps its bucket; what was admitted can be settled; and
// there is room again when buckets have refilled.
func TestMemoryIsBounded(t *testing.T) {
	ctx := context.Background()
	const most = 100
	m, clock := newMemoryAt(t, most)
	victim := tries("victim")
	for range 5 {
		if out, err := m.Take(ctx, victim); err != nil || out.Outcome != Admitted {
			t.Fatalf("%v, %v", out.Outcome, err)
		}
	}
	full := 0
	for i := range 10 * most {
		out, err := m.Take(ctx, tries(fmt.Sprintf("flood%d", i)))
		switch {
		case errors.Is(err, ErrFull) && out.Outcome == Denied:
			full++
		case err != nil:
			t.Fatal(err)
		}
	}
	if m.Len() != most || full != 10*most-(most-1) {
		t.Fatalf("%d keys, %d attempts refused; want %d and the rest", m.Len(), full, most)
	}
	if m.Values()["victim"] == "" {
		t.Fatal("the bucket under attack was evicted")
	}
	peek := victim
	peek.Peek = true
	if out, err := m.Take(ctx, peek); err != nil || out.Outcome != Denied {
		t.Fatalf("a peek into a full store: %v, %v", out.Outcome, err)
	}
	settled, err := m.Settle(ctx, Settle{Marker: "marker", Expires: start + hour, Refund: true, Refunds: []Refund{{Key: "victim", Cost: 1}}})
	if err != nil || !settled.Applied {
		t.Fatalf("settle in a full store: %+v, %v", settled, err)
	}
	if out, err := m.Take(ctx, peek); err != nil || out.Outcome != Admitted {
		t.Fatalf("after the refund: %v, %v", out.Outcome, err)
	}

	// All but the victim's have refilled.
	clock.now.Add(13 * second)
	if out, err := m.Take(ctx, tries("newcomer")); err != nil || out.Outcome != Admitted {
		t.Fatalf("after a sweep: %v, %v", out.Outcome, err)
	}
	if v := m.Values(); len(v) != 3 || v["victim"] == "" || v["marker"] == "" {
		t.Fatalf("after a sweep: %v", v)
	}
}

// TestMemorySettlementsAreBounded: the room that is kept free for them ends.
func TestMemorySettlementsAreBounded(t *testing.T) {
	m, _ := newMemoryAt(t, 100)
	var err error
	for i := 0; err == nil && i < 1000; i++ {
		_, err = m.Settle(context.Background(), Settle{Marker: fmt.Sprintf("marker%d", i), Expires: start + hour})
	}
	if !errors.Is(err, ErrFull) || m.Len() != 125 {
		t.Fatalf("%d keys, %v; want 125 and ErrFull", m.Len(), err)
	}
}

// TestMemorySweepsByItself: expired keys go without any call, and those that
// still count stay.
func TestMemorySweepsByItself(t *testing.T) {
	m, clock := newMemoryAt(t, 0)
	for i := range 200 {
		if _, err := m.Take(context.Background(), tries(fmt.Sprintf("key%d", i))); err != nil {
			t.Fatal(err)
		}
	}
	for i := range shardCount {
		m.sweepShard(i, clock.now.Load()+12*second-1)
	}
	if m.Len() != 200 {
		t.Fatalf("%d keys, want all 200 a microsecond before they refill", m.Len())
	}
	clock.now.Add(12 * second)
	// The sweeper clears its first shard within a quarter of a second.
	for end := time.Now().Add(10 * time.Second); m.Len() == 200; {
		if time.Now().After(end) {
			t.Fatal("nothing was swept")
		}
		<-time.After(time.Millisecond)
	}
	for i := range shardCount {
		m.sweepShard(i, clock.now.Load())
	}
	if m.Len() != 0 || len(m.Values()) != 0 {
		t.Fatalf("%d keys are left", m.Len())
	}
}

// TestMemoryInParallel runs every kind of call from 64 goroutines on keys that
// they share; the race detector and the sums watch.
func TestMemoryInParallel(t *testing.T) {
	ctx := context.Background()
	m, _ := newMemoryAt(t, 0)
	var admitted, settled [8]atomic.Int64
	var all sync.WaitGroup
	for g := range 64 {
		all.Go(func() {
			for n := range 40 {
				shared := (g + n) % 8
				k := Take{Record: fmt.Sprintf("record%d", shared), Remember: day, Challenged: -1, Attempt: fmt.Sprintf("%d-%d", g, n)}
				k.Charges = []Charge{
					{Key: k.Record, Field: "a", Cost: 1, When: LaneStranger, Limit: Limit{Capacity: 100, Interval: 30 * second}},
					{Key: fmt.Sprintf("net%d", (g*n)%16), Cost: 1, When: LaneStranger, Population: "people", Limit: Limit{Capacity: 1000, Interval: second, PerUser: 1000, MaxCapacity: 2000}},
					{Key: "global", Cost: 1, When: LaneStranger, Limit: Limit{Capacity: 100000, Interval: 1000}},
				}
				out, err := m.Take(ctx, k)
				if err != nil {
					t.Errorf("take: %v", err)
					return
				}
				if out.Outcome == Admitted {
					admitted[shared].Add(1)
				}
				switch n % 5 {
				case 0:
					s := Settle{Marker: "m" + k.Attempt, Record: k.Record, Issued: out.Issued, Expires: start + hour, Fail: true, Remember: day, Sources: 8}
					if done, err := m.Settle(ctx, s); err != nil || !done.Applied {
						t.Errorf("settle: %+v, %v", done, err)
					}
					settled[shared].Add(1)
				case 1:
					s := Settle{Learn: true, Member: k.Attempt, Populations: []string{"people"}}
					if _, err := m.Settle(ctx, s); err != nil {
						t.Errorf("settle: %v", err)
					}
				case 2:
					if _, err := m.Lookup(ctx, "nothing"); err != nil {
						t.Errorf("lookup: %v", err)
					}
				case 3:
					m.Values()
				case 4:
					if err := m.Forget(ctx, Forget{Keys: []string{"nothing", "else"}}); err != nil {
						t.Errorf("forget: %v", err)
					}
				}
			}
		})
	}
	all.Wait()
	for i := range admitted {
		if got := admitted[i].Load(); got != 100 {
			t.Errorf("record %d: %d admitted, want 100", i, got)
		}
		k := Take{Record: fmt.Sprintf("record%d", i), Remember: day, Challenged: -1, Peek: true}
		if out, err := m.Take(ctx, k); err != nil || out.Failures != settled[i].Load() {
			t.Errorf("record %d: %d failures, %v; want %d", i, out.Failures, err, settled[i].Load())
		}
	}
	if got, want := m.Len(), len(m.Values()); got != want {
		t.Errorf("%d keys are counted, %d are there", got, want)
	}
}

func TestMemoryHonoursItsContext(t *testing.T) {
	m, _ := newMemoryAt(t, 0)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, take := m.Take(ctx, tries("x"))
	_, settle := m.Settle(ctx, Settle{})
	_, lookup := m.Lookup(ctx, "x")
	_, settled := m.Settled(ctx, []string{"x"})
	for name, err := range map[string]error{
		"take": take, "settle": settle, "lookup": lookup, "settled": settled, "forget": m.Forget(ctx, Forget{Keys: []string{"x"}}), "ping": m.Ping(ctx),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if m.Len() != 0 {
		t.Errorf("%d keys were written", m.Len())
	}
}

// TestMemoryClock: the default clock tells the time, and a Take may bring its
// own.
func TestMemoryClock(t *testing.T) {
	m := NewMemory(MemoryOptions{})
	defer m.Close()
	before := time.Now().UnixMicro()
	out, err := m.Take(context.Background(), tries("x"))
	if err != nil || out.Now < before-1 || out.Now > time.Now().UnixMicro()+1 || out.Issued != out.Now {
		t.Errorf("now %d, issued %d, %v; want between %d and %d", out.Now, out.Issued, err, before, time.Now().UnixMicro())
	}
	k := tries("y")
	k.Now = start
	if out, err := m.Take(context.Background(), k); err != nil || out.Now != start {
		t.Errorf("now %d, %v; want %d", out.Now, err, start)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}
