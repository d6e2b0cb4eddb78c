package store

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
)

// cluster decides attempts on a Redis Cluster, where one script reaches only
// keys that share a hash tag. The groups of an attempt are taken one after
// another: the account's record and lane are read, then its networks, global
// and password are charged side by side, the account's lane last, so that a
// network that is dry never strikes an account. What an earlier group was
// charged is given back when a later one denies.
//
// In between, other attempts see charges that may yet be given back: it may
// deny one too many, never admit one. A crash between the groups, or a refund
// that fails, leaves a charge: strict, too.
type cluster struct {
	r     *Redis
	nodes *nodes
}

// laneTries bounds how often an attempt is decided again because the record
// changed between reading the lane and charging it.
const laneTries = 3

// errLane is returned when an account's record changes faster than it can be
// read, which only an attack on the store itself explains.
var errLane = errors.New("the account's record kept changing")

// group is the part of an attempt whose keys share a hash tag.
type group struct {
	take  Take
	index []int // of its charges in the whole attempt
}

// hashTag returns what Redis Cluster hashes of a key.
func hashTag(key string) string {
	_, rest, ok := strings.Cut(key, "{")
	tag, _, closed := strings.Cut(rest, "}")
	if !ok || !closed || tag == "" {
		return key
	}
	return tag
}

// groups splits the charges with keys of their own by hash tag, and returns
// apart from them the account's: fields of its record.
func groups(t Take) (account group, others []group) {
	account.take = t
	account.take.Charges, account.take.Idempotence, account.take.Challenged = nil, "", -1
	at := make(map[string]int)
	for i, c := range t.Charges {
		if c.Field != "" {
			if i == t.Challenged {
				account.take.Challenged = len(account.take.Charges)
			}
			account.take.Charges = append(account.take.Charges, c)
			account.index = append(account.index, i)
			continue
		}
		tag := hashTag(c.Key)
		n, ok := at[tag]
		if !ok {
			n = len(others)
			at[tag] = n
			g := group{take: Take{Peek: t.Peek, Debit: t.Debit, Challenged: -1, Attempt: t.Attempt, Now: t.Now}}
			if t.Challenged >= 0 {
				g.take.Challenged = Elsewhere
			}
			others = append(others, g)
		}
		others[n].take.Charges = append(others[n].take.Charges, c)
		others[n].index = append(others[n].index, i)
	}
	return account, others
}

// Take decides an attempt over all groups.
func (c *cluster) Take(ctx context.Context, t Take) (Taken, error) {
	ctx, cancel := context.WithTimeout(ctx, patience*c.r.timeout)
	defer cancel()
	if t.Idempotence == "" || t.Peek || t.Debit {
		return c.decide(ctx, t)
	}
	out, found, err := c.reserve(ctx, t)
	if err != nil || found {
		return c.repeated(ctx, t, out, err)
	}
	if out, err = c.decide(ctx, t); err != nil {
		return out, err
	}
	if out.Outcome != Admitted {
		c.release(t)
		return out, nil
	}
	return c.remember(ctx, t, out)
}

// decide decides once the idempotence key is out of the way.
func (c *cluster) decide(ctx context.Context, t Take) (Taken, error) {
	for range laneTries {
		out, again, err := c.try(ctx, t)
		if err != nil {
			return Taken{}, err
		}
		if !again {
			return out, nil
		}
	}
	return Taken{}, errLane
}

