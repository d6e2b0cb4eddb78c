package guard

import (
	"context"
	"fmt"
	"time"

	"loginguard/policy"
	"loginguard/store"
)

// Outcomes of an attempt, and the reasons of a failure.
const (
	Success   = "success"
	Failure   = "failure"
	Cancelled = "cancelled" // the credential was never tested

	BadPassword    = "bad_password"
	UnknownAccount = "unknown_account"
	MFAFailed      = "mfa_failed"
	OtherReason    = "other"
)

// Report learns how an attempt ended. The first report of an attempt counts;
// a repeat is answered with Applied false. Its error is an *Error.
func (g *Guard) Report(ctx context.Context, caller Caller, q Report) (Reported, error) {
	if !g.enter() {
		return Reported{}, &Error{Kind: KindOverloaded, Detail: ReasonOverloaded}
	}
	defer g.leave()
	if err := q.validate(); err != nil {
		return Reported{}, err
	}
	rules := g.current(ctx)
	var (
		token *receipt
		err   error
	)
	switch {
	case q.Attempt != "":
		token, err = g.opened(caller, q)
	case q.Request.ID != "":
		token, err = g.lookup(ctx, rules, caller, q.Request)
	default:
		token, err = g.unchecked(ctx, rules, caller, q)
	}
	if err != nil {
		return Reported{}, err
	}
	out, err := g.settle(ctx, rules, token, q)
	if err != nil {
		return Reported{}, err
	}
	g.o.Observer.Reported(q.Outcome, out.Applied)
	return out, nil
}

func (q Report) validate() error {
	switch q.Outcome {
	case Success, Failure, Cancelled:
	default:
		return invalid("outcome", "is not one of success, failure, cancelled")
	}
	switch q.Reason {
	case "", BadPassword, UnknownAccount, MFAFailed, OtherReason:
	default:
		return invalid("reason", "is not one of bad_password, unknown_account, mfa_failed, other")
	}
	if q.Reason != "" && q.Outcome != Failure {
		return invalid("reason", "belongs to the outcome failure")
	}
	return nil
}

// opened verifies the token of an attempt. Forged, foreign and malformed ones
// are refused alike, and so is one of another realm than the report names.
func (g *Guard) opened(caller Caller, q Report) (*receipt, error) {
	r, err := g.open(q.Attempt)
	if err != nil || r.caller != callerMark(caller) || q.Request.Realm != "" && q.Request.Realm != r.Realm {
		return nil, &Error{Kind: KindInvalid, Field: "attempt", Detail: "is not an attempt of this caller", Err: err}
	}
	return r, nil
}

// lookup finds an attempt by the caller's own id for it, also one that was
// reported already.
func (g *Guard) lookup(ctx context.Context, rules *Rules, caller Caller, q Request) (*receipt, error) {
	who, err := resolve(g.ring, rules, caller, q)
	if err != nil {
		return nil, err
	}
	key := idempotenceKey(g.idempotence(caller, q.ID))
	m, err := call(ctx, g, "lookup", func(ctx context.Context) (store.Remembered, error) { return g.store.Lookup(ctx, key) })
	if !m.Found {
		// It may have been decided without the store.
		if local, localErr := g.local.Lookup(ctx, key); localErr == nil && local.Found {
			m, err = local, nil
		}
	}
	if err != nil {
		return nil, unavailable(err)
	}
	unknown := invalid("id", "is not that of an attempt by this account from this address")
	if !m.Found {
		return nil, unknown
	}
	r, err := remembered(who.Realm, store.Taken{Note: m.Note, Marks: m.Marks, Attempt: m.Attempt, Issued: m.Issued, Lane: m.Lane})
	if err != nil {
		return nil, unavailable(err)
	}
	if r.place != g.place(who) {
		return nil, unknown
	}
	return r, nil
}

