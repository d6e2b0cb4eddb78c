package guard

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"loginguard/keys"
	"loginguard/netprefix"
	"loginguard/policy"
	"loginguard/store"
)

const (
	home     = "203.0.113.9"  // where alice signs in from
	neighbor = "203.0.113.66" // somebody else in that network
	away     = "192.0.2.55"   // where nobody has been
	hosted   = "198.18.0.7"   // in a data centre
	inside   = "10.1.2.3"     // exempt
	carried  = "100.64.0.7"   // in the pool "shared"
)

var idp = Caller{Name: "idp", Realms: []string{"default", "shop"}}

// clock is a virtual clock in microseconds since 1970.
type clock struct{ micros atomic.Int64 }

func newClock() *clock {
	c := new(clock)
	c.micros.Store(1_790_000_000_000_000) // 2026-09-21, in the middle of a week
	return c
}

func (c *clock) now() int64 { return c.micros.Load() }

func (c *clock) add(d time.Duration) { c.micros.Add(d.Microseconds()) }

// setup is what a test may change before its bench is built.
type setup struct {
	policy policy.Config
	o      Options
	store  store.Store // in place of the memory store
	ring   *keys.Ring
}

// bench is a guard over a memory store on a virtual clock.
type bench struct {
	*Guard
	*clock
	t    testing.TB
	mem  *store.Memory
	seen *recorder
}

// newBench returns a bench with the default policy, realms default, shop and
// hidden, without jitter.
func newBench(t testing.TB, change ...func(*setup)) *bench {
	t.Helper()
	b := &bench{t: t, clock: newClock(), seen: new(recorder)}
	b.mem = store.NewMemory(store.MemoryOptions{Now: b.now})
	t.Cleanup(func() { _ = b.mem.Close() })
	s := setup{policy: policy.Defaults(), store: b.mem, ring: keys.RandomRing()}
	s.o = Options{Jitter: func() float64 { return 0 }, Observer: b.seen, ProbeEvery: time.Hour, CensusEvery: time.Hour}
	for _, f := range change {
		f(&s)
	}
	b.Guard = New(s.store, s.ring, newRules(t, s.policy), s.o)
	t.Cleanup(b.Close)
	return b
}

// limits changes the configuration of a bench.
func limits(f func(*policy.Config)) func(*setup) { return func(s *setup) { f(&s.policy) } }

// other returns a second instance over the same store.
func (b *bench) other(ring *keys.Ring) *bench {
	b.t.Helper()
	return newBench(b.t, func(s *setup) { s.store, s.ring = b.store, ring })
}

