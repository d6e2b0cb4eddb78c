package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// An idempotence key has a hash tag of its own, so it is asked before the
// groups of an attempt are taken, and told after. While one check under it is
// being decided, the key is held, and further ones wait: each would be charged
// for what is one attempt. A holder that dies holds it no longer than a
// decision may take.

// What lua/recall.lua answers.
const (
	nameFree = iota
	nameRepeated
	nameConflict
	nameHeld
)

const (
	// Pauses between questions for a name that is held: the first, and the
	// longest. A decision takes a few round trips.
	holdFirst = time.Millisecond
	holdMost  = 20 * time.Millisecond
)

// reserve asks for an earlier attempt under the idempotence key of t; when
// there is none, the key is held for t.
func (c *cluster) reserve(ctx context.Context, t Take) (out Taken, found bool, err error) {
	hold := max(1, (patience * c.r.timeout).Milliseconds())
	for pause := holdFirst; ; pause = min(2*pause, holdMost) {
		out, answer, err := c.recall(ctx, t, "reserve", strconv.FormatInt(hold, 10))
		if err != nil || answer != nameHeld {
			return out, answer != nameFree, err
		}
		select {
		case <-ctx.Done():
			return Taken{}, false, fmt.Errorf("wait for the same check: %w", ctx.Err())
		case <-time.After(pause):
		}
	}
}

// release lets the next check under the name be decided; one that does not get
// through lets it wait until the hold ends by itself.
func (c *cluster) release(t Take) {
	ctx, cancel := context.WithTimeout(context.Background(), c.r.timeout)
	defer cancel()
	_, _, _ = c.recall(ctx, t, "release", "")
}

// repeated finishes the answer to a check that was made before: with its
// buckets as they are now, in the lane of the first time.
func (c *cluster) repeated(ctx context.Context, t Take, first Taken, err error) (Taken, error) {
	if err != nil || first.Outcome != Repeated {
		return first, err
	}
	t.Peek, t.Lane = true, first.Lane
	if t.Challenged >= 0 {
		t.Charges = slices.Clone(t.Charges)
		t.Charges[t.Challenged].When = 0
		t.Challenged = -1
	}
	now, err := c.decide(ctx, t)
	if err != nil {
		return Taken{}, err
	}
	first.Buckets, first.Familiar, first.Failures = now.Buckets, now.Familiar, now.Failures
	return first, nil
}

// remember notes an admitted attempt under its idempotence key. When the same
// check was admitted meanwhile, which takes that its hold ended, this one is
// given back. An error leaves the charges: the key may remember this attempt,
// and a repeat must not get it for nothing.
func (c *cluster) remember(ctx context.Context, t Take, out Taken) (Taken, error) {
	m := Remembered{Binding: t.Binding, Note: t.Note, Attempt: t.Attempt, Issued: out.Issued, Lane: out.Lane, Replaced: out.Replaced, uses: 1, expires: out.Issued + t.TTL}
	for i, b := range out.Buckets {
		if b.Charged {
			m.Marks = append(m.Marks, t.Charges[i].Mark)
		}
	}
	other, answer, err := c.recall(ctx, t, "remember", m.String())
	if err != nil {
		return Taken{}, err
	}
	if answer == nameFree {
		return out, nil
	}
	account, others := groups(t)
	all := append([]group{account}, others...)
	results := make([]Taken, len(all))
	for i, g := range all {
		for _, j := range g.index {
			results[i].Buckets = append(results[i].Buckets, out.Buckets[j])
		}
	}
	c.giveBack(t, all, results)
	return c.repeated(ctx, t, other, nil)
}

// recall runs lua/recall.lua.
func (c *cluster) recall(ctx context.Context, t Take, act, value string) (out Taken, answer int64, err error) {
	a := newArguments(2, 6)
	a.index(t.Idempotence)
	a.index(t.Idempotence + ":held")
	a.clock(t.Now)
	a.str(t.Binding)
	a.num(t.MaxUses)
	a.str(act, t.Attempt, value)
	reply, err := c.r.run(ctx, c.r.recall, a)
	if err != nil {
		return out, 0, fmt.Errorf("%s: %w", act, err)
	}
	list, ok := reply.([]any)
	if !ok || len(list) != 3 {
		return out, 0, fmt.Errorf("%s: %w", act, errReply)
	}
	answer, ok1 := list[0].(int64)
	text, ok2 := list[1].(string)
	now, ok3 := list[2].(int64)
	if !ok1 || !ok2 || !ok3 || answer < nameFree || answer > nameHeld {
		return out, 0, fmt.Errorf("%s: %w", act, errReply)
	}
	out.Now, out.Attempt, out.Issued, out.Buckets = now, t.Attempt, now, make([]Bucket, len(t.Charges))
	switch answer {
	case nameRepeated:
		m, err := parseRemembered(text, 0)
		if err != nil {
			return out, 0, fmt.Errorf("%s: %w", act, err)
		}
		out.Outcome, out.Attempt, out.Issued = Repeated, m.Attempt, m.Issued
		out.Lane, out.Replaced, out.Marks, out.Note = m.Lane, m.Replaced, m.Marks, m.Note
	case nameConflict:
		out.Outcome = Conflict
	}
	return out, answer, nil
}