// unchecked makes the receipt of an attempt that nobody asked about. A
// failure is charged after the fact; a success only teaches.
func (g *Guard) unchecked(ctx context.Context, rules *Rules, caller Caller, q Report) (*receipt, error) {
	who, err := resolve(g.ring, rules, caller, q.Request)
	if err != nil {
		return nil, err
	}
	r := &receipt{Attempt: who.Attempt, success: who.route.Success}
	t := planned(rules.Policy, who, q.Request).Take
	// A success is looked at only, to learn whether the device is alive.
	t.Debit, t.Peek = q.Outcome == Failure, q.Outcome != Failure
	taken, err := call(ctx, g, "take", func(ctx context.Context) (store.Taken, error) { return g.store.Take(ctx, t) })
	if err != nil {
		return nil, unavailable(err)
	}
	r.settled(taken.Lane, 0, nil)
	return r, nil
}

// settle ends the attempt at the store.
func (g *Guard) settle(ctx context.Context, rules *Rules, r *receipt, q Report) (Reported, error) {
	s := rules.Policy.Settle(r.Attempt)
	s.Issued, s.Expires = r.issued, r.expires
	if r.name != "" {
		s.Marker = r.marker()
	}
	if !r.local {
		s.Idempotence, s.Refunds = idempotenceKey(r.idempotence), refunds(rules.Policy, r)
	}
	switch q.Outcome {
	case Success:
		s.Refund = r.success != policy.SuccessNone
		s.Learn = r.success == policy.SuccessFull
	case Cancelled:
		s.Refund = true
	case Failure:
		s.Fail = true
		if q.Reason != BadPassword {
			s.Wrong = store.Remembering{}
		}
	}
	done, err := call(ctx, g, "settle", func(ctx context.Context) (store.Settled, error) { return g.store.Settle(ctx, s) })
	g.denials.settled(s) // also after an error: it may have been done
	if r.local {
		// The charges lie in this process: give them back even while the
		// store, which could have learned from it, is down.
		if local, localErr := g.settleLocal(ctx, rules, r, s); err != nil && localErr == nil {
			done, err = store.Settled{Applied: local.Applied, Expired: local.Expired, Stale: true, Now: local.Now}, nil
		}
	}
	if err != nil {
		return Reported{}, unavailable(err)
	}
	if done.Expired {
		return Reported{}, invalid("attempt", "has expired: its lifetime is over, and its charges stay")
	}
	g.watch.remove(r.name)
	if done.Applied && q.Outcome == Success {
		g.tellRight(r.would)
	}
	out := Reported{Applied: done.Applied}
	if !done.Applied || done.Stale || !s.Learn || !q.RememberDevice || r.Account == "" {
		return out, nil
	}
	ttl := rules.Policy.DeviceTTL()
	if out.Device, err = issueDevice(g.ring, r, done.Now, done.Now+ttl.Microseconds()); err != nil {
		return Reported{}, unavailable(fmt.Errorf("sign the device: %w", err))
	}
	out.DeviceTTL = ttl.Truncate(time.Second)
	return out, nil
}

// settleLocal gives the charges of a local decision back. Nothing is learned
// for good in the store of one process.
func (g *Guard) settleLocal(ctx context.Context, rules *Rules, r *receipt, s store.Settle) (store.Settled, error) {
	s.Idempotence, s.Refunds = idempotenceKey(r.idempotence), refunds(rules.Policy.Local(), r)
	s.Learn = false
	return g.local.Settle(ctx, s)
}

// refunds names the buckets that were charged.
func refunds(p *policy.Policy, r *receipt) []store.Refund {
	list := make([]store.Refund, 0, len(r.marks))
	for _, m := range r.marks {
		if f := p.Refund(r.Attempt, m.id, m.cost); f.Key != "" || f.Field != "" {
			list = append(list, f)
		}
	}
	return list
}

// unavailable wraps a failure of the store for the caller, who sees nothing
// of its inside.
func unavailable(err error) *Error {
	return &Error{Kind: KindStore, Detail: ReasonStore, Err: err}
}
