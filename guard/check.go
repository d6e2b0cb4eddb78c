package guard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"loginguard/keys"
	"loginguard/netprefix"
	"loginguard/policy"
	"loginguard/store"
)

// mostUses is how often one id may be used in all: a client library that
// repeats a request three times is still answered.
const mostUses = 4

// Check decides whether an attempt may go ahead, and charges it if so. The
// error is an *Error for a request that cannot be decided; a store that does
// not answer is a [Decision], by the route's failure policy.
func (g *Guard) Check(ctx context.Context, caller Caller, q Request) (Decision, error) {
	if !g.enter() {
		return g.overloaded(q), nil
	}
	defer g.leave()
	rules := g.current(ctx)
	r, err := resolve(g.ring, rules, caller, q)
	if err != nil {
		return Decision{}, err
	}
	d, err := g.decide(ctx, rules, caller, q, r, g.store)
	if err != nil && !refused(err) {
		d, err = g.withoutStore(ctx, rules, caller, q, r, err)
	}
	if err != nil {
		return Decision{}, err
	}
	g.o.Observer.Decided(r.Realm, r.Route, d)
	if r.Class == netprefix.Exempt {
		g.o.Observer.Exempt(r.Realm)
	}
	return d, nil
}

// refused reports whether err is an answer to the caller rather than a
// failure of the store.
func refused(err error) bool {
	var e *Error
	return errors.As(err, &e)
}

// decide asks store s. An error that is not an *Error is the store's.
func (g *Guard) decide(ctx context.Context, rules *Rules, caller Caller, q Request, r resolved, s store.Store) (Decision, error) {
	p, local := rules.Policy, s == g.local
	if local {
		p = p.Local()
	}
	plan := planned(p, r, q)
	began := g.denials.now()
	if !local {
		taken, knows := g.denials.recall(plan, r, q, began)
		asked := knows == knowsNetworks
		if asked {
			if stranger, err := g.look(ctx, plan, s); err != nil {
				return Decision{}, err
			} else if stranger {
				knows = knowsAll
			}
		}
		if knows == knowsAll {
			d := g.read(plan, taken, false)
			d.Account, d.Client, d.Recalled = r.Account, r.address(), !asked
			return d, nil
		}
	}
	token := g.newReceipt(caller, r)
	token.local, token.ttl, token.logOnly = local, plan.Take.TTL, logOnly(plan)
	plan.Take.Attempt = token.name
	if q.ID != "" {
		if err := g.remember(&plan, caller, q, r, token); err != nil {
			return Decision{}, err
		}
	}
	var (
		taken store.Taken
		err   error
	)
	if local {
		taken, err = s.Take(ctx, plan.Take)
	} else {
		taken, err = call(ctx, g, "take", func(ctx context.Context) (store.Taken, error) { return s.Take(ctx, plan.Take) })
	}
	if err != nil {
		return Decision{}, err
	}
	switch taken.Outcome {
	case store.Conflict:
		return Decision{}, &Error{Kind: KindConflict, Field: "id", Detail: "was used for another attempt, or more than 4 times"}
	case store.Repeated:
		if token, err = remembered(r.Realm, taken); err != nil {
			return Decision{}, err
		}
		asFirst(plan, taken)
	default:
		if !local {
			g.denials.learn(plan, taken, began)
		}
		g.tell(r, plan, taken)
		token.settled(taken.Lane, taken.Now, charged(plan, taken))
	}
	d := g.read(plan, taken, q.CanChallenge)
	d.Account, d.Client = r.Account, r.address()
	if taken.Outcome == store.Denied {
		return d, nil
	}
	if d.Attempt, err = g.seal(token); err != nil {
		return Decision{}, fmt.Errorf("sign the attempt: %w", err)
	}
	d.ExpiresIn = time.Duration(token.expires-taken.Now) * time.Microsecond
	if taken.Outcome == store.Admitted && !local && !g.o.Quiet {
		g.watch.add(token.name, token.marker(), caller.Name, d.ExpiresIn)
	}
	return d, nil
}

