package guard

import (
	"context"
	"time"

	"loginguard/policy"
	"loginguard/store"
)

// censusMost bounds the looks of one reading, a look being one bucket of one
// realm. With more buckets than that the readings take turns.
const censusMost = 256

// census reads the global limit of every realm again and again until the guard
// is closed, so that an operator sees how much of the budget is left before it
// is gone. It charges nothing, it is never on the path of an attempt, and it
// asks nothing while the store is down.
func (g *Guard) census(ctx context.Context) {
	timer := time.NewTimer(g.o.CensusEvery / 10)
	defer timer.Stop()
	next := 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		next = g.count(ctx, g.rules.Load().Policy, next)
		timer.Reset(g.o.CensusEvery)
	}
}

// count reads realms from number first on, and returns where to go on. A realm
// of which a part could not be read is not told: half of it is no number. The
// rest then waits for the next reading, since the store is in trouble.
func (g *Guard) count(ctx context.Context, p *policy.Policy, first int) (next int) {
	realms, looks := p.Realms(), 0
	for i := range realms {
		at := (first + i) % len(realms)
		list := p.GlobalBuckets(realms[at])
		if looks += len(list); looks > censusMost && i > 0 || ctx.Err() != nil {
			return at
		}
		if len(list) == 0 {
			continue
		}
		c, err := g.countRealm(ctx, list)
		if err != nil {
			return (at + 1) % len(realms)
		}
		g.o.Observer.Counted(realms[at], c)
	}
	return first % len(realms)
}

// countRealm adds up the shards of one realm.
func (g *Guard) countRealm(ctx context.Context, looks []store.Take) (Census, error) {
	c := Census{Population: -1}
	for _, t := range looks {
		taken, err := call(ctx, g, "census", func(ctx context.Context) (store.Taken, error) { return g.store.Take(ctx, t) })
		if err != nil {
			return Census{}, err
		}
		c.Capacity += taken.Buckets[0].Capacity
		c.Remaining += taken.Buckets[0].Remaining()
		if len(taken.Buckets) > 1 {
			// An account is in the population of one shard only.
			c.Population = max(0, c.Population) + taken.Buckets[1].Capacity - 1
		}
	}
	return c, nil
}
