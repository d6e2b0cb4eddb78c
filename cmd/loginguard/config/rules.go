package config

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"loginguard/guard"
	"loginguard/keys"
	"loginguard/netprefix"
	"loginguard/policy"
)

// Rules builds everything a decision depends on. Nothing of it is shared with
// earlier Rules, so a reload swaps them in one step. Account names in overrides
// are hashed with ring; now decides which overrides have expired. List files
// are read again: the error, which Load would have returned as [Mistakes], is
// about what changed since.
func (c *Config) Rules(ring *keys.Ring, now time.Time) (guard.Rules, error) {
	clients, err := netprefix.NewResolver(c.resolver())
	if err != nil {
		return guard.Rules{}, fmt.Errorf("client address: %w", err)
	}
	networks, err := netprefix.NewTable(c.table())
	if err != nil {
		return guard.Rules{}, fmt.Errorf("networks: %w", err)
	}
	names, err := keys.NewCanonicaliser(c.emailRules())
	if err != nil {
		return guard.Rules{}, fmt.Errorf("identity: %w", err)
	}
	p, err := policy.New(c.policy(ring, names, now))
	if err != nil {
		return guard.Rules{}, fmt.Errorf("policy: %w", err)
	}
	return guard.Rules{Policy: p, Networks: networks, Clients: clients, Names: names}, nil
}

// validateRules builds the rules once for the complaints of the packages that
// will use them, and gives each complaint its line.
func (r *report) validateRules(c *Config, now time.Time) {
	_, err := netprefix.NewResolver(c.resolver())
	r.networkMistakes(err)
	if err == nil {
		r.hintFamilies(c.ClientAddress)
	}
	_, err = netprefix.NewTable(c.table())
	r.networkMistakes(err)
	r.validateLevels(c.Limits.Network)

	names, err := keys.NewCanonicaliser(c.emailRules())
	r.emailMistakes(err)
	ring, _ := c.Ring()
	p, err := policy.New(c.policy(ring, names, now))
	var mistakes policy.Errors
	if errors.As(err, &mistakes) {
		for _, m := range mistakes {
			r.wrong(m.Path, "%s", m.Msg)
		}
	} else if err != nil {
		r.wrong("", "%v", err)
	}
	if err == nil {
		r.warnings = append(r.warnings, p.Warnings()...)
	}
}

// networkMistakes takes over what netprefix complains about: a key of the
// configuration, or a line of a list file.
func (r *report) networkMistakes(err error) {
	var faults netprefix.Errors
	if !errors.As(err, &faults) {
		if err != nil {
			r.wrong("networks", "%v", err)
		}
		return
	}
	for _, f := range faults {
		path := f.Path
		f.Path = ""
		r.wrong(path, "%s", f.Error())
	}
}

// emailMistakes takes over what keys complains about.
func (r *report) emailMistakes(err error) {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		if err != nil {
			r.wrong("identity.email", "%v", err)
		}
		return
	}
	for _, e := range joined.Unwrap() {
		var rule *keys.RuleError
		if errors.As(e, &rule) {
			r.wrong(item("identity.email", rule.Rule)+"."+rule.Field, "%s", rule.Reason)
		} else {
			r.wrong("identity.email", "%v", e)
		}
	}
}

// validateLevels refuses to switch off all levels: to netprefix, no lengths at
// all mean its own defaults.
func (r *report) validateLevels(n NetworkLimit) {
	if n.Host.IPv4 == 0 && n.Host.IPv6 == 0 && n.Site.IPv6 == 0 && n.Subnet.IPv4 == 0 && n.Subnet.IPv6 == 0 {
		r.wrong("limits.network", "no level has a length: no address would have a network limit")
	}
}

// hintFamilies warns of proxies in one address family only. A proxy that
// connects by the other is then taken for the client, and all who come through
// it share its limits.
func (r *report) hintFamilies(c ClientAddress) {
	var v4, v6 bool
	for _, s := range c.TrustedProxies {
		if p, err := netprefix.ParsePrefix(s); err == nil && p.Addr().Is4() {
			v4 = true
		} else if err == nil {
			v6 = true
		}
	}
	if c.Hops == 0 || v4 == v6 {
		return
	}
	there, missing := "IPv4", "IPv6"
	if v6 {
		there, missing = missing, there
	}
	r.warnings = append(r.warnings, fmt.Sprintf("client_address.trusted_proxies lists only %s: a proxy that connects by %s "+
		"would be taken for the client itself", there, missing))
}

func (c *Config) resolver() netprefix.ResolverConfig {
	a := c.ClientAddress
	return netprefix.ResolverConfig{Hops: a.Hops, Trusted: a.TrustedProxies, Header: a.Header, NAT64: a.NAT64}
}

