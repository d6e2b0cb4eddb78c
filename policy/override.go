package policy

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"loginguard/netprefix"
)

// targets returns the limits that the override names: one, or every level of
// the networks. Empty means that there is no such limit.
func (o *Override) targets() []limit {
	var found []limit
	for i := range limCount {
		s := &specs[i]
		level := s.levelName()
		// In the configuration pool stands beside network, so people write
		// it as a limit of its own.
		named := s.name == o.Limit || s.level == netprefix.Pool && o.Limit == level
		if named && (o.Level == "" || o.Level == level) {
			found = append(found, i)
		}
	}
	return found
}

// apply returns the settings of a limit with those of the override in place.
func (o *Override) apply(l Limit) Limit {
	if o.Capacity > 0 {
		l.Capacity = o.Capacity
		if l.PerUser > 0 {
			l.MaxCapacity = max(l.MaxCapacity, o.Capacity)
		}
	}
	if o.Refill != (Rate{}) {
		l.Refill = o.Refill
	}
	return l
}

// end returns the moment at which the override stops to hold, the zero time for
// never. The last day counts in full, in UTC.
func (o *Override) end() (time.Time, error) {
	if o.Expires == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.DateOnly, o.Expires)
	if err != nil {
		return time.Time{}, err
	}
	return t.AddDate(0, 0, 1), nil
}

// network reads match.network: a prefix, or the name of a pool. A bare address
// also has the form of a name and is taken for an address.
func (m *Match) network() (netip.Prefix, string, error) {
	if _, err := netip.ParseAddr(m.Network); err != nil && !strings.ContainsAny(m.Network, "/:") {
		if !validName(m.Network) {
			return netip.Prefix{}, "", fmt.Errorf("%q is neither a CIDR nor the name of a pool", m.Network)
		}
		return netip.Prefix{}, m.Network, nil
	}
	p, err := netprefix.ParsePrefix(m.Network)
	return p, "", err
}

// given returns the members that are set, and their names in order.
func (m *Match) given() (members, []string) {
	var set members
	var names []string
	for _, f := range []struct {
		bit         members
		name, value string
	}{
		{byNetwork, "network", m.Network}, {byRealm, "realm", m.Realm}, {byRoute, "route", m.Route},
		{byCaller, "caller", m.Caller}, {byAccount, "account", m.Account},
	} {
		if f.value != "" {
			set |= f.bit
			names = append(names, f.name)
		}
	}
	return set, names
}

// validateOverride checks override i; sound tells which limits have sizes that
// it can be combined with. An expired one is checked as well, or a file would
// turn valid and invalid with the calendar.
func validateOverride(e *Errors, c *Config, i int, dear price, sound *[limCount]bool) {
	o, path := &c.Overrides[i], fmt.Sprintf("overrides[%d]", i)
	targets := o.targets()
	if len(targets) == 0 {
		refuseTarget(e, path, o)
	}
	validateMatch(e, c, path+".match", o, targets)

	sized := true
	switch {
	case o.Capacity == 0 && o.Refill == (Rate{}):
		e.add(path, "needs capacity or refill, or it changes nothing")
		sized = false
	case o.Capacity != 0:
		sized = e.count(path+".capacity", o.Capacity, 1, maxTokens)
	}
	if o.Refill != (Rate{}) {
		sized = validateRate(e, path+".refill", o.Refill) && sized
	}
	if n := len(o.Reason); n == 0 {
		e.add(path+".reason", "is required: who asked for this and why")
	} else if n > 256 {
		e.add(path+".reason", "must be at most 256 bytes, is %d", n)
	}
	if _, err := o.end(); err != nil {
		e.add(path+".expires", "must be a day like 2027-01-31, is %q", o.Expires)
	}
	if r, ok := c.Routes[o.Match.Route]; ok {
		dear = price{max(1, r.Cost), o.Match.Route} // no other route is charged at this size
	}
	told := len(*e)
	for _, t := range targets {
		// A mistake on one level is mostly one on all: tell it once.
		if sized && sound[t] && len(*e) == told {
			l := o.apply(*c.Limits.at(t))
			fits(e, c, t, dear, &l, path)
		}
	}
}

// refuseTarget says which of limit and level is wrong.
func refuseTarget(e *Errors, path string, o *Override) {
	var names, levels []string
	for i := range limCount {
		if n := specs[i].name; !slices.Contains(names, n) {
			names = append(names, n)
		}
		if specs[i].level != 0 {
			levels = append(levels, specs[i].levelName())
		}
	}
	switch {
	case !slices.Contains(names, o.Limit) && o.Limit != "pool":
		e.word(path+".limit", o.Limit, names...)
	case o.Limit == "network":
		e.word(path+".level", o.Level, levels...)
	default:
		e.add(path+".level", "is for the limit network only, is %q", o.Level)
	}
}

func validateMatch(e *Errors, c *Config, path string, o *Override, targets []limit) {
	m := &o.Match
	if len(targets) > 0 {
		s := &specs[targets[0]]
		var allowed []string
		_, all := (&Match{"x", "x", "x", "x", "x"}).given()
		for bit, name := range all {
			if s.match&(1<<bit) != 0 {
				allowed = append(allowed, name)
			}
		}
		_, names := m.given()
		for _, name := range names {
			if !slices.Contains(allowed, name) {
				e.add(path+"."+name, "an override of %s may match %s only, since one bucket has one size",
					s.name, strings.Join(allowed, " or "))
			}
		}
	}
	if m.Network != "" {
		if _, _, err := m.network(); err != nil {
			e.add(path+".network", "%v", err)
		}
	}
	if m.Realm != "" && !slices.Contains(c.Realms, m.Realm) {
		e.word(path+".realm", m.Realm, c.Realms...)
	}
	if _, ok := c.Routes[m.Route]; m.Route != "" && !ok {
		e.add(path+".route", "there is no route %q", m.Route)
	}
	if m.Caller != "" {
		e.name(path+".caller", m.Caller)
	}
	if m.Account != "" && len(m.hashes(c)) == 0 {
		e.add(path+".account", "is empty in its canonical form, as a name of only blanks is")
	}
}

// hashes returns the account's hash in each realm that the override holds for.
func (m *Match) hashes(c *Config) map[string]string {
	found := make(map[string]string)
	for _, realm := range c.Realms {
		if c.HashAccount == nil || m.Realm != "" && m.Realm != realm {
			continue
		}
		if h := c.HashAccount(realm, m.Account); h != "" {
			found[realm] = h
		}
	}
	return found
}
