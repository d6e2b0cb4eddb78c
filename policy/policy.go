package policy

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"loginguard/store"
)

// Policy is a validated, immutable [Config], with all that does not depend on
// an attempt worked out. [New] makes one. A change of the configuration makes
// another one, which is swapped in whole.
type Policy struct {
	config Config
	limits [limCount]compiled
	realms map[string]realm
	cost   int64 // of the dearest route
	shards uint32

	prefixed bool // an override matches a prefix

	remember, ttl int64 // microseconds

	warnings []string
	expired  int // overrides
	expiry   time.Time
	local    *Policy
}

// compiled is one limit, ready to be charged.
type compiled struct {
	*spec
	mode      string // counting the mode of all limits in
	challenge bool   // a passed challenge may stand in for it now
	grows     bool   // a population sizes it now
	sizes     [2]size
	overrides []override
}

// realm holds the keys that all attempts of a realm share.
type realm struct {
	prefix string   // of its networks' keys: "lg:{default/"
	global []string // by shard
}

// New validates the configuration and builds the policy. The error is [Errors]:
// all mistakes at once. c is copied; HashAccount is called only here.
func New(c Config) (*Policy, error) {
	c = complete(c)
	if errs := validate(&c); len(errs) > 0 {
		return nil, errs
	}
	p := build(c, 1)
	p.local = p
	if c.Instances > 1 || c.Shards {
		alone := c
		alone.Shards = false
		p.local = build(alone, int64(c.Instances))
		p.local.local = p.local
	}
	return p, nil
}

// complete returns a copy of c that shares nothing with it, with words left out
// and standard routes filled in.
func complete(c Config) Config {
	orWord := func(word *string, other string) {
		if *word == "" {
			*word = other
		}
	}
	orWord(&c.Mode, Enforce)

	realms := []string{DefaultRealm}
	for _, r := range c.Realms {
		if !slices.Contains(realms, r) {
			realms = append(realms, r)
		}
	}
	c.Realms = realms

	routes := standardRoutes()
	maps.Copy(routes, c.Routes)
	for name, r := range routes {
		orWord(&r.Success, SuccessFull)
		routes[name] = r
	}
	c.Routes = routes

	for i := range limCount {
		l := c.Limits.at(i)
		orWord(&l.Mode, Enforce)
		orWord(&l.OnExhausted, "deny")
		if l.Backoff != nil {
			b := *l.Backoff
			l.Backoff = &b
		}
	}
	c.Overrides = slices.Clone(c.Overrides)
	return c
}

// build works out a policy for one of so many instances. c is valid.
func build(c Config, instances int64) *Policy {
	p := &Policy{
		config:   c,
		realms:   make(map[string]realm, len(c.Realms)),
		cost:     dearest(c.Routes).cost,
		shards:   1,
		remember: store.Micros(c.Remember),
		ttl:      store.Micros(c.AttemptTTL),
	}
	if c.Shards {
		p.shards = uint32(c.Limits.Global.Shards)
	}
	for _, name := range c.Realms {
		p.realms[name] = newRealm(name, p.shards)
	}
	challenged := mode(c.Mode, c.Limits.Challenged.Mode) != Off
	for i := range limCount {
		l := c.Limits.at(i)
		p.limits[i] = compiled{
			spec:      &specs[i],
			mode:      mode(c.Mode, l.Mode),
			challenge: challenged && l.OnExhausted == "challenge",
			grows:     l.PerUser > 0,
			sizes:     p.sizes(i, nil, instances),
		}
		if l.OnExhausted == "challenge" && !challenged {
			p.warnings = append(p.warnings, specs[i].path+".on_exhausted: challenge has no effect while limits.challenged is off")
		}
	}
	for i := range c.Overrides {
		o := &c.Overrides[i]
		end, _ := o.end() // validated
		if !end.IsZero() && !c.Now.Before(end) {
			p.warnings = append(p.warnings, fmt.Sprintf("overrides[%d]: expired on %s and is ignored: %s", i, o.Expires, o.Reason))
			p.expired++
			continue
		}
		if !end.IsZero() && (p.expiry.IsZero() || end.Before(p.expiry)) {
			p.expiry = end
		}
		for _, t := range o.targets() {
			v := o.compile(&c)
			v.sizes = p.sizes(t, o, instances)
			p.prefixed = p.prefixed || v.prefix.IsValid()
			p.limits[t].overrides = append(p.limits[t].overrides, v)
		}
	}
	return p
}

// sizes returns the sizes of limit i elsewhere and in hosting networks, under
// override o unless that is nil. A capacity that an override names is meant as
// it stands, so hosting does not scale it.
func (p *Policy) sizes(i limit, o *Override, instances int64) (sizes [2]size) {
	c := &p.config
	settings, reason, cost := *c.Limits.at(i), "", int64(1)
	if o != nil {
		settings, reason = o.apply(settings), o.Reason
	}
	if specs[i].routed {
		cost = p.cost
		if r, ok := c.Routes[ruleRoute(o)]; ok {
			cost = r.Cost
		}
	}
	for hosting := range sizes {
		l := exact(&settings)
		if hosting == 1 && specs[i].level != 0 && (o == nil || o.Capacity == 0) {
			l = shrink(l, decimal(c.HostingScale), cost)
		}
		if specs[i].sharded {
			people := l.PerUser
			l = split(l, int64(p.shards), cost)
			l.PerUser = people // a shard counts its own accounts only
		}
		if instances > 1 {
			l = bounded(split(l, instances, cost), settings.Backoff, cost)
		}
		sizes[hosting] = forms(l, cost, reason)
	}
	return sizes
}

// ruleRoute returns the route that the override is bound to, "" for none.
func ruleRoute(o *Override) string {
	if o == nil {
		return ""
	}
	return o.Match.Route
}

// mode combines the mode of all limits with that of one.
func mode(all, one string) string {
	switch {
	case all == Off || one == Off:
		return Off
	case all == LogOnly || one == LogOnly:
		return LogOnly
	}
	return Enforce
}

func newRealm(name string, shards uint32) realm {
	r := realm{prefix: "lg:{" + name + "/"}
	if shards <= 1 {
		r.global = []string{"lg:{" + name + "}:g"}
		return r
	}
	for i := range shards {
		r.global = append(r.global, "lg:{"+name+":"+strconv.FormatUint(uint64(i), 10)+"}:g")
	}
	return r
}