// try decides once; again is set when the lane changed on the way.
func (c *cluster) try(ctx context.Context, t Take) (out Taken, again bool, err error) {
	account, others := groups(t)
	if t.Record == "" && len(others) == 0 {
		// Nothing is charged, but the moment of the admission is the store's.
		others = []group{{take: Take{Attempt: t.Attempt, Now: t.Now, Challenged: -1}}}
	}
	out = Taken{Outcome: Denied, Attempt: t.Attempt, Lane: LaneStranger, Buckets: make([]Bucket, len(t.Charges))}
	if t.Lane != 0 {
		out.Lane = t.Lane
	}
	if t.Record != "" {
		peek := account.take
		peek.Peek, peek.Debit = true, false
		got, err := c.r.takeOne(ctx, peek)
		if err != nil {
			return out, false, err
		}
		out.merge(account, got)
		if got.Outcome == Denied && !t.Debit && !t.Peek {
			return c.denied(ctx, t, account, others, out)
		}
	}
	results, err := c.all(ctx, others, out.Lane)
	if err != nil {
		c.giveBack(t, others, results)
		return out, false, err
	}
	admitted := true
	for i, g := range others {
		out.merge(g, results[i])
		admitted = admitted && results[i].Outcome == Admitted
		out.Replaced = out.Replaced || results[i].Replaced
	}
	if t.Peek {
		return c.peeked(ctx, t, account, out, admitted)
	}
	if !admitted {
		c.giveBack(t, others, results)
		out.uncharge(t.Charges)
		out.Issued = out.Now
		return out, false, c.strike(ctx, account, &out)
	}
	if t.Record == "" {
		out.Outcome, out.Issued = Admitted, out.Now
		return out, false, nil
	}
	last := account.take
	last.Replace = out.Replaced
	if t.Debit {
		last.Lane = out.Lane // of one attempt, whatever becomes of the record meanwhile
	}
	got, err := c.r.takeOne(ctx, last)
	switch {
	case err != nil:
		c.giveBack(t, others, results)
		return out, false, err
	case got.Outcome != Admitted:
		c.giveBack(t, others, results)
		out.uncharge(t.Charges)
		out.merge(account, got)
		out.Replaced, out.Issued = false, out.Now
		return out, false, nil
	case got.Lane != out.Lane:
		c.giveBack(t, others, results)
		c.giveBack(t, []group{account}, []Taken{got})
		return out, true, nil
	}
	out.merge(account, got)
	out.Outcome, out.Issued, out.Replaced = Admitted, got.Now, got.Replaced || out.Replaced
	return out, false, nil
}

// denied ends an attempt of which reading said that the account will deny it:
// every bucket that is dry gets its strike, and nothing is charged.
func (c *cluster) denied(ctx context.Context, t Take, account group, others []group, out Taken) (Taken, bool, error) {
	for i := range others {
		// A stand-in that must be there and is not: denied, whatever else.
		others[i].take.Replace, others[i].take.Challenged = true, -1
	}
	results, err := c.all(ctx, others, out.Lane)
	if err != nil {
		return out, false, err
	}
	for i, g := range others {
		out.merge(g, results[i])
		if stubborn(g.take.Charges, results[i].Buckets) {
			account = account.withoutStandIn()
		}
	}
	got, err := c.r.takeOne(ctx, account.take)
	if err != nil {
		return out, false, err
	}
	if got.Outcome == Admitted {
		// It was refilled or cleared just now: decide again, over all groups.
		c.giveBack(t, []group{account}, []Taken{got})
		return out, true, nil
	}
	out.merge(account, got)
	out.Issued = out.Now
	return out, false, nil
}

// stubborn tells whether a bucket denies that nothing can stand in for.
func stubborn(charges []Charge, buckets []Bucket) bool {
	for i, b := range buckets {
		if b.Applies && b.Dry && !charges[i].LogOnly && !charges[i].Challenge {
			return true
		}
	}
	return false
}

// withoutStandIn returns the group for an attempt that another group denies
// for good: a passed challenge stands in for nothing there, and its bucket is
// not looked at.
func (g group) withoutStandIn() group {
	if g.take.Challenged >= 0 {
		g.take.Charges = slices.Clone(g.take.Charges)
		g.take.Charges[g.take.Challenged].When = 0
	}
	g.take.Replace, g.take.Challenged = true, -1
	return g
}

// strike gives the account's buckets that are dry their strikes, and charges
// none, where another group denies.
func (c *cluster) strike(ctx context.Context, account group, out *Taken) error {
	dry := false
	for _, i := range account.index {
		dry = dry || out.Buckets[i].Dry
	}
	if !dry {
		return nil
	}
	account = account.withoutStandIn()
	got, err := c.r.takeOne(ctx, account.take)
	if err == nil {
		out.merge(account, got)
	}
	return err
}

