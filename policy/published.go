package policy

// Published is one limit as users of the service may read it.
type Published struct {
	Name, Level string // Level of a network limit, else ""
	Purpose     string // "protection: ..."
	Scope       string // what one bucket is about
	Capacity    int64  // tokens in a full bucket
	Refill      string // like 10/6h
	Backoff     string // first and longest wait, like 30s..1h; "" for none
	Mode        string // counting the mode of all limits in
	MaxCapacity int64  // to which it grows with the people who sign in, 0 when it does not
	Raise       string // how to ask for more
}

// Published returns the eleven limits as they are configured, before hosting,
// overrides and shards, in a fixed order.
func (p *Policy) Published() []Published {
	raise := "ask those who run this service: an entry under overrides raises a limit for somebody"
	if u := p.config.SupportURL; u != "" {
		raise = "ask at " + u + ": an entry under overrides raises a limit for somebody"
	}
	list := make([]Published, 0, limCount)
	for i := range limCount {
		s, l := &specs[i], p.config.Limits.at(i)
		e := Published{
			Name: s.name, Level: s.levelName(), Purpose: s.purpose, Scope: s.scope,
			Capacity: l.Capacity, Refill: l.Refill.String(), Mode: p.limits[i].mode, Raise: raise,
		}
		if b := l.Backoff; b != nil {
			e.Backoff = span(b.Base) + ".." + span(b.Max)
		}
		if l.PerUser > 0 {
			e.MaxCapacity = l.MaxCapacity
		}
		list = append(list, e)
	}
	return list
}
