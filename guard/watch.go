package guard

import (
	"context"
	"sync"
	"time"
)

const (
	// watchMost bounds the attempts that wait for their report to be missed.
	// More than these, as under a flood of admitted attempts, go uncounted.
	watchMost = 1 << 16

	// watchGrace is how much later than its end an attempt is looked for, so
	// that a report on its way to another instance has arrived.
	watchGrace = 2 * time.Second

	// watchBatch bounds one question to the store.
	watchBatch = 256
)

// watch remembers the attempts of this instance until they are reported, to
// find callers that check and never report: they lock their owners out after
// as many sign-ins as the account has tokens.
type watch struct {
	mu    sync.Mutex
	open  map[string]struct{}
	queue []watched // by the end of their lifetimes, as far as those are equal
}

type watched struct {
	name, marker, caller string
	end                  time.Time
}

func newWatch() *watch { return &watch{open: make(map[string]struct{})} }

// add notes an admitted attempt.
func (w *watch) add(name, marker, caller string, lifetime time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) >= watchMost {
		return
	}
	w.open[name] = struct{}{}
	w.queue = append(w.queue, watched{name, marker, caller, time.Now().Add(lifetime + watchGrace)})
}

// remove notes that an attempt was reported here.
func (w *watch) remove(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, name)
}

// due takes up to watchBatch attempts out whose lifetime is over and whose
// report did not come to this instance.
func (w *watch) due(now time.Time) []watched {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []watched
	i := 0
	for ; i < len(w.queue) && !w.queue[i].end.After(now) && len(list) < watchBatch; i++ {
		if _, ok := w.open[w.queue[i].name]; ok {
			delete(w.open, w.queue[i].name)
			list = append(list, w.queue[i])
		}
	}
	clear(w.queue[:i]) // the array lives on until it is full: let go of its strings
	w.queue = w.queue[i:]
	return list
}

// search asks the store, once a second, which of the attempts whose lifetime
// is over were reported to another instance; the rest were not at all.
func (g *Guard) search(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			g.searchOnce(ctx, now)
		}
	}
}

func (g *Guard) searchOnce(ctx context.Context, now time.Time) {
	for ctx.Err() == nil {
		list := g.watch.due(now)
		if len(list) == 0 {
			return
		}
		markers := make([]string, len(list))
		for i, a := range list {
			markers[i] = a.marker
		}
		settled, err := call(ctx, g, "search", func(ctx context.Context) ([]bool, error) { return g.store.Settled(ctx, markers) })
		if err != nil {
			return // not known, so not counted
		}
		missing := make(map[string]int)
		for i, a := range list {
			if !settled[i] {
				missing[a.caller]++
			}
		}
		for caller, n := range missing {
			g.o.Observer.Unreported(caller, n)
		}
	}
}
