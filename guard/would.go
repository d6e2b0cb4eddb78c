package guard

import (
	"loginguard/policy"
	"loginguard/store"
)

// buckets is a set of buckets, a bit for each [policy.ID]. A set that an older
// or newer instance wrote may name IDs that this one does not know.
type buckets uint32

func (s buckets) with(id policy.ID) buckets { return s | 1<<id }

func (s buckets) has(id policy.ID) bool { return s&(1<<id) != 0 }

// dry returns those of the log-only buckets s that would have denied an
// admitted attempt on a lane: the ones that count there and were not charged,
// since a log-only bucket is charged whenever it can pay. So what the store
// remembers of an attempt, its lane and its charges, is enough to know.
func (s buckets) dry(lane store.Lane, charged []mark) buckets {
	if s == 0 {
		return 0 // as nearly always: no limit only logs
	}
	var set buckets
	for _, id := range policy.IDs() {
		if s.has(id) && id.In(lane) {
			set = set.with(id)
		}
	}
	for _, m := range charged {
		set &^= 1 << m.id
	}
	return set
}

// tellRight tells the observer which limits would have denied an attempt that
// turned out to be a success: the people whom enforcing would have hurt.
func (g *Guard) tellRight(would buckets) {
	if would == 0 {
		return
	}
	for _, id := range policy.IDs() {
		if would.has(id) {
			limit, level := id.Limit()
			g.o.Observer.WouldDenyThenSuccess(limit, level)
		}
	}
}
