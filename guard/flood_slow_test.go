//go:build slow

package guard

import (
	"context"
	"encoding/binary"
	"net/netip"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"loginguard/keys"
	"loginguard/policy"
	"loginguard/store"
)

// floodHeap is what the heap of a process may take, in bytes in use, while its
// local buckets are flooded: what [store.DefaultMaxKeys] and the documents
// promise to operators. Half of it is what the collector has not taken yet.
const floodHeap = 768 << 20

// TestLocalKeyFloodStaysInItsHeap tries five million accounts, each from an
// IPv6 /48 of its own, while the store is out, and reports every allowed
// attempt as a failure: so each takes as many keys as an attempt can without
// anybody signing in. The brake on strangers is off, or it would end the flood
// after a thousand. What is full denies, and what it counts it keeps.
func TestLocalKeyFloodStaysInItsHeap(t *testing.T) {
	const accounts = 5_000_000
	s := new(broken)
	s.fail(errBroken)
	limits := policy.Defaults()
	limits.Limits.Global.Mode = policy.Off
	runtime.GC()
	before := heapLive()
	// Neither a recorder nor a virtual clock: both would be measured.
	g := New(s, keys.RandomRing(), newRules(t, limits), Options{OnFailure: FailLocal, ProbeEvery: time.Hour})
	t.Cleanup(g.Close)
	ctx := context.Background()
	for range 10 {
		if d, err := g.Check(ctx, idp, from("victim", home)); err != nil || d.Verdict != Allow {
			t.Fatalf("the first guesses at the victim: %+v, %v", d, err)
		}
	}

	began := time.Now()
	var next, allowed, busy, peak atomic.Int64
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for i := next.Add(1); i <= accounts; i = next.Add(1) {
				d, err := g.Check(ctx, idp, from("account "+strconv.FormatInt(i, 10), ownNetwork(i)))
				switch {
				case err != nil:
					t.Errorf("attempt %d: %v", i, err)
					return
				case d.Verdict == Allow && d.Degraded:
					allowed.Add(1)
					if _, err := g.Report(ctx, idp, Report{Attempt: d.Attempt, Outcome: Failure, Reason: BadPassword}); err != nil {
						t.Errorf("report %d: %v", i, err)
						return
					}
				case d.Verdict == Deny && d.Busy && d.Reason == ReasonStore && d.RetryAfter >= 1:
					busy.Add(1)
				default:
					t.Errorf("attempt %d was decided %+v", i, d)
					return
				}
				if i%50_000 == 0 {
					var m runtime.MemStats
					runtime.ReadMemStats(&m)
					if now := int64(m.HeapInuse); now > peak.Load() {
						peak.Store(now)
					}
				}
			}
		})
	}
	workers.Wait()

	held := g.local.(*store.Memory).Len()
	grown := heapLive() - before
	t.Logf("%d allowed, %d denied in %v; %d keys hold %d MB, %d bytes each; at most %d MB of heap in use",
		allowed.Load(), busy.Load(), time.Since(began).Round(time.Second), held, grown>>20, grown/int64(held), peak.Load()>>20)
	if allowed.Load()+busy.Load() != accounts || busy.Load() < accounts/2 {
		t.Errorf("%d of %d were allowed and %d denied: it was never full", allowed.Load(), accounts, busy.Load())
	}
	if held > store.DefaultMaxKeys*5/4+100 {
		t.Errorf("%d keys are held, more than the bound", held)
	}
	if peak.Load() > floodHeap {
		t.Errorf("%d MB of heap were in use, more than the %d MB promised", peak.Load()>>20, floodHeap>>20)
	}
	if d, err := g.Check(ctx, idp, from("victim", away)); err != nil || d.Verdict != Deny {
		t.Errorf("the flood washed the victim's bucket away: %+v, %v", d, err)
	}
}

// ownNetwork returns an address in a /48 that only the number i has.
func ownNetwork(i int64) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], 0x2a00_0000_0000_0000+uint64(i)<<16)
	b[15] = 1
	return netip.AddrFrom16(b).String()
}

// heapLive returns the bytes of the heap that are reachable.
func heapLive() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