// peeked finishes a look that charges nothing: whether the account's group
// would stand in for dry ones of the others.
func (c *cluster) peeked(ctx context.Context, t Take, account group, out Taken, admitted bool) (Taken, bool, error) {
	if t.Record != "" {
		if !admitted {
			account = account.withoutStandIn()
		}
		look := account.take
		look.Replace = look.Replace || out.Replaced
		got, err := c.r.takeOne(ctx, look)
		if err != nil {
			return out, false, err
		}
		out.merge(account, got)
		admitted = admitted && got.Outcome == Admitted
		out.Replaced = out.Replaced || got.Replaced
	}
	if out.Replaced = out.Replaced && admitted; admitted {
		out.Outcome = Admitted
	}
	out.Issued = out.Now
	return out, false, nil
}

// all takes the groups side by side.
func (c *cluster) all(ctx context.Context, list []group, lane Lane) ([]Taken, error) {
	results, errs := make([]Taken, len(list)), make([]error, len(list))
	var wait sync.WaitGroup
	for i := range list {
		list[i].take.Lane = lane
		wait.Go(func() { results[i], errs[i] = c.r.takeOne(ctx, list[i].take) })
	}
	wait.Wait()
	return results, errors.Join(errs...)
}

// merge puts the answer of one group into that of the whole.
func (out *Taken) merge(g group, got Taken) {
	for i, b := range got.Buckets {
		out.Buckets[g.index[i]] = b
	}
	out.Now = max(out.Now, got.Now)
	if g.take.Record != "" {
		out.Lane, out.Familiar, out.Failures, out.Now = got.Lane, got.Familiar, got.Failures, got.Now
		out.Sources = got.Sources
	}
}

// uncharge shows buckets as they are after their charges were given back.
func (out *Taken) uncharge(charges []Charge) {
	for i := range out.Buckets {
		if b := &out.Buckets[i]; b.Charged {
			b.Charged, b.Missing = false, max(0, b.Missing-charges[i].Cost*b.Interval)
		}
	}
	out.Replaced = false
}

// giveBack refunds what the groups were charged, on a budget of its own: the
// attempt's may be used up. What cannot be given back stays charged.
func (c *cluster) giveBack(t Take, list []group, results []Taken) {
	if t.Peek || t.Debit {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.r.timeout)
	defer cancel()
	var wait sync.WaitGroup
	for i, g := range list {
		s := Settle{Record: g.take.Record, Remember: t.Remember, Refund: true, Now: t.Now}
		for j, b := range results[i].Buckets {
			if b.Charged {
				charge := g.take.Charges[j]
				s.Refunds = append(s.Refunds, Refund{Key: charge.Key, Field: charge.Field, Cost: charge.Cost})
			}
		}
		if len(s.Refunds) > 0 {
			wait.Go(func() { _, _ = c.r.settleOne(ctx, s) })
		}
	}
	wait.Wait()
}

// Settle ends an attempt: at the account's group first, whose marker makes it
// happen once, then at the others. When one of those fails, what it held
// stays charged and is not learned; the settlement has been made all the same.
func (c *cluster) Settle(ctx context.Context, t Settle) (Settled, error) {
	ctx, cancel := context.WithTimeout(ctx, patience*c.r.timeout)
	defer cancel()
	first := t
	first.Refunds, first.Populations, first.Idempotence = nil, nil, ""
	rest := make(map[string]*Settle)
	part := func(key string) *Settle {
		tag := hashTag(key)
		if rest[tag] == nil {
			rest[tag] = &Settle{Refund: t.Refund, Learn: t.Learn, Member: t.Member, Remember: t.Remember, Now: t.Now}
		}
		return rest[tag]
	}
	for _, f := range t.Refunds {
		if f.Field != "" {
			first.Refunds = append(first.Refunds, f)
			continue
		}
		p := part(f.Key)
		p.Refunds = append(p.Refunds, f)
	}
	out, err := c.r.settleOne(ctx, first)
	if err != nil || !out.Applied {
		return out, err
	}
	if !out.Stale && t.Learn {
		for _, key := range t.Populations {
			p := part(key)
			p.Populations = append(p.Populations, key)
		}
	}
	if t.Idempotence != "" {
		part(t.Idempotence).Idempotence = t.Idempotence
	}
	var wait sync.WaitGroup
	for _, p := range rest {
		wait.Go(func() { _, _ = c.r.settleOne(ctx, *p) })
	}
	wait.Wait()
	return out, nil
}
