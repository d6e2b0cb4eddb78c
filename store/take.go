package store

import "fmt"

// space is what a step works on: the keys of a memory store while they are
// locked. The Lua edition works on Redis in its place.
type space interface {
	get(key string) string // "" when there is none
	set(key, value string, expires int64)
	del(key string)
	members
}

// take is the algorithm of [Store.Take]. lua/take.lua is the same in Lua;
// whatever changes here changes there, and the property test compares them.
func take(s space, t Take, now int64) (Taken, error) {
	out := Taken{Now: now, Attempt: t.Attempt, Issued: now, Buckets: make([]Bucket, len(t.Charges))}
	rec := new(record)
	if t.Record != "" {
		var err error
		if rec, err = parseRecord(s.get(t.Record)); err != nil {
			return out, fmt.Errorf("key %s: %w", t.Record, err)
		}
	}
	if err := out.pickLane(rec, t, now); err != nil {
		return out, err
	}
	var first Remembered
	if t.Idempotence != "" && !t.Peek && !t.Debit {
		var err error
		if first, err = parseRemembered(s.get(t.Idempotence), now); err != nil {
			return out, err
		}
		if first.Found && !first.Reported {
			if first.Binding != t.Binding || first.uses >= t.MaxUses {
				out.Outcome = Conflict
				return out, nil
			}
			out.Outcome, out.Attempt, out.Issued = Repeated, first.Attempt, first.Issued
			out.Lane, out.Replaced, out.Marks, out.Note = first.Lane, first.Replaced, first.Marks, first.Note
		}
	}

	// Read and judge every bucket of the lane.
	sizes, verdicts := make([]size, len(t.Charges)), make([]verdict, len(t.Charges))
	for i, c := range t.Charges {
		if c.When&out.Lane == 0 || i == t.Challenged {
			continue
		}
		if err := out.read(s, rec, t, i, sizes, verdicts); err != nil {
			return out, err
		}
	}
	if out.Outcome == Repeated {
		first.uses++
		s.set(t.Idempotence, first.String(), first.expires)
		return out, nil
	}
	admitted, err := out.admit(s, rec, t, sizes, verdicts)
	if err != nil {
		return out, err
	}
	if admitted {
		out.Outcome = Admitted
	}
	if t.Record != "" && (!admitted || t.Peek) {
		out.Sources = rec.sources()
	}
	for i := range t.Charges {
		b := &out.Buckets[i]
		if !b.Applies || t.Peek {
			continue
		}
		before := verdicts[i]
		after, charged := pay(t, i, before, sizes[i], admitted, out.Replaced)
		b.Charged, b.Missing, b.Strikes = charged, after.missing, after.strikes
		b.Struck = after.strikes > before.strikes
		if after != before || before.cut && before.dry() {
			write(s, rec, t.Charges[i], after, sizes[i])
		}
	}
	if t.Peek {
		return out, nil
	}
	if err := saveRecord(s, rec, t.Record, now, t.Remember, forgets(t.Charges)); err != nil {
		return out, err
	}
	if admitted && t.Idempotence != "" && !t.Debit {
		m := Remembered{Binding: t.Binding, Note: t.Note, Attempt: t.Attempt, Issued: now, Lane: out.Lane, Replaced: out.Replaced, uses: 1, expires: now + t.TTL}
		for i, b := range out.Buckets {
			if b.Charged {
				m.Marks = append(m.Marks, t.Charges[i].Mark)
			}
		}
		s.set(t.Idempotence, m.String(), m.expires)
	}
	return out, nil
}

// pickLane decides on which kind of bucket the attempt is charged.
func (out *Taken) pickLane(rec *record, t Take, now int64) error {
	reset, err := rec.reset(now)
	if err != nil {
		return err
	}
	device := t.DeviceIssued > reset && now < t.DeviceExpires
	known, err := rec.familiar(t.Network, now, t.Remember)
	if err != nil {
		return err
	}
	if out.Failures, err = rec.failures(now, t.Remember); err != nil {
		return err
	}
	at, repeat := t.RepeatNetwork, LaneRepeatNetwork
	switch {
	case device:
		out.Lane, at, repeat = LaneDevice, t.RepeatDevice, LaneRepeatDevice
	case known:
		out.Lane = LaneFamiliar
	default:
		out.Lane = LaneStranger
	}
	out.Familiar = device || known
	wrong, err := rec.wrong(at, now)
	if wrong {
		out.Lane = repeat
	}
	if t.Lane != 0 {
		out.Lane = t.Lane
	}
	return err
}

