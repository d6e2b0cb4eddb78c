package policy

import (
	"net/netip"

	"loginguard/netprefix"
	"loginguard/store"
)

// Attempt is one credential about to be verified, as far as the limits care.
// Its parts have been derived and verified: nothing in it is a stranger's word.
type Attempt struct {
	Realm, Route, Caller string
	Account              string              // keyed hash, "" for none
	Class                netprefix.Class     // of the client's address
	Networks             []netprefix.Network // of the client's address, fine to coarse
	Device               *Device             // of a token that verified, nil for none
	RepeatTag            string              // fingerprint of the password for this account, "" for none
	PasswordTag          string              // fingerprint of the password for all accounts, "" for none
	ChallengePassed      bool
	Shard                uint32 // picks the shard of global; the same for every attempt at an account
}

// Device is a verified device token.
type Device struct {
	ID              string
	Issued, Expires int64 // microseconds since 1970
}

// Rule says of one charge which limit it is for.
type Rule struct {
	ID        ID
	Limit     string // account, device, familiar, network, global, password, repeat, challenged
	Level     string // host, site, subnet or pool for network, else ""
	Mode      string // enforce or log_only
	Stranger  bool   // a network's bucket that strangers share
	Global    bool   // its denial is not about this account or network
	Challenge bool   // a passed challenge may stand in for it
	Override  string // reason of the override that sized it, "" for none
	Cost      int64  // tokens
}

// Plan is an attempt laid out for the store.
type Plan struct {
	Take  store.Take // without Attempt, Idempotence, Binding, MaxUses, Now, Peek and Debit
	Rules []Rule     // one for each of Take.Charges
}

// view is an attempt with what follows from it for every bucket.
type view struct {
	*Attempt
	policy *Policy
	realm  realm
	coarse string // name of the coarsest network, "" for none
	class  int    // index of sizes: 1 for hosting

	prefixes [4]netip.Prefix // of Networks, read only where an override asks; a level each
}

func (p *Policy) view(a *Attempt) view {
	v := view{Attempt: a, policy: p}
	var ok bool
	if v.realm, ok = p.realms[a.Realm]; !ok {
		v.realm = newRealm(a.Realm, p.shards) // of a token from before a reload
	}
	if n := len(a.Networks); n > 0 {
		v.coarse = a.Networks[n-1].Name
	}
	if a.Class == netprefix.Hosting {
		v.class = 1
	}
	if p.prefixed {
		v.parse()
	}
	return v
}

// Plan lays out an attempt: the buckets it may be charged on, in the fixed
// order of the IDs, each with its size, its cost and the lanes in which it
// counts. The store picks the lane. A limit that is off has no charge; an
// attempt without an account has no record and only buckets of networks, global
// and password. An unknown route costs what the dearest one does.
func (p *Policy) Plan(a Attempt) Plan {
	v := p.view(&a)
	plan := Plan{
		Take:  store.Take{Remember: p.remember, TTL: p.ttl, Challenged: -1},
		Rules: make([]Rule, 0, 12),
	}
	t := &plan.Take
	t.Charges = make([]store.Charge, 0, 12)
	if a.Account != "" {
		v.fillRecord(t)
	}
	cost := p.cost
	if r, ok := p.config.Routes[a.Route]; ok {
		cost = r.Cost
	}
	for id := IDAccount; id < idCount; id++ {
		if !v.applies(id) {
			continue
		}
		key, field := v.key(id)
		if key == "" && field == "" {
			continue
		}
		l, charge := v.sized(id)
		charge.Key, charge.Field = key, field
		charge.Cost = 1
		if l.routed {
			charge.Cost = cost
		}
		if id == IDChallenged {
			t.Challenged = len(t.Charges)
		}
		t.Charges = append(t.Charges, charge.Charge)
		plan.Rules = append(plan.Rules, Rule{
			ID: id, Limit: l.name, Level: l.levelName(), Mode: l.mode,
			Stranger: l.level != 0 && !buckets[id].grown,
			Global:   id == IDGlobal, Challenge: charge.Challenge,
			Override: charge.reason, Cost: charge.Cost,
		})
	}
	return plan
}

// fillRecord fills in what the store needs to pick the lane. Tags are looked
// for only while repeat is charged, or a repeated password would be free.
func (v *view) fillRecord(t *store.Take) {
	t.Record = RecordKey(v.Account)
	if v.Class != netprefix.Hosting {
		t.Network = v.coarse
	}
	if v.Device != nil {
		t.DeviceIssued, t.DeviceExpires = v.Device.Issued, v.Device.Expires
	}
	if v.RepeatTag == "" || v.policy.limits[limRepeat].mode == Off {
		return
	}
	if v.Device != nil {
		t.RepeatDevice = store.Remembering{Source: "w:" + v.Device.ID, Tag: v.RepeatTag}
	}
	if v.coarse != "" {
		t.RepeatNetwork = store.Remembering{Source: "w:" + v.coarse, Tag: v.RepeatTag}
	}
}

// applies reports whether the attempt may be charged on bucket id, in whatever
// lane, if it has such a bucket.
func (v *view) applies(id ID) bool {
	b := &buckets[id]
	l := &v.policy.limits[b.limit]
	if l.mode == Off {
		return false
	}
	// Where no lane can be the familiar one, its buckets are left out.
	if b.when == store.LaneFamiliar && (v.Account == "" || v.Class == netprefix.Hosting) {
		return false
	}
	if l.routed { // networks and global
		return v.Class != netprefix.Exempt
	}
	switch b.limit {
	case limRepeat:
		return v.RepeatTag != ""
	case limChallenged:
		return v.ChallengePassed
	}
	return true
}

// sizedCharge is a charge and the reason of the override that sized it.
type sizedCharge struct {
	store.Charge
	reason string
}

// sized returns the limit of bucket id and a charge with its current size.
func (v *view) sized(id ID) (*compiled, sizedCharge) {
	b := &buckets[id]
	l := &v.policy.limits[b.limit]
	s := &l.sizes[v.class]
	for i := range l.overrides {
		if o := &l.overrides[i]; o.matches(v, b.level) {
			s = &o.sizes[v.class]
			break
		}
	}
	c := sizedCharge{reason: s.reason}
	c.Limit, c.When, c.LogOnly = s.plain, b.when, l.mode == LogOnly
	if b.grown {
		c.Limit, c.Population = s.grown, v.population(id)
	}
	// Without an account there is no bucket that could stand in: asking for
	// a challenge would send the user in circles.
	c.Challenge = l.challenge && v.Account != ""
	return l, c
}
