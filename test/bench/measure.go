package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// row is one case at one number of connections, over all rounds.
type row struct {
	Case, What     string
	Conns          int
	Guard, Redis   float64 // median microseconds of processor time per operation
	Low, High      float64 // of the sum, over the rounds
	P50, P99, P999 float64 // median milliseconds
	Rate           float64 // operations per second
	Allocations    float64 // of the guard, per operation
	Commands       float64 // of Redis, per operation
}

// The rows that no HTTP request makes.
const (
	storeFloorName = "store floor"
	togetherName   = "store floor, sent together"
)

// storeFloors say what they are.
var storeFloors = []caseOf{
	{name: storeFloorName, what: "the same script on the same keys, straight through go-redis: each call on a connection of its pool"},
	{name: togetherName, what: "the same through the store, which sends together what waits"},
}

// addresses waits for the guard, which says where it serves.
func (b *bench) addresses() error {
	for _, a := range []struct {
		name string
		into *string
	}{{"api", &b.api}, {"admin", &b.admin}, {"front", &b.front}} {
		for *a.into == "" {
			if !b.guard.out.Scan() {
				return fmt.Errorf("loginguard ended before it served")
			}
			if name, url, ok := strings.Cut(strings.TrimSpace(b.guard.out.Text()), " "); ok && name == a.name {
				*a.into = strings.TrimPrefix(strings.TrimSpace(url), "http://")
			}
		}
	}
	go func() {
		for b.guard.out.Scan() {
		}
	}()
	return nil
}

// startStoreFloor starts the floor that asks Redis and nothing else.
func (b *bench) startStoreFloor(core int, self, file string) (*process, error) {
	asks, tells, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p, err := startReading(asks, core, self, "store-floor", file, "redis://"+b.redisAddr+"/0")
	if err != nil {
		return nil, err
	}
	b.storeAsk = tells
	for p.out.Scan() {
		if p.out.Text() == "store floor" {
			return p, nil
		}
	}
	p.stop()
	return nil, fmt.Errorf("the store floor ended before it was ready")
}

// measure lets all cases take turns.
func (b *bench) measure(s settings) ([]row, error) {
	samples := make(map[string][]sample)
	name := func(c string, conns int) string { return c + "/" + strconv.Itoa(conns) }
	for round := range s.rounds + 1 {
		for _, conns := range s.conns {
			for _, c := range storeFloors {
				if !s.only.MatchString(c.name) {
					continue
				}
				x, err := b.turnOfStore(s, conns, c.name == togetherName)
				if err != nil {
					return nil, fmt.Errorf("%s, %d callers: %w", c.name, conns, err)
				}
				samples[name(c.name, conns)] = append(samples[name(c.name, conns)], x)
			}
			for _, c := range cases {
				if !s.only.MatchString(c.name) {
					continue
				}
				x, err := b.turn(s, c, conns)
				if err != nil {
					return nil, fmt.Errorf("%s, %d connections: %w", c.name, conns, err)
				}
				samples[name(c.name, conns)] = append(samples[name(c.name, conns)], x)
			}
		}
		fmt.Fprintf(os.Stderr, "round %d of %d (the first warms up)\n", round+1, s.rounds+1)
	}
	var rows []row
	for _, c := range slices.Concat(storeFloors, cases) {
		for _, conns := range s.conns {
			if list := samples[name(c.name, conns)]; len(list) > 1 {
				rows = append(rows, rowOf(c, conns, list[1:]))
			}
		}
	}
	return rows, nil
}

func rowOf(c caseOf, conns int, list []sample) row {
	of := func(f func(sample) float64) float64 {
		v := make([]float64, len(list))
		for i, x := range list {
			v[i] = f(x)
		}
		slices.Sort(v)
		return v[len(v)/2]
	}
	sum := make([]float64, len(list))
	for i, x := range list {
		sum[i] = x.guard + x.redis
	}
	return row{
		Case: c.name, What: c.what, Conns: conns, Low: slices.Min(sum), High: slices.Max(sum),
		Guard: of(func(x sample) float64 { return x.guard }), Redis: of(func(x sample) float64 { return x.redis }),
		P50: of(func(x sample) float64 { return x.p50 }), P99: of(func(x sample) float64 { return x.p99 }), P999: of(func(x sample) float64 { return x.top }),
		Rate: of(func(x sample) float64 { return x.rate }), Allocations: of(func(x sample) float64 { return x.allocations }), Commands: of(func(x sample) float64 { return x.commands }),
	}
}

