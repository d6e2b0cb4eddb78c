package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// takeHead and takeStep are how many arguments lua/take.lua has before the
// charges, and for each of them: what says whether it applies, its field, the
// limit, its mark. Few and long ones cost less on the way than many short
// ones, and the limit is only taken apart where the charge applies.
const takeHead, takeStep = 20, 4

// takeArgs lays a Take out as lua/take.lua reads it.
func takeArgs(t Take) arguments {
	a := newArguments(2+2*len(t.Charges), takeHead+takeStep*len(t.Charges))
	a.clock(t.Now)
	a.num(bit(t.Peek, 1) + bit(t.Debit, 2))
	a.key(t.Record)
	a.key(t.Idempotence)
	a.str(t.Network)
	a.num(t.Remember, t.DeviceIssued, t.DeviceExpires)
	a.str(t.RepeatDevice.Source, t.RepeatDevice.Tag)
	a.num(int64(t.Challenged + 1)) // 0: none; -1: elsewhere
	a.str(t.RepeatNetwork.Source, t.RepeatNetwork.Tag, t.Attempt, t.Binding)
	a.words(t.MaxUses, t.TTL)
	a.str(t.Note)
	a.num(int64(t.Lane), bit(t.Replace, 1), int64(len(t.Charges)))
	for i := range t.Charges {
		a.charge(&t.Charges[i])
	}
	return a
}

// charge lays a charge out.
func (a *arguments) charge(c *Charge) {
	key := int64(0)
	if c.Field == "" {
		key = a.index(c.Key)
	}
	a.words(key, int64(c.When), c.Cost, a.index(c.Population), bit(c.LogOnly, 1)+bit(c.Challenge, 2))
	a.str(c.Field)
	l, longest := &c.Limit, int64(0)
	if n := len(l.Waits); n > 0 {
		longest = l.Waits[n-1]
	}
	for _, n := range [...]int64{l.Capacity, l.Interval, l.PerUser, l.MaxCapacity, l.Forget, l.Debt, int64(len(l.Waits)), longest} {
		a.text = append(strconv.AppendInt(a.text, n, 10), ' ')
	}
	for i, w := range l.Waits {
		if i > 0 {
			a.text = append(a.text, ',')
		}
		a.text = strconv.AppendInt(a.text, w, 10)
	}
	a.end()
	a.str(c.Mark)
}

// Take implements [Store].
func (r *Redis) Take(ctx context.Context, t Take) (Taken, error) {
	if r.cluster != nil {
		return r.cluster.Take(ctx, t)
	}
	return r.takeOne(ctx, t)
}

// TakeCommand returns the command that [Redis.Take] sends for t on a single
// Redis that knows the script, as go-redis takes it: for measuring what the
// server and the client cost without anything of this package.
func (r *Redis) TakeCommand(t Take) []any {
	a := takeArgs(t)
	return a.command(r.take, false)
}

// takeOne takes what one script reaches.
func (r *Redis) takeOne(ctx context.Context, t Take) (Taken, error) {
	a := takeArgs(t)
	reply, err := r.run(ctx, r.take, a)
	if err != nil {
		return Taken{}, fmt.Errorf("take: %w", err)
	}
	out, err := readTaken(reply, t)
	if err != nil {
		return Taken{}, fmt.Errorf("take: %w", err)
	}
	return out, nil
}

// errReply is returned when a script answers what it never does: another
// script under the same hash, or a proxy in between.
var errReply = errors.New("unexpected reply")

// takenHead and takenStep are the lengths of the reply of lua/take.lua.
const takenHead, takenStep = 10, 7

