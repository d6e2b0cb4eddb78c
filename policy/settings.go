package policy

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Local returns the policy for one instance that has lost its store and decides
// alone: every limit divided by the number of instances, rounded up, never
// below the largest cost, and refilling slower by as much, within the bounds
// that hold for every limit. It is built by [New] and costs nothing.
func (p *Policy) Local() *Policy { return p.local }

// Route returns the named route, its Success filled in.
func (p *Policy) Route(name string) (Route, bool) {
	r, ok := p.config.Routes[name]
	return r, ok
}

// Realm reports whether there is a realm of that name.
func (p *Policy) Realm(name string) bool {
	_, ok := p.realms[name]
	return ok
}

// Routes returns the names of all routes, sorted.
func (p *Policy) Routes() []string { return slices.Sorted(maps.Keys(p.config.Routes)) }

// Realms returns the names of all realms, "default" first.
func (p *Policy) Realms() []string { return slices.Clone(p.config.Realms) }

// Mode returns enforce, log_only or off: the mode of all limits.
func (p *Policy) Mode() string { return p.config.Mode }

// Remember returns how long a network stays familiar.
func (p *Policy) Remember() time.Duration { return p.config.Remember }

// AttemptTTL returns how long an attempt may wait for its report.
func (p *Policy) AttemptTTL() time.Duration { return p.config.AttemptTTL }

// DeviceTTL returns how long a device token is valid.
func (p *Policy) DeviceTTL() time.Duration { return p.config.DeviceTTL }

// SupportURL returns where users ask for more, "" for nowhere.
func (p *Policy) SupportURL() string { return p.config.SupportURL }

// Warnings returns what is allowed but probably not meant: overrides that have
// expired, challenges that nothing limits.
func (p *Policy) Warnings() []string { return slices.Clone(p.warnings) }

// NextExpiry returns the moment at which the next override expires, the zero
// time for none. A Policy reads no clock: build a new one then.
func (p *Policy) NextExpiry() time.Time { return p.expiry }

// CheckPools returns [Errors] naming the overrides that match a pool for which
// known is false: they would never hold. Pools are not part of a [Config].
func (p *Policy) CheckPools(known func(name string) bool) error {
	var e Errors
	for i := range p.config.Overrides {
		m := &p.config.Overrides[i].Match
		if _, pool, err := m.network(); err == nil && pool != "" && !known(pool) {
			e.add(fmt.Sprintf("overrides[%d].match.network", i), "there is no pool %q", pool)
		}
	}
	if len(e) == 0 {
		return nil
	}
	return e
}
