package store

import (
	"fmt"
	"slices"
)

// markerKeep is how long after an attempt's end its settlement is still
// known, so that the search for unreported attempts can run behind.
const markerKeep = 60 * 1e6

// settle is the algorithm of [Store.Settle]. lua/settle.lua is the same in
// Lua; whatever changes here changes there.
func settle(s space, t Settle, now int64) (Settled, error) {
	out := Settled{Now: now}
	if t.Expires > 0 && now >= t.Expires {
		out.Expired = true
		return out, nil
	}
	if t.Marker != "" && s.get(t.Marker) != "" {
		return out, nil
	}
	rec, err := readAll(s, t, now)
	if err != nil {
		return out, err
	}
	reset, err := rec.reset(now)
	if err != nil {
		return out, err
	}
	if t.Marker != "" {
		s.set(t.Marker, "1", t.Expires+markerKeep)
	}
	out.Applied = true
	out.Stale = t.Issued > 0 && t.Issued <= reset
	if t.Idempotence != "" {
		if err := free(s, t.Idempotence, now); err != nil {
			return out, err
		}
	}
	if t.Refund {
		for _, r := range t.Refunds {
			if err := giveBack(s, rec, r, now); err != nil {
				return out, err
			}
		}
	}
	if !out.Stale {
		if err := learn(s, rec, t, now); err != nil {
			return out, err
		}
	}
	return out, saveRecord(s, rec, t.Record, now, t.Remember, nil)
}

// readAll reads whatever the settlement goes on to change, and returns the
// account's record. A damaged value must be found before anything is written:
// the settlement can be made again once it is mended.
func readAll(s space, t Settle, now int64) (*record, error) {
	rec := new(record)
	if t.Record != "" {
		var err error
		if rec, err = parseRecord(s.get(t.Record)); err == nil {
			err = rec.check()
		}
		if err != nil {
			return nil, fmt.Errorf("key %s: %w", t.Record, err)
		}
	}
	if t.Idempotence != "" {
		if _, err := parseRemembered(s.get(t.Idempotence), now); err != nil {
			return nil, fmt.Errorf("key %s: %w", t.Idempotence, err)
		}
	}
	for _, r := range t.Refunds {
		if r.Field != "" || !t.Refund {
			continue
		}
		if _, err := parseState(s.get(r.Key)); err != nil {
			return nil, fmt.Errorf("key %s: %w", r.Key, err)
		}
	}
	for _, key := range t.Populations {
		if !t.Learn {
			break
		}
		if _, err := parseHeadcount(s.get(key)); err != nil {
			return nil, fmt.Errorf("key %s: %w", key, err)
		}
	}
	return rec, nil
}

// free marks what is remembered under an idempotence key as settled, so that
// its name may serve a new attempt while a late repeat is still recognised.
func free(s space, key string, now int64) error {
	m, err := parseRemembered(s.get(key), now)
	if err != nil || !m.Found || m.Reported {
		return err
	}
	m.uses = 0
	s.set(key, m.String(), m.expires)
	return nil
}

// giveBack refunds one charge.
func giveBack(s space, rec *record, r Refund, now int64) error {
	value := ""
	if r.Field != "" {
		value = rec.get(r.Field)
	} else {
		value = s.get(r.Key)
	}
	st, err := parseState(value)
	if err != nil {
		return fmt.Errorf("key %s: %w", r.Key, err)
	}
	if value == "" {
		return nil
	}
	st = st.refund(r.Cost, now)
	something := st.full > now || st.strikes > 0
	switch {
	case r.Field != "" && something:
		rec.set(r.Field, st.String())
	case r.Field != "":
		rec.set(r.Field, "")
	case something:
		s.set(r.Key, st.text(), st.expires(strikeKeep))
	default:
		s.del(r.Key)
	}
	return nil
}

// learn notes what an outcome teaches about the account.
func learn(s space, rec *record, t Settle, now int64) error {
	if t.Fail && t.Record != "" {
		n, err := rec.failures(now, t.Remember)
		if err != nil {
			return err
		}
		rec.set(entryFailures, fmt.Sprintf("%d@%d", min(n+1, failuresMost), now))
		if t.Wrong.Source != "" && t.Wrong.Tag != "" {
			rec.addWrong(t.Wrong, now)
		}
	}
	if !t.Learn {
		return nil
	}
	if t.Record != "" {
		rec.set(entryFailures, "")
		if t.Network != "" {
			rec.addNetwork(t.Network, now, t.Sources)
		}
	}
	if t.Member == "" {
		return nil
	}
	found := func() (bool, error) { return rec.found(now) }
	if t.Record == "" {
		// A part of a settlement on a cluster, where no script sees both.
		found = func() (bool, error) { return true, nil }
	}
	for _, key := range t.Populations {
		if err := join(s, key, t.Member, now, found); err != nil {
			return fmt.Errorf("key %s: %w", key, err)
		}
	}
	return nil
}

// forget is the algorithm of [Store.Forget] for an account. A damaged record
// cannot tell which device tokens are dead, so it is treated as if its
// credentials had been reset.
func forget(s space, f Forget, now int64) error {
	rec, err := parseRecord(s.get(f.Record))
	if err == nil {
		for _, name := range slices.Clone(rec.names) {
			if isBucket(name) {
				rec.set(name, "")
			}
		}
		err = rec.check()
	}
	if err != nil || f.Credentials {
		rec = new(record)
		rec.set(entryReset, fmt.Sprintf("%d@%d", now, now+f.Keep))
	}
	return saveRecord(s, rec, f.Record, now, f.Remember, nil)
}
