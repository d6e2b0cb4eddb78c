package guard

import (
	"context"
	"sync"
	"testing"
)

func TestOverloadIsAnsweredAtOnce(t *testing.T) {
	s := &broken{enter: make(chan struct{}), leave: make(chan struct{})}
	b := newBench(t, breaks(s), func(c *setup) { c.o.MaxInFlight = 2 })
	ctx := context.Background()
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if d, err := b.Check(ctx, idp, from("alice", home)); err != nil || d.Verdict != Allow {
				t.Errorf("an attempt in progress is decided %s, %v", d.Verdict, err)
			}
		})
	}
	<-s.enter
	<-s.enter // both wait for the store: every place is taken
	d := b.check(from("alice", home))
	if d.Verdict != Deny || !d.Busy || d.Reason != ReasonOverloaded || d.RetryAfter < 1 || d.RetryAfter > 5 {
		t.Errorf("decided %+v, want deny, busy, %s, for 1 to 5 s", d, ReasonOverloaded)
	}
	_, err := b.Report(ctx, idp, Report{Attempt: "x", Outcome: Success})
	wantError(t, err, KindOverloaded, "")
	b.check(Request{Account: "alice", IP: home, Realm: "made-up", Route: "made-up"})
	if got := b.seen.count("decided default login deny " + ReasonOverloaded); got != 1 {
		t.Errorf("the observer is told of %d, want 1", got)
	}
	if got := b.seen.count("decided made-up made-up deny " + ReasonOverloaded); got != 0 {
		t.Error("the observer is told words that a stranger chose")
	}
	s.leave <- struct{}{}
	s.leave <- struct{}{}
	wg.Wait()
	wg.Go(func() { <-s.enter; s.leave <- struct{}{} })
	b.allowed(from("alice", home))
	wg.Wait()
}