// look asks the store what only it knows of a flood from a closed network at
// ever new accounts: whether the attempt is a stranger's, and nothing of the
// account's own would deny it longer, or has a strike to get. It writes nothing
// and costs half of a take.
func (g *Guard) look(ctx context.Context, plan policy.Plan, s store.Store) (stranger bool, err error) {
	t := plan.Take
	t.Peek, t.Challenged, t.Charges = true, -1, nil
	for i, c := range plan.Take.Charges {
		// The password's bucket is no network's either.
		if own := c.Field != "" || plan.Rules[i].ID == policy.IDPassword; own && c.When&store.LaneStranger != 0 {
			t.Charges = append(t.Charges, c)
		}
	}
	seen, err := call(ctx, g, "look", func(ctx context.Context) (store.Taken, error) { return s.Take(ctx, t) })
	return seen.Lane == store.LaneStranger && seen.Outcome == store.Admitted, err
}

// newReceipt returns the receipt of an attempt that is about to be decided.
func (g *Guard) newReceipt(caller Caller, r resolved) *receipt {
	return &receipt{
		Attempt: r.Attempt, name: keys.NewID(), caller: callerMark(caller),
		place: g.place(r), success: r.route.Success,
	}
}

// remember lets the store keep an admitted attempt under the caller's id: what
// is needed to make its receipt again, and what a repeat must be the same in.
func (g *Guard) remember(plan *policy.Plan, caller Caller, q Request, r resolved, token *receipt) error {
	token.idempotence = g.idempotence(caller, q.ID)
	note, err := token.note()
	if err != nil {
		return fmt.Errorf("note the attempt: %w", err)
	}
	t := &plan.Take
	t.Idempotence, t.Note, t.MaxUses = idempotenceKey(token.idempotence), encode(note), cmp.Or(q.MostUses, mostUses)
	t.Binding = g.ring.Digest("binding", token.place, r.Route, q.Device, q.PasswordTag, strconv.FormatBool(q.ChallengePassed))
	for i, rule := range plan.Rules {
		t.Charges[i].Mark = mark{rule.ID, rule.Cost}.String()
	}
	return nil
}

// remembered makes the receipt of the first check under an id again.
func remembered(realm string, t store.Taken) (*receipt, error) {
	const doing = "read the remembered attempt: %w"
	note, err := decode(t.Note)
	if err != nil {
		return nil, fmt.Errorf(doing, err)
	}
	r := new(receipt)
	r.Realm = realm
	if err := r.readNote(note); err != nil {
		return nil, fmt.Errorf(doing, err)
	}
	marks := make([]mark, 0, len(t.Marks))
	for _, s := range t.Marks {
		m, err := parseMark(s)
		if err != nil {
			return nil, fmt.Errorf(doing, err)
		}
		marks = append(marks, m)
	}
	r.settled(t.Lane, t.Issued, marks)
	return r, nil
}

// asFirst lets the buckets of a repeated check tell what the first one did:
// that a bucket has run dry since, or by that very charge, denies nobody.
func asFirst(plan policy.Plan, t store.Taken) {
	for i := range t.Buckets {
		b := &t.Buckets[i]
		b.Charged = b.Applies && slices.Contains(t.Marks, plan.Take.Charges[i].Mark)
		b.Dry = b.Dry && !b.Charged
	}
}

// charged lists the charges that were made.
func charged(plan policy.Plan, t store.Taken) []mark {
	var marks []mark
	for i, b := range t.Buckets {
		if b.Charged {
			marks = append(marks, mark{plan.Rules[i].ID, plan.Rules[i].Cost})
		}
	}
	return marks
}

// logOnly lists the buckets of the plan that decide nothing. The stand-in for
// dry ones is left out: that it was not charged does not mean that it was dry.
func logOnly(plan policy.Plan) buckets {
	var set buckets
	for i, rule := range plan.Rules {
		if rule.Mode == policy.LogOnly && i != plan.Take.Challenged {
			set = set.with(rule.ID)
		}
	}
	return set
}

// tell tells the observer of every log-only bucket that was dry, and of an
// account that ran dry for the first time.
func (g *Guard) tell(r resolved, plan policy.Plan, t store.Taken) {
	for i, b := range t.Buckets {
		rule := plan.Rules[i]
		if b.Dry && rule.Mode == policy.LogOnly {
			g.o.Observer.WouldDeny(rule.Limit, rule.Level)
		}
		if rule.ID == policy.IDAccount && b.Struck && b.Strikes == 1 {
			g.o.Observer.FirstStrike(r.Realm, r.Account, r.address())
		}
	}
}