// read judges charge i.
func (out *Taken) read(s space, rec *record, t Take, i int, sizes []size, verdicts []verdict) error {
	c := t.Charges[i]
	value := ""
	if c.Field != "" {
		value = rec.get(c.Field)
	} else {
		value = s.get(c.Key)
	}
	st, err := parseState(value)
	if err != nil {
		return fmt.Errorf("key %s: %w", c.Key, err)
	}
	people := int64(0)
	if c.Population != "" && c.Limit.PerUser > 0 {
		h, err := parseHeadcount(s.get(c.Population))
		if err != nil {
			return fmt.Errorf("key %s: %w", c.Population, err)
		}
		people = h.at(out.Now)
	}
	z := c.Limit.sized(people)
	v := judge(st, z, c.Cost, out.Now)
	sizes[i], verdicts[i] = z, v
	out.Buckets[i] = Bucket{Applies: true, Dry: v.dry(), Capacity: z.capacity, Interval: z.interval, Missing: v.missing, Strikes: v.strikes}
	if v.dry() {
		out.Buckets[i].Wait = v.wait
	}
	return nil
}

// admit decides over all buckets of the lane together. A passed challenge
// stands in for dry ones when all of them allow it.
func (out *Taken) admit(s space, rec *record, t Take, sizes []size, verdicts []verdict) (bool, error) {
	if t.Debit {
		return true, nil
	}
	dry, stubborn := false, false
	for i, c := range t.Charges {
		if b := out.Buckets[i]; b.Applies && b.Dry && !c.LogOnly {
			dry = true
			stubborn = stubborn || !c.Challenge
		}
	}
	if !dry && !t.Replace {
		return true, nil
	}
	if stubborn || t.Challenged == -1 {
		return false, nil
	}
	if t.Challenged == Elsewhere {
		out.Replaced = true
		return true, nil
	}
	if err := out.read(s, rec, t, t.Challenged, sizes, verdicts); err != nil {
		return false, err
	}
	if out.Buckets[t.Challenged].Dry && !t.Charges[t.Challenged].LogOnly {
		return false, nil
	}
	out.Replaced = true
	return true, nil
}

// pay returns what becomes of one bucket, and whether its cost was taken.
func pay(t Take, i int, v verdict, z size, admitted, replaced bool) (verdict, bool) {
	c := t.Charges[i]
	switch {
	case t.Debit && c.LogOnly && !v.pays:
		return v, false
	case t.Debit:
		return v.debit(z, c.Cost), true
	case v.dry() && !(replaced && !c.LogOnly):
		return v.strike(z), false
	case v.dry(), !admitted:
		return v, false
	case v.loan && c.LogOnly:
		return v.useLoan(), false
	}
	return v.charge(z, c.Cost), true
}

// write keeps a bucket, or drops it when it is full and without strikes.
func write(s space, rec *record, c Charge, v verdict, z size) {
	st := v.state(z)
	something := v.missing > 0 || v.strikes > 0
	switch {
	case c.Field != "" && something:
		rec.set(c.Field, st.String())
	case c.Field != "":
		rec.set(c.Field, "")
	case something:
		s.set(c.Key, st.text(), st.expires(z.forget))
	default:
		s.del(c.Key)
	}
}

// saveRecord writes a changed record back, without what it no longer says.
func saveRecord(s space, rec *record, key string, now, keep int64, forget map[string]int64) error {
	if !rec.changed || key == "" {
		return nil
	}
	expires, err := rec.prune(now, keep, forget)
	if err != nil {
		return fmt.Errorf("key %s: %w", key, err)
	}
	if len(rec.names) == 0 {
		s.del(key)
		return nil
	}
	s.set(key, rec.String(), expires)
	return nil
}

// forgets maps each record field among the charges to how long its strikes
// are remembered.
func forgets(charges []Charge) map[string]int64 {
	m := make(map[string]int64, 4)
	for _, c := range charges {
		if c.Field != "" {
			m[c.Field] = c.Limit.Forget
		}
	}
	return m
}