func readTaken(reply any, t Take) (Taken, error) {
	list, ok := reply.([]any)
	if !ok || len(list) < takenHead || (len(list)-takenHead)%takenStep != 0 {
		return Taken{}, errReply
	}
	attempt, ok := list[2].(string)
	marks, ok2 := list[8].(string)
	note, ok3 := list[9].(string)
	if !ok || !ok2 || !ok3 {
		return Taken{}, errReply
	}
	n := make([]int64, len(list))
	for i, v := range list {
		if i == 2 || i == 8 || i == 9 {
			continue
		}
		if n[i], ok = v.(int64); !ok {
			return Taken{}, errReply
		}
	}
	if n[0] < int64(Denied) || n[0] > int64(Conflict) {
		return Taken{}, errReply
	}
	out := Taken{
		Outcome: Outcome(n[0]), Now: n[1], Attempt: attempt, Issued: n[3], Lane: Lane(n[4]),
		Familiar: n[5] == 1, Failures: n[6], Replaced: n[7] == 1, Buckets: make([]Bucket, len(t.Charges)),
	}
	if marks != "-" {
		out.Marks = strings.Split(marks, ",")
	}
	switch {
	case out.Outcome == Repeated:
		out.Note = note
	case (out.Outcome == Denied || t.Peek) && note != "-":
		out.Sources = append([]string{}, strings.Fields(note)...) // never nil: told that there are none
	}
	for b := takenHead; b < len(n); b += takenStep {
		i := n[b] - 1
		if i < 0 || i >= int64(len(t.Charges)) {
			return Taken{}, errReply
		}
		out.Buckets[i] = Bucket{
			Applies: true, Dry: n[b+1]&1 != 0, Charged: n[b+1]&2 != 0, Struck: n[b+1]&4 != 0,
			Capacity: n[b+2], Interval: n[b+3], Missing: n[b+4], Wait: n[b+5], Strikes: n[b+6],
		}
	}
	return out, nil
}

// settleHead and settleStep are how many arguments lua/settle.lua has before
// the refunds, and for each of them: its key, its field, its cost.
const settleHead, settleStep = 17, 3

// settleArgs lays a Settle out as lua/settle.lua reads it.
func settleArgs(t Settle) arguments {
	a := newArguments(3+len(t.Refunds)+3*len(t.Populations), settleHead+settleStep*len(t.Refunds)+3*len(t.Populations))
	a.clock(t.Now)
	a.key(t.Marker)
	a.key(t.Idempotence)
	a.key(t.Record)
	a.num(t.Issued, t.Expires)
	a.bit(t.Refund, t.Learn, t.Fail)
	a.str(t.Network)
	a.num(t.Remember, t.Sources)
	a.str(t.Member, t.Wrong.Source, t.Wrong.Tag)
	a.num(int64(len(t.Refunds)), int64(len(t.Populations)))
	for _, f := range t.Refunds {
		key := f.Key
		if f.Field != "" {
			key = ""
		}
		a.key(key)
		a.str(f.Field)
		a.num(f.Cost)
	}
	for _, p := range t.Populations {
		a.key(p)
		a.key(populationSlot(p, 0))
		a.key(populationSlot(p, 1))
	}
	return a
}

// Settle implements [Store].
func (r *Redis) Settle(ctx context.Context, t Settle) (Settled, error) {
	if r.cluster != nil {
		return r.cluster.Settle(ctx, t)
	}
	return r.settleOne(ctx, t)
}

// settleOne settles what one script reaches.
func (r *Redis) settleOne(ctx context.Context, t Settle) (Settled, error) {
	a := settleArgs(t)
	reply, err := r.run(ctx, r.settle, a)
	if err != nil {
		return Settled{}, fmt.Errorf("settle: %w", err)
	}
	list, ok := reply.([]any)
	if !ok || len(list) != 4 {
		return Settled{}, fmt.Errorf("settle: %w", errReply)
	}
	var n [4]int64
	for i, v := range list {
		if n[i], ok = v.(int64); !ok {
			return Settled{}, fmt.Errorf("settle: %w", errReply)
		}
	}
	return Settled{Applied: n[0] == 1, Expired: n[1] == 1, Stale: n[2] == 1, Now: n[3]}, nil
}

// Forget implements [Store].
func (r *Redis) Forget(ctx context.Context, f Forget) error {
	if len(f.Keys) > 0 {
		del, cancel := context.WithTimeout(ctx, r.timeout)
		defer cancel()
		pipe := r.client.Pipeline()
		for _, key := range f.Keys {
			pipe.Del(del, key) // one by one: on a cluster they may live apart
		}
		if _, err := pipe.Exec(del); err != nil {
			r.seen(err)
			return fmt.Errorf("forget: %w", err)
		}
	}
	if f.Record == "" {
		return nil
	}
	a := newArguments(1, 4)
	a.index(f.Record)
	a.clock(f.Now)
	a.bit(f.Credentials)
	a.num(f.Keep, f.Remember)
	if _, err := r.run(ctx, r.forget, a); err != nil {
		return fmt.Errorf("forget: %w", err)
	}
	return nil
}
