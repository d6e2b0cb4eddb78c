package store

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/axiomhq/hyperloglog"
)

// ErrFull is returned by a [Memory] that holds as many keys as it may. It
// never evicts a bucket that still counts: a flood of new names must not
// wash away the name under attack.
var ErrFull = errors.New("memory store is full")

// DefaultMaxKeys bounds a [Memory] whose options do not. Measured under a flood
// of five million accounts: 220 bytes a key, so 220 MB that are held, and at
// most 768 MB of heap with what the garbage collector has not taken yet.
const DefaultMaxKeys = 1_000_000

// shardCount is how many locks the keys are spread over; a set of shards fits
// the bits of a uint64.
const shardCount = 64

// sweepEvery is how often one shard is cleared of what has expired, so that
// all of them are within 16 seconds.
const sweepEvery = 250 * time.Millisecond

// Memory keeps everything in this process: for a single instance, for tests,
// and as the stand-in while a shared store is down. It is lost on exit, and
// several instances do not share it; use [Redis] for that. A Memory is safe
// for concurrent use. Call [Memory.Close] to stop its sweeper.
type Memory struct {
	shards [shardCount]shard
	seed   maphash.Seed
	now    func() int64
	max    int64
	keys   atomic.Int64
	swept  atomic.Int64 // moment of the last sweep of all shards
	stop   chan struct{}
	once   sync.Once
}

type shard struct {
	mu sync.Mutex
	m  map[string]entry
}

// entry is one key: a string, or a HyperLogLog.
type entry struct {
	value   string
	log     *hyperloglog.Sketch
	added   int64 // to the log since it was counted
	expires int64
}

// MemoryOptions sets up a [Memory]. The zero value is ready for use.
type MemoryOptions struct {
	MaxKeys int          // keys held at most; 0 means DefaultMaxKeys
	Now     func() int64 // microseconds since 1970; nil means the system's clock, kept from stepping back

	// Unswept starts no sweeper: whoever runs a clock of their own calls
	// [Memory.Sweep] when it suits them, so that what happens does not depend
	// on how fast the process is.
	Unswept bool
}

// NewMemory returns an empty store and starts its sweeper, unless told not to.
func NewMemory(o MemoryOptions) *Memory {
	m := &Memory{seed: maphash.MakeSeed(), now: o.Now, max: int64(o.MaxKeys), stop: make(chan struct{})}
	if m.max <= 0 {
		m.max = DefaultMaxKeys
	}
	if m.now == nil {
		// The monotonic clock, so that a corrected system clock neither
		// refills nor closes a bucket.
		start := time.Now()
		m.now = func() int64 { return start.UnixMicro() + time.Since(start).Microseconds() }
	}
	for i := range m.shards {
		m.shards[i].m = make(map[string]entry)
	}
	if !o.Unswept {
		go m.sweep()
	}
	return m
}

// Take implements [Store].
func (m *Memory) Take(ctx context.Context, t Take) (Taken, error) {
	if err := ctx.Err(); err != nil {
		return Taken{}, fmt.Errorf("take: %w", err)
	}
	now := m.clock(t.Now)
	if !t.Peek && m.full(m.max, now) {
		return Taken{}, fmt.Errorf("take: %w", ErrFull)
	}
	keys := make([]string, 0, 2+2*len(t.Charges))
	keys = append(keys, t.Record, t.Idempotence)
	for _, c := range t.Charges {
		if c.Field == "" {
			keys = append(keys, c.Key)
		}
		keys = append(keys, c.Population)
	}
	v := m.lock(keys)
	defer v.unlock()
	out, err := take(v, t, now)
	if err != nil {
		return Taken{}, fmt.Errorf("take: %w", err)
	}
	return out, nil
}

// Settle implements [Store]. It has room kept free for it, so that what was
// admitted can be settled when the store is full for new attempts.
func (m *Memory) Settle(ctx context.Context, t Settle) (Settled, error) {
	if err := ctx.Err(); err != nil {
		return Settled{}, fmt.Errorf("settle: %w", err)
	}
	now := m.clock(t.Now)
	if m.full(m.max+m.max/4, now) {
		return Settled{}, fmt.Errorf("settle: %w", ErrFull)
	}
	keys := []string{t.Marker, t.Idempotence, t.Record}
	for _, r := range t.Refunds {
		if r.Field == "" {
			keys = append(keys, r.Key)
		}
	}
	for _, p := range t.Populations {
		keys = append(keys, p, populationSlot(p, 0), populationSlot(p, 1))
	}
	v := m.lock(keys)
	defer v.unlock()
	out, err := settle(v, t, now)
	if err != nil {
		return Settled{}, fmt.Errorf("settle: %w", err)
	}
	return out, nil
}

// Lookup implements [Store].
func (m *Memory) Lookup(ctx context.Context, key string) (Remembered, error) {
	if err := ctx.Err(); err != nil {
		return Remembered{}, fmt.Errorf("lookup: %w", err)
	}
	v := m.lock([]string{key})
	defer v.unlock()
	return parseRemembered(v.get(key), m.clock(0))
}

