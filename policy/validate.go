package policy

import (
	"maps"
	"slices"
	"time"
)

const (
	day          = 24 * time.Hour
	maxRoutes    = 100
	maxCost      = 1000
	maxOverrides = 1000
)

// validate returns every mistake in c, whose routes are complete. The order
// follows the configuration file, so that two runs list the same.
func validate(c *Config) Errors {
	var e Errors
	e.word("mode", c.Mode, Enforce, LogOnly, Off)
	e.span("attempt_ttl", c.AttemptTTL, time.Second, time.Hour)
	e.span("familiar.remember", c.Remember, time.Hour, 365*day)
	e.count("familiar.sources", int64(c.Sources), 1, 32)
	e.span("device.ttl", c.DeviceTTL, time.Hour, 365*day)
	e.count("store.instances", int64(c.Instances), 1, 1000)
	for _, r := range c.Realms {
		e.name("realms", r)
	}
	validateRoutes(&e, c.Routes)

	dear := dearest(c.Routes)
	var sound [limCount]bool
	for i := range limCount {
		sound[i] = validateLimit(&e, &specs[i], c.Limits.at(i))
		if sound[i] {
			fits(&e, c, i, dear, c.Limits.at(i), "")
		}
	}
	if !(c.HostingScale > 0 && c.HostingScale <= 1) {
		e.add("networks.hosting.scale", "must be above 0 and at most 1, is %v", c.HostingScale)
	}
	if len(c.Overrides) > maxOverrides {
		e.add("overrides", "has %d entries, at most %d are allowed", len(c.Overrides), maxOverrides)
		return e
	}
	for i := range c.Overrides {
		validateOverride(&e, c, i, dear, &sound)
	}
	return e
}

func validateRoutes(e *Errors, routes map[string]Route) {
	if len(routes) > maxRoutes {
		e.add("routes", "has %d entries, at most %d are allowed", len(routes), maxRoutes)
	}
	for _, name := range slices.Sorted(maps.Keys(routes)) {
		r, path := routes[name], "routes."+name
		e.name(path, name)
		e.count(path+".cost", r.Cost, 1, maxCost)
		e.word(path+".success", r.Success, SuccessFull, SuccessRefund, SuccessNone)
		if r.OnFailure != "" {
			e.word(path+".on_failure", r.OnFailure, "closed", "open", "local")
		}
	}
}

// validateLimit checks each setting of one limit by itself, and says whether
// those that decide its size can be put together.
func validateLimit(e *Errors, s *spec, l *Limit) bool {
	e.word(s.path+".mode", l.Mode, Enforce, LogOnly, Off)
	sound := e.count(s.path+".capacity", l.Capacity, 1, maxTokens)
	sound = validateRate(e, s.path+".refill", l.Refill) && sound
	switch {
	case s.challenge:
		e.word(s.path+".on_exhausted", l.OnExhausted, "deny", "challenge")
	case l.OnExhausted != "deny":
		e.add(s.path+".on_exhausted", "must be deny, is %q: no challenge may stand in for %s", l.OnExhausted, s.name)
	}
	sound = validateGrowth(e, s, l) && sound
	if s.sharded {
		sound = e.count(s.path+".shards", int64(l.Shards), 1, 64) && sound
	} else if l.Shards != 0 {
		e.add(s.path+".shards", "is for global only")
	}
	if l.Backoff == nil {
		return sound
	}
	if !s.backoff {
		e.add(s.path+".backoff", "is for account, device and familiar only")
		return false
	}
	return validateBackoff(e, s.path+".backoff", l.Backoff) && sound
}

// validateGrowth checks what a population adds. The bound may lie below the
// capacity only where nothing is added.
func validateGrowth(e *Errors, s *spec, l *Limit) bool {
	if !s.grows {
		if l.PerUser != 0 {
			e.add(s.path+".per_user", "is for network, pool and global only")
		}
		if l.MaxCapacity != 0 {
			e.add(s.path+".max_capacity", "is for network, pool and global only")
		}
		return l.PerUser == 0 && l.MaxCapacity == 0
	}
	sound := e.number(s.path+".per_user", l.PerUser, 0, 100)
	path := s.path + ".max_capacity"
	switch {
	case l.PerUser == 0 && l.MaxCapacity == 0:
		return sound
	case l.PerUser > 0 && l.MaxCapacity < l.Capacity && l.Capacity <= maxTokens:
		e.add(path, "%d is below the capacity %d", l.MaxCapacity, l.Capacity)
		return false
	}
	return e.count(path, l.MaxCapacity, 1, maxTokens) && sound
}

// validateRate refuses a refill of more than one token in a microsecond or less
// than one in an hour.
func validateRate(e *Errors, path string, r Rate) bool {
	switch {
	case r.Tokens < 1 || r.Per <= 0:
		e.add(path, "must be at least one token in a span above 0, like 10/6h")
	case r.Tokens > int64(r.Per/time.Microsecond):
		e.add(path, "%s is more than one token in 1µs", r)
	case r.interval() > hour:
		e.add(path, "%s brings one token every %s, longer than 1h", r, span(micros(r.interval())))
	default:
		return true
	}
	return false
}

// validateBackoff checks the waits by themselves; whether they suit the refill
// is for fits to say.
func validateBackoff(e *Errors, path string, b *Backoff) bool {
	sound := e.span(path+".base", b.Base, time.Second, time.Hour)
	sound = e.number(path+".factor", b.Factor, 1, 10) && sound
	sound = e.span(path+".max", b.Max, time.Second, time.Hour) && sound
	sound = e.span(path+".forget", b.Forget, time.Second, 48*time.Hour) && sound
	if !sound {
		return false
	}
	if b.Base > b.Max {
		e.add(path+".base", "%s is above max %s", span(b.Base), span(b.Max))
		return false
	}
	if b.Base < b.Max && b.Factor == 1 {
		e.add(path+".factor", "must be above 1 where base %s is below max %s, or the wait never grows", span(b.Base), span(b.Max))
		return false
	}
	if climb(b) > maxWaits-1 {
		e.add(path+".factor", "%v needs more than %d steps from base %s to max %s", b.Factor, maxWaits, span(b.Base), span(b.Max))
		return false
	}
	return true
}
