package config

import (
	"time"

	"loginguard/policy"
)

// Default returns the configuration of a service that was told nothing. What
// decides attempts comes from [policy.Defaults]; only what surrounds the
// decision has its defaults here.
func Default() *Config {
	p := policy.Defaults()
	c := &Config{
		Mode:       p.Mode,
		SupportURL: p.SupportURL,
		Server: Server{
			API:           APIListener{Listen: "127.0.0.1:8080"},
			Admin:         AdminListener{Listen: "127.0.0.1:8081"},
			MaxInFlight:   2048,
			ShutdownGrace: 15 * time.Second,
			Readiness:     ReadinessProcess,
		},
		ClientAddress: ClientAddress{Header: "x-forwarded-for"},
		Store:         Store{URL: "memory:", Timeout: 50 * time.Millisecond, OnFailure: "closed", Instances: p.Instances},
		AttemptTTL:    p.AttemptTTL,
		Familiar:      Familiar{Remember: p.Remember, Sources: p.Sources},
		Device:        Device{TTL: p.DeviceTTL},
		Routes:        make(map[string]Route, len(p.Routes)),
		Limits:        defaultLimits(p.Limits),
		Networks:      Networks{Hosting: Hosting{Scale: p.HostingScale}},
		Front:         Front{Realm: policy.DefaultRealm, PassThrough: true},
		Events:        Events{Webhook: Webhook{Kinds: defaultKinds()}},
		Log:           Log{Level: "info", Format: FormatJSON},
	}
	for name, r := range p.Routes {
		route := Route{Cost: r.Cost, Success: r.Success, OnFailure: r.OnFailure}
		if r.NoAccount {
			route.Account = noAccount
		}
		c.Routes[name] = route
	}
	return c
}

func defaultLimits(l policy.Limits) Limits {
	return Limits{
		Account:  accountLimit(l.Account),
		Device:   accountLimit(l.Device),
		Familiar: accountLimit(l.Familiar),
		Network: NetworkLimit{
			Host:   HostLimit{IPv4: 32, IPv6: 64, SharedLimit: sharedLimit(l.Host)},
			Site:   SiteLimit{IPv6: 56, SharedLimit: sharedLimit(l.Site)},
			Subnet: HostLimit{IPv4: 24, IPv6: 48, SharedLimit: sharedLimit(l.Subnet)},
		},
		Pool:       sharedLimit(l.Pool),
		Global:     GlobalLimit{SharedLimit: sharedLimit(l.Global), Shards: l.Global.Shards},
		Password:   plainLimit(l.Password),
		Repeat:     plainLimit(l.Repeat),
		Challenged: plainLimit(l.Challenged),
	}
}

// plainLimit spells out what the policy leaves empty, so that the effective
// configuration can be printed without a gap.
func plainLimit(l policy.Limit) PlainLimit {
	p := PlainLimit{Mode: l.Mode, Capacity: l.Capacity, Refill: l.Refill, OnExhausted: l.OnExhausted}
	if p.Mode == "" {
		p.Mode = policy.Enforce
	}
	if p.OnExhausted == "" {
		p.OnExhausted = "deny"
	}
	return p
}

func sharedLimit(l policy.Limit) SharedLimit {
	return SharedLimit{PlainLimit: plainLimit(l), PerUser: l.PerUser, MaxCapacity: l.MaxCapacity}
}

func accountLimit(l policy.Limit) AccountLimit {
	a := AccountLimit{PlainLimit: plainLimit(l)}
	if l.Backoff != nil {
		a.Backoff = Backoff(*l.Backoff)
	}
	return a
}