// Forget implements [Store].
func (m *Memory) Forget(ctx context.Context, f Forget) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("forget: %w", err)
	}
	v := m.lock(append([]string{f.Record}, f.Keys...))
	defer v.unlock()
	for _, key := range f.Keys {
		v.del(key)
	}
	if f.Record == "" {
		return nil
	}
	if err := forget(v, f, m.clock(f.Now)); err != nil {
		return fmt.Errorf("forget: %w", err)
	}
	return nil
}

// Settled implements [Store].
func (m *Memory) Settled(ctx context.Context, markers []string) ([]bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("look for reports: %w", err)
	}
	found := make([]bool, len(markers))
	for i, key := range markers {
		v := m.lock([]string{key})
		found[i] = v.get(key) != ""
		v.unlock()
	}
	return found, nil
}

// Ping implements [Store].
func (m *Memory) Ping(ctx context.Context) error { return ctx.Err() }

// Close implements [Store].
func (m *Memory) Close() error {
	m.once.Do(func() { close(m.stop) })
	return nil
}

// Len returns the number of keys held, expired ones not yet swept included.
func (m *Memory) Len() int { return int(m.keys.Load()) }

// Values returns a copy of every key and its text, as GET on a Redis shows
// it; a HyperLogLog has the text "log". It is for operators and tests, and
// stops everything else while it runs.
func (m *Memory) Values() map[string]string {
	v := &view{m: m, locked: ^uint64(0)}
	for i := range m.shards {
		m.shards[i].mu.Lock()
	}
	defer v.unlock()
	all := make(map[string]string, m.Len())
	for i := range m.shards {
		for key, e := range m.shards[i].m {
			if all[key] = e.value; e.log != nil {
				all[key] = "log"
			}
		}
	}
	return all
}

func (m *Memory) clock(now int64) int64 {
	if now != 0 {
		return now
	}
	return m.now()
}

// sweep clears one shard after another until Close.
func (m *Memory) sweep() {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for i := 0; ; i = (i + 1) % shardCount {
		select {
		case <-m.stop:
			return
		case <-tick.C:
			m.sweepShard(i, m.now())
		}
	}
}

// Sweep clears everything that has expired. It takes a few ten nanoseconds a
// key, and stops nothing but the shard it is at.
func (m *Memory) Sweep() {
	now := m.now()
	for i := range m.shards {
		m.sweepShard(i, now)
	}
}

// full reports whether the store holds most keys. Before it says so it clears
// all shards, at most once a second, or a flood of new names would keep it
// busy with nothing else.
func (m *Memory) full(most, now int64) bool {
	if m.keys.Load() < most {
		return false
	}
	last := m.swept.Load()
	if now-last < 1e6 && now >= last || !m.swept.CompareAndSwap(last, now) {
		return true
	}
	for i := range m.shards {
		m.sweepShard(i, now)
	}
	return m.keys.Load() >= most
}

func (m *Memory) sweepShard(i int, now int64) {
	s := &m.shards[i]
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, e := range s.m {
		if e.expires <= now {
			delete(s.m, key)
			m.keys.Add(-1)
		}
	}
}

// view is the space of one step: the shards of its keys, locked.
type view struct {
	m      *Memory
	locked uint64
}

// lock locks the shards of the keys in ascending order, so that two steps
// never wait for each other. Empty keys are passed over.
func (m *Memory) lock(keys []string) *view {
	v := &view{m: m}
	for _, key := range keys {
		if key != "" {
			v.locked |= 1 << m.index(key)
		}
	}
	for i := range m.shards {
		if v.locked&(1<<i) != 0 {
			m.shards[i].mu.Lock()
		}
	}
	return v
}

func (v *view) unlock() {
	for i := range v.m.shards {
		if v.locked&(1<<i) != 0 {
			v.m.shards[i].mu.Unlock()
		}
	}
}

func (m *Memory) index(key string) int { return int(maphash.String(m.seed, key) % shardCount) }

func (v *view) shard(key string) *shard { return &v.m.shards[v.m.index(key)] }

func (v *view) get(key string) string { return v.shard(key).m[key].value }

func (v *view) set(key, value string, expires int64) {
	v.put(key, entry{value: value, expires: expires})
}

func (v *view) put(key string, e entry) {
	s := v.shard(key)
	if _, ok := s.m[key]; !ok {
		v.m.keys.Add(1)
	}
	s.m[key] = e
}

func (v *view) del(key string) {
	s := v.shard(key)
	if _, ok := s.m[key]; ok {
		delete(s.m, key)
		v.m.keys.Add(-1)
	}
}

func (v *view) add(key, member string, expires int64) int64 {
	e := v.shard(key).m[key]
	if e.log == nil {
		e.log = hyperloglog.New()
	}
	e.log.Insert([]byte(member))
	e.added++
	e.expires = expires
	v.put(key, e)
	return e.added
}

func (v *view) count(keys ...string) int64 {
	var logs []*hyperloglog.Sketch
	for _, key := range keys {
		s := v.shard(key)
		if e := s.m[key]; e.log != nil {
			e.added = 0
			s.m[key] = e
			logs = append(logs, e.log)
		}
	}
	switch len(logs) {
	case 0:
		return 0
	case 1:
		return int64(logs[0].Estimate())
	}
	all := logs[0].Clone()
	for _, l := range logs[1:] {
		// All have the precision of New, the only reason to fail.
		if err := all.Merge(l); err != nil {
			return 0
		}
	}
	return int64(all.Estimate())
}
