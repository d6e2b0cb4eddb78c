package handlers

import "slices"

// add counts attempts under the word of their decision.
func (v *verdicts) add(decision string, n float64) {
	switch decision {
	case "allow":
		v.Allow += n
	case "challenge":
		v.Challenge += n
	case "deny":
		v.Deny += n
	}
}

// add counts reports under their outcome.
func (c *reportCounts) add(outcome string, n float64) {
	switch outcome {
	case "success":
		c.Success += n
	case "failure":
		c.Failure += n
	case "cancelled":
		c.Cancelled += n
	case "repeated":
		c.Repeated += n
	}
}

// limitCounts counts the attempts that were decided so, by limit and level.
func (r reading) limitCounts(decision string) []limitCount {
	all := []limitCount{}
	for _, t := range r.by("decisions_total", "decision", "limit", "level") {
		if t.labels[0] == decision && t.value > 0 {
			all = append(all, limitCount{t.labels[1], t.labels[2], t.value})
		}
	}
	return all
}

// some leaves out what has not happened yet: counters begin at 0, and a row of
// noughts for each tells nobody anything.
func some(all []tally) []tally {
	return slices.DeleteFunc(all, func(t tally) bool { return t.value == 0 })
}

// routes counts the attempts of every realm and route that had one.
func (r reading) routes() []routeCount {
	all := []routeCount{}
	of := func(realm, route string) *routeCount {
		for i := range all {
			if all[i].Realm == realm && all[i].Route == route {
				return &all[i]
			}
		}
		all = append(all, routeCount{Realm: realm, Route: route})
		return &all[len(all)-1]
	}
	for _, t := range some(r.by("decisions_total", "realm", "route", "decision")) {
		of(t.labels[0], t.labels[1]).add(t.labels[2], t.value)
	}
	for _, t := range some(r.by("degraded_total", "realm", "route")) {
		of(t.labels[0], t.labels[1]).Degraded += t.value
	}
	return all
}

// logOnly reports on every limit that is log-only now, and on those that were
// at some time since the start.
func (r reading) logOnly(limits []limitStatus) []wouldDeny {
	all := []wouldDeny{}
	for _, l := range limits {
		w := wouldDeny{Limit: l.Limit, Level: l.Level, Mode: l.Mode}
		for _, n := range []struct {
			metric string
			to     *float64
		}{{"would_deny_total", &w.WouldDeny}, {"would_deny_then_success_total", &w.ThenSuccess}} {
			if v := r.at(n.metric, "limit", l.Limit, "level", l.Level); v != nil {
				*n.to = *v
			}
		}
		if l.Mode == "log_only" || w.WouldDeny > 0 {
			all = append(all, w)
		}
	}
	return all
}

// at adds up the series of a metric that have the labels given, as names and
// values; nil when there is none.
func (r reading) at(name string, labels ...string) *float64 {
	var sum *float64
series:
	for _, series := range r[name] {
		for i := 0; i+1 < len(labels); i += 2 {
			if label(series, labels[i]) != labels[i+1] {
				continue series
			}
		}
		if sum == nil {
			sum = new(float64)
		}
		*sum += number(series)
	}
	return sum
}

// moment returns a gauge that holds a time, nil when there is none: 0 stands
// for never.
func (r reading) moment(name string) *float64 {
	if at := r.gauge(name); at != nil && *at > 0 {
		return at
	}
	return nil
}

// latency judges a histogram by what came after an earlier reading of it.
func (s spread) latency(earlier []float64, window float64) latency {
	l := latency{Count: s.total(), Window: window}
	lately := s.since(earlier)
	l.P50, l.P99 = lately.quantile(.5), lately.quantile(.99)
	if n := len(s.bounds); n > 0 {
		l.Most = &s.bounds[n-1]
	}
	return l
}
