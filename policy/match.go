package policy

import (
	"net/netip"

	"loginguard/netprefix"
)

// override is an [Override] ready to be matched, for one limit.
type override struct {
	realm, route, caller string            // "" matches all
	accounts             map[string]string // realm -> hash; nil matches all
	prefix               netip.Prefix      // invalid matches all
	pool                 string            // "" matches all
	sizes                [2]size           // elsewhere, hosting
}

// compile makes o ready; the sizes are left to the caller. o is valid.
func (o *Override) compile(c *Config) override {
	v := override{realm: o.Match.Realm, route: o.Match.Route, caller: o.Match.Caller}
	if o.Match.Account != "" {
		v.accounts = o.Match.hashes(c)
	}
	if o.Match.Network != "" {
		v.prefix, v.pool, _ = o.Match.network() // validated
	}
	return v
}

// matches reports whether the override holds for an attempt's bucket at level,
// 0 for a limit that has none.
func (o *override) matches(v *view, level netprefix.Level) bool {
	a := v.Attempt
	return (o.realm == "" || o.realm == a.Realm) &&
		(o.route == "" || o.route == a.Route) &&
		(o.caller == "" || o.caller == a.Caller) &&
		(o.accounts == nil || a.Account != "" && o.accounts[a.Realm] == a.Account) &&
		(o.pool == "" || inPool(a.Networks, o.pool)) &&
		(!o.prefix.IsValid() || v.within(level, o.prefix))
}

// inPool reports whether the attempt comes from the named pool. It holds for
// every level: a host in a pool is within it.
func inPool(networks []netprefix.Network, name string) bool {
	for _, n := range networks {
		if n.Level == netprefix.Pool && n.Name == name {
			return true
		}
	}
	return false
}

// within reports whether the attempt's network at level (any network, when 0)
// lies within the prefix or is equal to it. A subnet does not lie within one of
// its hosts, and a named pool, being many blocks, lies within no prefix.
func (v *view) within(level netprefix.Level, outer netip.Prefix) bool {
	for i, n := range v.Networks {
		if level != 0 && n.Level != level || i >= len(v.prefixes) {
			continue
		}
		if p := v.prefixes[i]; p.IsValid() && p.Bits() >= outer.Bits() && outer.Contains(p.Addr()) {
			return true
		}
	}
	return false
}

// parse reads the names of the attempt's networks, once for all overrides.
// Those of named pools stay invalid.
func (v *view) parse() {
	for i, n := range v.Networks[:min(len(v.Networks), len(v.prefixes))] {
		v.prefixes[i], _ = netip.ParsePrefix(n.Name) // the zero value is invalid
	}
}
