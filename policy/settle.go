package policy

import (
	"loginguard/netprefix"
	"loginguard/store"
)

// Refund returns what gives cost tokens back to bucket id of the attempt, also
// while its limit is off. Key and Field are both empty when the attempt has no
// such bucket, as with a token from before its networks were divided
// differently: there is nothing to give back then.
func (p *Policy) Refund(a Attempt, id ID, cost int64) store.Refund {
	if id >= idCount {
		return store.Refund{}
	}
	v := p.view(&a)
	key, field := v.key(id)
	if key == "" && field == "" {
		return store.Refund{}
	}
	return store.Refund{Key: key, Field: field, Cost: cost}
}

// Settle returns what the end of the attempt may teach. Which of it is learned
// depends on the outcome: Marker, Idempotence, Issued, Expires, Refunds, the
// flags and Now are left to the caller.
//
// A success on a known device makes no network familiar (a journey would leave
// a trail of them), nor does one from a hosting network. It counts for the
// populations all the same, except that hosting networks have none and exempt
// addresses join none.
func (p *Policy) Settle(a Attempt) store.Settle {
	s := store.Settle{Remember: p.remember, Sources: int64(p.config.Sources)}
	if a.Account == "" {
		return s
	}
	v := p.view(&a)
	s.Record, s.Member = RecordKey(a.Account), a.Account
	if a.Device == nil && a.Class != netprefix.Hosting {
		s.Network = v.coarse
	}
	for id := IDAccount; id < idCount && a.Class != netprefix.Exempt; id++ {
		b := &buckets[id]
		if b.level != 0 && (a.Class == netprefix.Hosting || v.network(b.level) == "") {
			continue
		}
		if key := v.population(id); key != "" {
			s.Populations = append(s.Populations, key)
		}
	}
	if a.RepeatTag == "" || p.limits[limRepeat].mode == Off {
		return s
	}
	source := v.coarse
	if a.Device != nil {
		source = a.Device.ID
	}
	if source != "" {
		s.Wrong = store.Remembering{Source: "w:" + source, Tag: a.RepeatTag}
	}
	return s
}