func (c *Config) table() netprefix.TableConfig {
	n, l := c.Networks, c.Limits.Network
	t := netprefix.TableConfig{
		Host:    netprefix.LevelBits{IPv4: l.Host.IPv4, IPv6: l.Host.IPv6},
		Site:    netprefix.LevelBits{IPv6: l.Site.IPv6},
		Subnet:  netprefix.LevelBits{IPv4: l.Subnet.IPv4, IPv6: l.Subnet.IPv6},
		Exempt:  netprefix.Blocks(n.Exempt),
		Hosting: netprefix.Blocks{CIDRs: n.Hosting.CIDRs, Files: n.Hosting.Files},
		Unnamed: netprefix.Blocks{Files: n.PoolFiles},
		Trusted: c.ClientAddress.TrustedProxies,
	}
	for _, p := range n.Pools {
		t.Pools = append(t.Pools, netprefix.NamedBlocks{Name: p.Name, Blocks: netprefix.Blocks{CIDRs: p.CIDRs, Files: p.Files}})
	}
	return t
}

func (c *Config) emailRules() []keys.EmailRule {
	var rules []keys.EmailRule
	for _, e := range c.Identity.Email {
		rules = append(rules, keys.EmailRule(e))
	}
	return rules
}

// Realms returns the realms that exist: default, and those that a caller or
// the front uses.
func (c *Config) Realms() []string {
	realms := []string{policy.DefaultRealm, c.Front.Realm}
	for _, caller := range c.Callers {
		realms = append(realms, caller.Realms...)
	}
	slices.Sort(realms)
	realms = slices.Compact(realms)
	// Before validation ends there may be bad names; they were complained of
	// where they stand.
	return slices.DeleteFunc(realms, func(s string) bool { return !validName.MatchString(s) })
}

// policy lays the configuration out as the policy wants it. Without names,
// because their rules are wrong, no account can be matched.
func (c *Config) policy(ring *keys.Ring, names *keys.Canonicaliser, now time.Time) policy.Config {
	p := policy.Config{
		Mode: c.Mode, Realms: c.Realms(), AttemptTTL: c.AttemptTTL,
		Remember: c.Familiar.Remember, Sources: c.Familiar.Sources, DeviceTTL: c.Device.TTL,
		Routes:       make(map[string]policy.Route, len(c.Routes)),
		Limits:       c.Limits.policy(),
		HostingScale: c.Networks.Hosting.Scale,
		Instances:    c.Store.Instances,
		Shards:       c.Store.Cluster(),
		SupportURL:   c.SupportURL,
		Now:          now,
		HashAccount: func(realm, account string) string {
			if names == nil {
				return ""
			}
			canonical := names.Canonical(account)
			if canonical == "" {
				return ""
			}
			return ring.Account(realm, canonical)
		},
	}
	for name, r := range c.Routes {
		p.Routes[name] = policy.Route{Cost: r.Cost, Success: r.Success, NoAccount: r.Account == noAccount, OnFailure: r.OnFailure}
	}
	for _, o := range c.Overrides {
		p.Overrides = append(p.Overrides, policy.Override{Limit: o.Limit, Level: o.Level, Match: policy.Match(o.Match),
			Capacity: o.Capacity, Refill: o.Refill, Reason: o.Reason, Expires: o.Expires})
	}
	return p
}

func (l Limits) policy() policy.Limits {
	return policy.Limits{
		Account: l.Account.policy(), Device: l.Device.policy(), Familiar: l.Familiar.policy(),
		Host: l.Network.Host.policy(), Site: l.Network.Site.policy(), Subnet: l.Network.Subnet.policy(),
		Pool: l.Pool.policy(), Global: l.Global.policy(),
		Password: l.Password.policy(), Repeat: l.Repeat.policy(), Challenged: l.Challenged.policy(),
	}
}

func (l PlainLimit) policy() policy.Limit {
	return policy.Limit{Mode: l.Mode, Capacity: l.Capacity, Refill: l.Refill, OnExhausted: l.OnExhausted}
}

func (l AccountLimit) policy() policy.Limit {
	p, b := l.PlainLimit.policy(), policy.Backoff(l.Backoff)
	p.Backoff = &b
	return p
}

func (l SharedLimit) policy() policy.Limit {
	p := l.PlainLimit.policy()
	p.PerUser, p.MaxCapacity = l.PerUser, l.MaxCapacity
	return p
}

func (l GlobalLimit) policy() policy.Limit {
	p := l.SharedLimit.policy()
	p.Shards = l.Shards
	return p
}
