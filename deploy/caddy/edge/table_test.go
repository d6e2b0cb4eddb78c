package edge

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// numbered makes a network for tests.
func numbered(n int) key { return key{byte(n >> 16), byte(n >> 8), byte(n), 1} }

func TestBucket(t *testing.T) {
	const ms = time.Millisecond
	b := newTable(100*ms, 3, 10)
	for i, step := range []struct{ at, wait time.Duration }{
		{0, 0}, {0, 0}, {0, 0}, // the burst
		{0, 100 * ms},
		{40 * ms, 60 * ms}, // what was refused cost nothing
		{100 * ms, 0},
		{100 * ms, 100 * ms},
		{199 * ms, 1 * ms},
		{350 * ms, 0}, {350 * ms, 0}, // two came back, and half of one
		{350 * ms, 50 * ms},
		{300 * ms, 100 * ms}, // a step back gives nothing
		{400 * ms, 0},
		{3600 * time.Second, 0}, {3600 * time.Second, 0}, {3600 * time.Second, 0}, // full, and not more than that
		{3600 * time.Second, 100 * ms},
	} {
		if wait, _ := b.take(numbered(1), step.at); wait != step.wait {
			t.Errorf("step %d at %s: wait %s, want %s", i, step.at, wait, step.wait)
		}
	}
	if wait, _ := b.take(numbered(2), 3600*time.Second); wait != 0 {
		t.Errorf("another network has to wait %s", wait)
	}
}

func TestWaitingAsToldIsEnough(t *testing.T) {
	b := newTable(333_333_334, 2, 10)
	now := time.Duration(0)
	for range 20 {
		wait, _ := b.take(numbered(1), now)
		if now += wait; wait == 0 {
			continue
		}
		if early, _ := b.take(numbered(1), now-1); early != 1 {
			t.Fatalf("a nanosecond before its time a request has to wait %s", early)
		}
		if again, _ := b.take(numbered(1), now); again != 0 {
			t.Fatalf("after the wait of %s it is told to wait %s", wait, again)
		}
	}
}

func TestTheQuietestNetworkGivesItsPlace(t *testing.T) {
	b := newTable(time.Minute, 2, 3)
	take := func(n int, now time.Duration, want room, wait bool) {
		t.Helper()
		w, r := b.take(numbered(n), now)
		if r != want || wait != (w > 0) {
			t.Fatalf("network %d at %s: room %d, wait %s, want room %d and to wait %t", n, now, r, w, want, wait)
		}
	}
	take(1, 0, grown, false)
	take(2, 0, grown, false)
	take(3, 0, grown, false)
	take(1, 0, known, false)
	take(1, 0, known, true) // a refused request keeps its network, too
	take(4, 0, forced, false)
	if _, there := b.index[numbered(2)]; there {
		t.Error("network 2 asked last of all and is still there")
	}
	take(1, 0, known, true)
	// A minute later network 3, which is the quietest, is full again.
	take(5, time.Minute, known, false)
	if _, there := b.index[numbered(3)]; there || len(b.nodes) != 3 {
		t.Errorf("network 3 is there: %t, and %d nodes", there, len(b.nodes))
	}
}

func TestATableOfOne(t *testing.T) {
	b := newTable(time.Minute, 1, 1)
	for n := range 4 {
		want := forced
		if n == 0 {
			want = grown
		}
		if wait, r := b.take(numbered(n), 0); wait != 0 || r != want {
			t.Fatalf("network %d: wait %s, room %d", n, wait, r)
		}
		if wait, r := b.take(numbered(n), 0); wait != time.Minute || r != known {
			t.Fatalf("network %d again: wait %s, room %d", n, wait, r)
		}
	}
}

// Quiet networks must not fill the memory up to the bound.
func TestFullBucketsAreNotKept(t *testing.T) {
	b := newTable(time.Second, 5, 1000)
	for n := range 10_000 {
		b.take(numbered(n), time.Duration(n)*time.Second)
	}
	if len(b.nodes) != 1 || len(b.index) != 1 {
		t.Errorf("%d nodes and %d in the index after networks that came one after the other", len(b.nodes), len(b.index))
	}
}

// The table says what a table without a bound says, as long as nothing is
// forced out, and its list and index are whole after every step.
func TestTableAgainstAModel(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 50 {
		const burst, interval, most = 3, 10 * time.Millisecond, 8
		b, model := newTable(interval, burst, most), map[key]time.Duration{}
		now, networks := time.Duration(0), 2+round%12
		for step := range 500 {
			now += time.Duration(random.Int64N(int64(interval)))
			network := numbered(random.IntN(networks))
			if networks > most {
				// Those that a bound makes forget are new to the model, too.
				if _, there := b.index[network]; !there {
					delete(model, network)
				}
			}
			full := max(model[network], now)
			want := max(0, full-now-(burst-1)*interval)
			if want == 0 {
				model[network] = full + interval
			}
			if wait, _ := b.take(network, now); wait != want {
				t.Fatalf("round %d, step %d: wait %s, want %s", round, step, wait, want)
			}
			check(t, b)
		}
	}
}

// check walks the list both ways.
func check(t *testing.T, b *table) {
	t.Helper()
	if len(b.nodes) > b.most || len(b.index) != len(b.nodes) {
		t.Fatalf("%d nodes, %d in the index, at most %d", len(b.nodes), len(b.index), b.most)
	}
	count, last := 0, int32(none)
	for at := b.newest; at != none; at = b.nodes[at].older {
		if b.nodes[at].newer != last || b.index[b.nodes[at].network] != at {
			t.Fatalf("node %d is after %d and says %d", at, last, b.nodes[at].newer)
		}
		if last, count = at, count+1; count > len(b.nodes) {
			t.Fatal("the list is a ring")
		}
	}
	if last != b.oldest || count != len(b.nodes) {
		t.Fatalf("the list ends with %d after %d nodes, want %d after %d", last, count, b.oldest, len(b.nodes))
	}
}

func TestManyAtOnceGetTheBurst(t *testing.T) {
	b := newTable(time.Hour, 20, 100)
	var passed atomic.Int64
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			if wait, _ := b.take(numbered(1), time.Second); wait == 0 {
				passed.Add(1)
			}
		})
	}
	all.Wait()
	if passed.Load() != 20 {
		t.Errorf("of 200 at once %d passed, want 20", passed.Load())
	}
}

func BenchmarkTake(b *testing.B) {
	for name, networks := range map[string]int{"one network": 1, "full table": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			t := newTable(time.Second, 20, defaultMaxNetworks)
			for n := range networks {
				t.take(numbered(n), 0)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				t.take(numbered(i%networks), time.Second)
			}
		})
	}
}