func newRules(t testing.TB, c policy.Config) Rules {
	t.Helper()
	c.Realms = []string{"default", "shop", "hidden"}
	p, err := policy.New(c)
	if err != nil {
		t.Fatalf("policy: %v", err)
	}
	table, err := netprefix.NewTable(netprefix.TableConfig{
		Exempt:  netprefix.Blocks{CIDRs: []string{"10.0.0.0/8"}},
		Hosting: netprefix.Blocks{CIDRs: []string{"198.18.0.0/15"}},
	})
	if err != nil {
		t.Fatalf("networks: %v", err)
	}
	clients, err := netprefix.NewResolver(netprefix.ResolverConfig{Hops: 1, Trusted: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatalf("clients: %v", err)
	}
	names, err := keys.NewCanonicaliser(nil)
	if err != nil {
		t.Fatalf("names: %v", err)
	}
	return Rules{Policy: p, Networks: table, Clients: clients, Names: names}
}

// check asks as the caller idp; a refusal ends the test.
func (b *bench) check(q Request) Decision {
	b.t.Helper()
	d, err := b.Check(context.Background(), idp, q)
	if err != nil {
		b.t.Fatalf("check: %v", err)
	}
	return d
}

// allowed is check where the attempt must be allowed.
func (b *bench) allowed(q Request) Decision {
	b.t.Helper()
	d := b.check(q)
	if d.Verdict != Allow {
		b.t.Fatalf("check was decided %s by %s %s, want allow", d.Verdict, d.Limit, d.Level)
	}
	return d
}

// denied is check where the limit, or one level of it, must deny.
func (b *bench) denied(q Request, limit, level string) Decision {
	b.t.Helper()
	d := b.check(q)
	if d.Verdict != Deny || d.Limit != limit || d.Level != level || d.Attempt != "" {
		b.t.Fatalf("check was decided %s by %q %q with attempt %q, want deny by %q %q with none", d.Verdict, d.Limit, d.Level, d.Attempt, limit, level)
	}
	return d
}

// report tells as the caller idp; a refusal ends the test.
func (b *bench) report(q Report) Reported {
	b.t.Helper()
	out, err := b.Report(context.Background(), idp, q)
	if err != nil {
		b.t.Fatalf("report: %v", err)
	}
	return out
}

// fail reports a wrong password.
func (b *bench) fail(d Decision) {
	b.t.Helper()
	if out := b.report(Report{Attempt: d.Attempt, Outcome: Failure, Reason: BadPassword}); !out.Applied {
		b.t.Fatal("a failure was not applied")
	}
}

// guess makes one attempt with a wrong password and tells whether it was allowed.
func (b *bench) guess(q Request) bool {
	b.t.Helper()
	d := b.check(q)
	if d.Verdict == Allow {
		b.fail(d)
	}
	return d.Verdict == Allow
}

// guesses makes n attempts, each as its number says, and counts the allowed.
func (b *bench) guesses(n int, q func(i int) Request) (allowed int) {
	b.t.Helper()
	for i := range n {
		if b.guess(q(i)) {
			allowed++
		}
	}
	return allowed
}

// signIn makes an attempt with the right password and returns a device token.
func (b *bench) signIn(q Request) string {
	b.t.Helper()
	out := b.report(Report{Attempt: b.allowed(q).Attempt, Outcome: Success, RememberDevice: true})
	if !out.Applied {
		b.t.Fatal("a success was not applied")
	}
	return out.Device
}

// explain explains; a refusal ends the test.
func (b *bench) explain(q Request) Explanation {
	b.t.Helper()
	e, err := b.Explain(context.Background(), idp, q)
	if err != nil {
		b.t.Fatalf("explain: %v", err)
	}
	return e
}

// left returns what remains in one bucket of an attempt, -1 for no such bucket.
func (b *bench) left(q Request, limit, level string) int64 {
	b.t.Helper()
	for _, l := range b.explain(q).Limits {
		if l.Limit == limit && l.Level == level {
			return l.Remaining
		}
	}
	return -1
}

// forget forgets; a refusal ends the test.
func (b *bench) forget(q ForgetRequest) {
	b.t.Helper()
	if err := b.Forget(context.Background(), idp, q); err != nil {
		b.t.Fatalf("forget: %v", err)
	}
}

// from is an attempt at an account from an address.
func from(account, ip string) Request { return Request{Account: account, IP: ip} }

// elsewhere returns an address in the i-th of many networks where nobody lives.
func elsewhere(i int) string { return fmt.Sprintf("11.%d.%d.1", i/256, i%256) }

// strangers guesses at an account from n networks, and counts the allowed.
func (b *bench) strangers(account string, n int) int {
	b.t.Helper()
	return b.guesses(n, func(i int) Request { return from(account, elsewhere(i)) })
}

// wantError checks that err is an *Error of the kind about the field.
func wantError(t testing.TB, err error, kind Kind, field string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error is %v, want an *Error about %q", err, field)
	}
	if e.Kind != kind || e.Field != field {
		t.Errorf("error %q is of kind %d about %q, want kind %d about %q", e, e.Kind, e.Field, kind, field)
	}
}

// recorder is an Observer that writes everything down.
type recorder struct {
	mu    sync.Mutex
	lines []string
}

func (r *recorder) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

// count returns how often a line was noted.
func (r *recorder) count(line string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.lines {
		if l == line {
			n++
		}
	}
	return n
}

func (r *recorder) Decided(realm, route string, d Decision) {
	r.note("decided %s %s %s %s%s", realm, route, d.Verdict, d.Limit, d.Reason)
}
func (r *recorder) WouldDeny(limit, level string)         { r.note("would deny %s %s", limit, level) }
func (r *recorder) Reported(outcome string, applied bool) { r.note("reported %s %t", outcome, applied) }
func (r *recorder) Unreported(caller string, n int)       { r.note("unreported %s %d", caller, n) }
func (r *recorder) WouldDenyThenSuccess(limit, level string) {
	r.note("would deny and was right %s %s", limit, level)
}
func (r *recorder) Exempt(realm string) { r.note("exempt %s", realm) }
func (r *recorder) FirstStrike(realm, account, client string) {
	r.note("first strike %s %t %s", realm, account != "", client)
}
func (r *recorder) Counted(realm string, c Census) {
	r.note("counted %s %d %d %d", realm, c.Population, c.Capacity, c.Remaining)
}
func (r *recorder) StoreCall(op string, _ time.Duration, class string) {
	r.note("store %s %s", op, class)
}
