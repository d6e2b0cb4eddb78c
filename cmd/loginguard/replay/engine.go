package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"loginguard/guard"
	"loginguard/keys"
	"loginguard/policy"
	"loginguard/store"
)

// Event is one attempt of a log and how it ended.
type Event struct {
	Time        int64  // microseconds since 1970
	Account, IP string // Account is as typed; without one, networks alone decide
	Outcome     string // "success" or "failure": what the credential check says if it is let through
	Realm       string // "" means "default"
	Route       string // "" means "login"
	Device      string // any word for the browser, the same each time; "" for none
	PasswordTag string // fingerprint of the password tried, "" for none
	Reason      string // of a failure, as in a report; only bad_password teaches the tag
}

// Decision is what the engine said to one event.
type Decision struct {
	Verdict    guard.Verdict
	Limit      string   // that denied or asks for the challenge, "" when allowed
	Level      string   // of a network limit
	RetryAfter int      // whole seconds, without the random part; 0 unless denied
	WouldDeny  []string // log-only limits that would have denied
	Familiar   bool
	Busy       bool // denied by the global limit: 503, not 429

	Account string        // keyed hash, "" for none
	Client  string        // address
	Meters  []guard.Meter // buckets that the attempt needed: first the enforced, then the log-only ones
	LogOnly int           // how many of Meters are log-only: the last ones
}

// EngineOptions sets up an [Engine]. The zero value is ready for use.
type EngineOptions struct {
	// MaxKeys bounds the keys of the store (counters, accounts, attempts of
	// the last two minutes), some 220 bytes each; store.DefaultMaxKeys when 0.
	// When they do not suffice, [Engine.Step] says so by [ErrFull]: a policy
	// that forgets would look milder than it is.
	MaxKeys int

	// CanChallenge says that the login can run a challenge: where the policy
	// asks for one, the verdict is Challenge, and the event ends with it.
	CanChallenge bool

	// Caller is the name of the API's client that asks, for overrides that
	// match one; "replay" when "".
	Caller string

	// MaxDevices bounds the device tokens that are kept, some 400 bytes each;
	// DefaultMaxDevices when 0. Beyond it the devices that signed in longest
	// ago are forgotten, and are strangers until they sign in again: the
	// replay then denies more than the service would, never less.
	MaxDevices int
}

// ErrFull is returned when the log holds more accounts and networks at the
// same time than the options allow to be kept.
var ErrFull = errors.New("the counters of the replay are full")

// Engine runs events through a real guard on a memory store whose clock is the
// events' own. It draws no random numbers: the same events bring the same
// decisions. It is not safe for concurrent use; [Engine.Close] releases it.
type Engine struct {
	guard   *guard.Guard
	rules   guard.Rules
	mem     *watched
	clock   atomic.Int64 // latest time of an event, microseconds since 1970
	back    int64        // events whose time stepped back
	swept   int          // events since the last sweep
	o       EngineOptions
	callers map[string]guard.Caller // by realm
	devices *devices
}

// NewEngine returns an engine in which nothing has happened. What it decides
// depends on the ring only as far as account names are hashed, and as networks'
// populations, counted by hash, are estimates.
func NewEngine(rules guard.Rules, ring *keys.Ring, o EngineOptions) *Engine {
	o.Caller = cmp.Or(o.Caller, "replay")
	e := &Engine{rules: rules, o: o, callers: make(map[string]guard.Caller), devices: newDevices(o.MaxDevices)}
	e.clock.Store(1) // 0 would mean the system's clock
	e.mem = &watched{Memory: store.NewMemory(store.MemoryOptions{MaxKeys: o.MaxKeys, Now: e.clock.Load, Unswept: true})}
	e.guard = guard.New(e.mem, ring, rules, guard.Options{
		OnFailure: guard.FailClosed,
		Jitter:    func() float64 { return 0 },
		Quiet:     true,
	})
	return e
}