// usage is what the processes had used at a moment.
type usage struct {
	guard, redis      time.Duration
	mallocs, commands float64
}

// used reads it; what is not in play is left out.
func (b *bench) used(p *process) (u usage, err error) {
	if u.guard, err = p.cpu(); err != nil {
		return u, err
	}
	if u.redis, err = b.redis.cpu(); err != nil {
		return u, err
	}
	if u.commands, err = b.info("stats", "total_commands_processed"); err != nil {
		return u, err
	}
	if p == b.guard {
		u.mallocs, err = b.metric("go_memstats_mallocs_total")
	}
	return u, err
}

// turn runs one case once.
func (b *bench) turn(s settings, c caseOf, conns int) (sample, error) {
	if c.prepare != nil {
		if err := c.prepare(b, conns); err != nil {
			return sample{}, fmt.Errorf("preparing: %w", err)
		}
	}
	p := b.guard
	if c.floor {
		p = b.floor
	}
	before, err := b.used(p)
	if err != nil {
		return sample{}, err
	}
	total, length := int64(0), s.turn
	if c.bounded {
		total, length = prepared, time.Minute
	}
	o, err := drive(c.target(b), conns, length, total, &b.numbers)
	if err != nil {
		return sample{}, err
	}
	after, err := b.used(p)
	if err != nil {
		return sample{}, err
	}
	return sampleOf(before, after, float64(o.requests), o), nil
}

func sampleOf(before, after usage, n float64, o outcome) sample {
	per := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 / n }
	ms := func(q float64) float64 { return float64(o.quantile(q).Nanoseconds()) / 1e6 }
	return sample{
		guard: per(after.guard - before.guard), redis: per(after.redis - before.redis),
		p50: ms(.5), p99: ms(.99), top: ms(.999), rate: n / o.elapsed.Seconds(),
		allocations: (after.mallocs - before.mallocs) / n, commands: (after.commands - before.commands) / n,
	}
}

// turnOfStore runs one of the store floors once.
func (b *bench) turnOfStore(s settings, conns int, together bool) (sample, error) {
	before, err := b.used(b.storeFloor)
	if err != nil {
		return sample{}, err
	}
	began := time.Now()
	if err := json.NewEncoder(b.storeAsk).Encode(storeRun{conns, s.turn, together}); err != nil {
		return sample{}, err
	}
	if !b.storeFloor.out.Scan() {
		return sample{}, fmt.Errorf("the store floor ended")
	}
	calls, err := strconv.ParseFloat(strings.TrimPrefix(b.storeFloor.out.Text(), "calls "), 64)
	if err != nil || calls == 0 {
		return sample{}, fmt.Errorf("the store floor said %q", b.storeFloor.out.Text())
	}
	after, err := b.used(b.storeFloor)
	if err != nil {
		return sample{}, err
	}
	return sampleOf(before, after, calls, outcome{elapsed: time.Since(began)}), nil
}

// metric reads one number of the guard's metrics.
func (b *bench) metric(name string) (float64, error) {
	answer, err := http.Get("http://" + b.admin + "/metrics")
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	for in := bufio.NewScanner(io.LimitReader(answer.Body, 4<<20)); in.Scan(); {
		if value, ok := strings.CutPrefix(in.Text(), name+" "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("there is no metric %s", name)
}

// info reads one number of Redis.
func (b *bench) info(section, name string) (float64, error) {
	c := redis.NewClient(&redis.Options{Addr: b.redisAddr})
	defer c.Close()
	text, err := c.Info(context.Background(), section).Result()
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, fmt.Errorf("redis tells no %s", name)
}
