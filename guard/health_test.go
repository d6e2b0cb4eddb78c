package guard

import (
	"context"
	"testing"
	"time"

	"loginguard/store"
)

func TestHealthChangesWhenTwoProbesAgree(t *testing.T) {
	start := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	h := health{up: true, since: start}
	for i, c := range []struct {
		ok, up bool
		since  int // probe of the last change, -1 for the start
	}{
		{true, true, -1}, {false, true, -1}, {true, true, -1}, {false, true, -1}, {false, false, 4},
		{false, false, 4}, {true, false, 4}, {false, false, 4}, {true, false, 4}, {true, true, 9}, {true, true, 9},
	} {
		h.note(c.ok, start.Add(time.Duration(i+1)*time.Second))
		if want := start.Add(time.Duration(c.since+1) * time.Second); h.up != c.up || !h.since.Equal(want) {
			t.Errorf("after probe %d (%t): up %t since %v, want %t since %v", i, c.ok, h.up, h.since, c.up, want)
		}
	}
}

// probed is a store whose probes a test answers one by one.
type probed struct {
	store.Store
	answers chan error
}

func (p *probed) Ping(ctx context.Context) error {
	select {
	case err := <-p.answers:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func TestProbeFollowsTheStore(t *testing.T) {
	p := &probed{answers: make(chan error)}
	b := newBench(t, func(s *setup) {
		p.Store, s.store = s.store, p
		s.o.ProbeEvery = time.Millisecond
	})
	if up, _ := b.StoreUp(); !up {
		t.Error("a store that was not probed yet is down, want it believed to be up")
	}
	// Once the third probe takes its answer, the first two are noted.
	for range 3 {
		p.answers <- errBroken
	}
	if up, since := b.StoreUp(); up || since.IsZero() {
		t.Errorf("after two lost probes the store is up %t since %v, want down", up, since)
	}
	for range 3 {
		p.answers <- nil
	}
	if up, _ := b.StoreUp(); !up {
		t.Error("after two answered probes the store is down, want up")
	}
	if b.seen.count("store probe other") < 2 {
		t.Errorf("the observer is told %q, want the failed probes", b.seen.lines)
	}
}
