package guard

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

// burst makes n checks at once and counts the allowed ones of each account.
func (b *bench) burst(n int, q func(i int) Request) map[string]int {
	b.t.Helper()
	var (
		mu      sync.Mutex
		wg      sync.WaitGroup
		allowed = make(map[string]int)
		start   = make(chan struct{})
	)
	for i := range n {
		wg.Go(func() {
			<-start
			d, err := b.Check(context.Background(), idp, q(i))
			switch {
			case err != nil:
				b.t.Errorf("check %d: %v", i, err)
			case d.Verdict == Allow:
				mu.Lock()
				defer mu.Unlock()
				allowed[q(i).Account]++
			case d.Busy || d.Limit != "account" || d.RetryAfter < 1:
				b.t.Errorf("check %d is denied by %q (busy %t, wait %d), want by account with a wait", i, d.Limit, d.Busy, d.RetryAfter)
			}
		})
	}
	close(start)
	wg.Wait()
	return allowed
}

func TestParallelGuessesFromManyNetworksGetTheCapacity(t *testing.T) {
	b := newBench(t)
	if got := b.burst(300, func(i int) Request { return from("alice", elsewhere(i)) })["alice"]; got != 10 {
		t.Errorf("%d of 300 parallel guesses at one account are allowed, want 10", got)
	}
	before := b.mem.Len()
	b.burst(300, func(i int) Request { return from("alice", elsewhere(1000+i)) })
	if after := b.mem.Len(); after != before {
		t.Errorf("300 denied guesses change the number of keys from %d to %d", before, after)
	}
}

func TestParallelGuessesAtThreeAccountsDoNotShare(t *testing.T) {
	b := newBench(t)
	got := b.burst(900, func(i int) Request { return from(fmt.Sprintf("user%d", i%3), elsewhere(i)) })
	for i := range 3 {
		if n := got[fmt.Sprintf("user%d", i)]; n != 10 {
			t.Errorf("user%d: %d of 300 parallel guesses are allowed, want 10", i, n)
		}
	}
}

func TestParallelRightPasswordsAreAllAllowed(t *testing.T) {
	b := newBench(t)
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			d, err := b.Check(context.Background(), idp, from("alice", home))
			if err != nil || d.Verdict != Allow {
				t.Errorf("a right password is decided %s by %s (%v): being parallel is no offence", d.Verdict, d.Limit, err)
				return
			}
			if _, err := b.Report(context.Background(), idp, Report{Attempt: d.Attempt, Outcome: Success}); err != nil {
				t.Errorf("report: %v", err)
			}
		})
	}
	wg.Wait()
	if got := b.left(from("alice", away), "account", ""); got != 10 {
		t.Errorf("after six sign-ins %d tokens remain, want all 10", got)
	}
}

func TestOneReportOfManyCounts(t *testing.T) {
	b := newBench(t)
	b.strangers("alice", 5)
	d := b.allowed(from("alice", away))
	var (
		wg      sync.WaitGroup
		applied atomic.Int64
	)
	for range 64 {
		wg.Go(func() {
			out, err := b.Report(context.Background(), idp, Report{Attempt: d.Attempt, Outcome: Cancelled})
			if err != nil {
				t.Errorf("report: %v", err)
			}
			if out.Applied {
				applied.Add(1)
			}
		})
	}
	wg.Wait()
	if n := applied.Load(); n != 1 {
		t.Errorf("%d of 64 parallel reports are applied, want 1", n)
	}
	if got := b.left(from("alice", away), "account", ""); got != 5 {
		t.Errorf("%d tokens remain, want 5: one refund", got)
	}
	if got := b.seen.count("reported cancelled false"); got != 63 {
		t.Errorf("the observer is told of %d repeats, want 63", got)
	}
}
