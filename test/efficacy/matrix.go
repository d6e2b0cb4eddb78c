package efficacy

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// Seeds are those of the page.
var Seeds = []uint64{1, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67}

// Options say what is measured. The zero value measures nothing.
type Options struct {
	Scenarios  []Scenario
	Contenders []Contender
	Seeds      []uint64
	Variants   []Variant
	Small      bool         // the edition with a tenth of the people
	Parallel   int          // runs at the same time; 1 when 0
	Progress   func(string) // told of every scenario and seed that is done, may be nil
}

// Cell names one row of the results.
type Cell struct {
	Scenario, Contender string
	Variant             Variant
}

// Results are the tallies of every cell, in the order of the seeds.
type Results map[Cell][]Tally

// job is all variants of a scenario with one seed.
type job struct {
	scenario *Scenario
	seed     int // index
}

// Measure plays everything. It stops at the first error, and when ctx ends.
func Measure(ctx context.Context, o Options) (Results, error) {
	var (
		mu    sync.Mutex
		out   = make(Results)
		first error
		wg    sync.WaitGroup
		jobs  = make(chan job)
	)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	keep := func(c Cell, seed int, t Tally) {
		mu.Lock()
		defer mu.Unlock()
		if out[c] == nil {
			out[c] = make([]Tally, len(o.Seeds))
		}
		out[c][seed] = t
	}
	for range max(1, o.Parallel) {
		wg.Go(func() {
			for j := range jobs {
				err := o.play(ctx, j, keep)
				mu.Lock()
				if err != nil && first == nil {
					first = err
					cancel()
				}
				if o.Progress != nil && err == nil {
					o.Progress(fmt.Sprintf("%s, seed %d", j.scenario.Name, o.Seeds[j.seed]))
				}
				mu.Unlock()
			}
		})
	}
	// Seed by seed, so that what is slow is spread over the time.
	for seed := range o.Seeds {
		for i := range o.Scenarios {
			jobs <- job{&o.Scenarios[i], seed}
		}
	}
	close(jobs)
	wg.Wait()
	if first != nil {
		return nil, first
	}
	return out, ctx.Err()
}

// play runs one job against all contenders.
func (o *Options) play(ctx context.Context, j job, keep func(Cell, int, Tally)) error {
	for i := range o.Contenders {
		c := &o.Contenders[i]
		if c.In != nil && !slices.Contains(c.In, j.scenario.Name) {
			continue
		}
		plain := make(map[bool]Tally) // of a model, by Devices
		for _, v := range o.Variants {
			if err := ctx.Err(); err != nil {
				return err
			}
			if t, ok := plain[v.Devices]; ok {
				// What a caller sends to loginguard is nothing to a model.
				keep(Cell{j.scenario.Name, c.Name, v}, j.seed, t)
				continue
			}
			t, err := o.once(j, c, v)
			if err != nil {
				return err
			}
			keep(Cell{j.scenario.Name, c.Name, v}, j.seed, t)
			if c.plain {
				plain[v.Devices] = t
			}
		}
	}
	return nil
}

func (o *Options) once(j job, c *Contender, v Variant) (Tally, error) {
	p, err := c.New(v)
	if err != nil {
		return Tally{}, fmt.Errorf("%s: %w", c.Name, err)
	}
	defer p.Close()
	t, err := j.scenario.Run(o.Seeds[j.seed], v, o.Small, p)
	if err != nil {
		return Tally{}, fmt.Errorf("%s: %w", c.Name, err)
	}
	return t, nil
}
