package policy

import "loginguard/store"

// GlobalBuckets lays out looks at the global limit of a realm, one for each
// shard. Each has two charges: the bucket itself, and one of the same key to
// whose capacity of 1 every member of the population adds a token, so that its
// capacity tells the population whatever the limit makes of it. The second one
// is missing where the limit does not grow. There are no looks for an unknown
// realm or while the limit is off.
func (p *Policy) GlobalBuckets(name string) []store.Take {
	r, ok := p.realms[name]
	if !ok || p.limits[limGlobal].mode == Off {
		return nil
	}
	looks := make([]store.Take, 0, len(r.global))
	for shard := range r.global {
		v := p.view(&Attempt{Realm: name, Shard: uint32(shard)})
		_, c := v.sized(IDGlobal)
		c.Key, _ = v.key(IDGlobal)
		c.Cost, c.When, c.LogOnly = 1, lanesOfNobody, true
		t := store.Take{Challenged: -1, Peek: true, Charges: []store.Charge{c.Charge}}
		if c.Population != "" {
			members := c.Charge
			members.Limit = store.Limit{Capacity: 1, Interval: 1, PerUser: 1e6, MaxCapacity: mostMembers}
			t.Charges = append(t.Charges, members)
		}
		looks = append(looks, t)
	}
	return looks
}

// mostMembers bounds what is read of a population. The count behind it ends
// there, too.
const mostMembers = 1e7

// Overrides counts the overrides that hold, and those that had expired when
// the policy was built.
func (p *Policy) Overrides() (active, expired int) {
	return len(p.config.Overrides) - p.expired, p.expired
}

// LimitMode is the mode of one limit in a policy.
type LimitMode struct {
	Limit, Level string // Level of a network limit, else ""
	Mode         string // enforce, log_only or off, counting the mode of all limits in
}

// Modes returns the modes of the eleven limits, in the order of [Policy.Published].
func (p *Policy) Modes() []LimitMode {
	list := make([]LimitMode, 0, limCount)
	for i := range limCount {
		list = append(list, LimitMode{specs[i].name, specs[i].levelName(), p.limits[i].mode})
	}
	return list
}