// Step decides one event and, if it is allowed, reports its outcome. A denied
// event is not reported: its credential was never tested. A time before that of
// an earlier event is taken as the latest one; [Engine.SteppedBack] counts them.
//
// An error leaves all but the clock as it was. It is a *guard.Error about the event (an
// address that is none, a realm or route that the policy does not have), or
// [ErrFull].
func (e *Engine) Step(ctx context.Context, ev Event) (Decision, error) {
	if ev.Outcome != guard.Success && ev.Outcome != guard.Failure {
		return Decision{}, &guard.Error{Kind: guard.KindInvalid, Field: "outcome", Detail: "is neither success nor failure"}
	}
	if !reasons[ev.Reason] {
		return Decision{}, &guard.Error{Kind: guard.KindInvalid, Field: "reason", Detail: "is not one of bad_password, unknown_account, mfa_failed, other"}
	}
	if ev.Time <= 0 || ev.Time > latest {
		return Decision{}, &guard.Error{Kind: guard.KindInvalid, Field: "time", Detail: "is not between 1970 and 2200"}
	}
	e.tick(ev.Time)
	name := e.rules.Names.Canonical(ev.Account)
	device := deviceKey{cmp.Or(ev.Realm, policy.DefaultRealm), name, ev.Device}
	q := guard.Request{
		Realm: ev.Realm, Route: ev.Route, Account: ev.Account, IP: ev.IP, PasswordTag: ev.PasswordTag,
		CanChallenge: e.o.CanChallenge,
	}
	if name == "" {
		// Servers log attempts with no name, too. A check without an account
		// would be refused; what is left to decide by is where it came from.
		q.Account, q.NetworksOnly = "", true
	}
	if ev.Device != "" {
		q.Device = e.devices.get(device)
	}
	caller := e.caller(ev.Realm)
	d, err := e.guard.Check(ctx, caller, q)
	if err != nil {
		return Decision{}, err
	}
	if err := e.mem.failed(); err != nil {
		return Decision{}, full(err)
	}
	out := decision(d)
	if d.Verdict != guard.Allow {
		return out, nil
	}
	remember := ev.Device != "" && ev.Outcome == guard.Success
	report := guard.Report{Attempt: d.Attempt, Outcome: ev.Outcome, RememberDevice: remember}
	if ev.Outcome == guard.Failure {
		report.Reason = ev.Reason
	}
	r, err := e.guard.Report(ctx, caller, report)
	if err != nil {
		return Decision{}, full(err)
	}
	if r.Device != "" {
		e.devices.put(device, r.Device)
	}
	return out, nil
}

// reasons are those that a failure may have.
var reasons = map[string]bool{
	"": true, guard.BadPassword: true, guard.UnknownAccount: true, guard.MFAFailed: true, guard.OtherReason: true,
}

// latest is the end of 2199, in microseconds since 1970: far enough below 2^53
// that every sum of a moment and a span is exact.
const latest = 7_258_118_400_000_000 - 1

// tick moves the clock, and sweeps the store when as many events have gone by
// as a sixteenth of its keys: the cost of an event stays the same, and what has
// expired is a small part of what is held, however fast the log's time goes by.
func (e *Engine) tick(now int64) {
	if last := e.clock.Load(); now < last {
		e.back++
	} else {
		e.clock.Store(now)
	}
	if e.swept++; e.swept >= 64 && e.swept >= e.mem.Len()/16 {
		e.swept = 0
		e.mem.Sweep()
	}
}

// watched is the engine's store. It keeps the failure of a step, which the
// guard would hide behind its failure policy: a login goes on without a store,
// a replay must not.
type watched struct {
	*store.Memory
	err error
}

// Take implements store.Store.
func (w *watched) Take(ctx context.Context, t store.Take) (store.Taken, error) {
	out, err := w.Memory.Take(ctx, t)
	w.err = err
	return out, err
}

// failed returns the failure of the last step.
func (w *watched) failed() error { return w.err }

// full names the only failure of a memory store that a log can bring about.
func full(err error) error {
	if errors.Is(err, store.ErrFull) {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}

func decision(d guard.Decision) Decision {
	out := Decision{
		Verdict: d.Verdict, Limit: d.Limit, Level: d.Level, RetryAfter: d.RetryAfter, WouldDeny: d.WouldDeny,
		Familiar: d.Familiar, Busy: d.Busy, Account: d.Account, Client: d.Client,
		Meters: d.Meters, LogOnly: len(d.LogOnly),
	}
	out.Meters = append(out.Meters, d.LogOnly...)
	return out
}

// caller returns the client of the API for a realm: one name for all of them.
// Realms that the policy does not have are refused by the guard and not kept.
func (e *Engine) caller(realm string) guard.Caller {
	realm = cmp.Or(realm, policy.DefaultRealm)
	c, ok := e.callers[realm]
	if !ok {
		c = guard.Caller{Name: e.o.Caller, Realms: []string{realm}, Admin: true}
		if e.rules.Policy.Realm(realm) {
			e.callers[realm] = c
		}
	}
	return c
}

// Forget clears what an operator or a password reset would clear of an account:
// its buckets with the scope "" or "limits", all that is known of it with
// "credentials". It happens at the time of the last event.
func (e *Engine) Forget(ctx context.Context, realm, account, scope string) error {
	return e.guard.Forget(ctx, e.caller(realm), guard.ForgetRequest{Realm: realm, Account: account, Scope: scope})
}

// SteppedBack returns how many events had a time before that of an earlier one.
func (e *Engine) SteppedBack() int64 { return e.back }

// Keys returns how many keys the store holds, expired ones not yet swept
// included.
func (e *Engine) Keys() int { return e.mem.Len() }

// Close releases the engine.
func (e *Engine) Close() {
	e.guard.Close()
	_ = e.mem.Close() // a memory store's Close does not fail
}
