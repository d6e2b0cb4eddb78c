package handlers

import (
	"loginguard/guard"
	"loginguard/policy"
)

// A counter that appears with its first event has no value before it, and
// Prometheus's increase() sees no rise in it: the alert about the one event
// that matters never fires. So whatever can be listed beforehand begins at 0.

// mostPairs bounds the realms times the routes for which series are made before
// anything happened. With more of them the numbers appear with their events.
const mostPairs = 256

// refusedCauses are the words for a question that could not be decided,
// whoever asked it. A word that is in no list is counted all the same.
var refusedCauses = []string{
	"forbidden", "host", "internal", "no_key", "origin", "peer", "realm", guard.ReasonStore, "value", "wrong_key",
}

// Words of one protocol beside those of all: a reverse proxy sends headers, a
// mail server a command and a body.
var (
	forwardAuthCauses = []string{"account"}
	wforceCauses      = []string{
		"command", "conflict", "content_encoding", "content_type", "framing", "json", "method", guard.ReasonOverloaded, "path", "proxy",
		"role", "size",
	}
)

// begin makes the series whose labels are fixed words.
func (m *Metrics) begin() {
	for _, class := range guard.StoreClasses {
		m.storeErrors.WithLabelValues(m.classes.word(class))
	}
	m.beginRefused(wforce{}, wforceCauses)
	for _, p := range profiles {
		m.beginRefused(p, forwardAuthCauses)
	}
}

func (m *Metrics) beginRefused(d dialect, own []string) {
	for _, causes := range [][]string{refusedCauses, own} {
		for _, cause := range causes {
			m.refused.WithLabelValues(d.name(), cause)
		}
	}
}

// expect makes the series whose labels a configuration names. Those of a
// configuration before stay as they are: what was counted was counted.
func (m *Metrics) expect(p *policy.Policy, callers []string) {
	for _, name := range callers {
		m.unreported.WithLabelValues(name)
	}
	if p == nil {
		return
	}
	for _, l := range p.Modes() {
		m.recalled.WithLabelValues(l.Limit, l.Level)
		m.wouldDeny.WithLabelValues(l.Limit, l.Level)
		m.wouldDenyRight.WithLabelValues(l.Limit, l.Level)
	}
	realms, routes := p.Realms(), p.Routes()
	if len(realms)*len(routes) > mostPairs {
		return
	}
	for _, realm := range realms {
		m.exempt.WithLabelValues(realm)
		for _, route := range routes {
			m.degraded.WithLabelValues(realm, route)
			m.decisions.WithLabelValues(realm, route, string(guard.Allow), "", "")
			// Those that are alerted on, since they are not about one client.
			for _, limit := range []string{"global", guard.ReasonStore, guard.ReasonOverloaded} {
				m.decisions.WithLabelValues(realm, route, string(guard.Deny), limit, "")
			}
		}
	}
}

// names are the callers that a configuration has, as they are counted.
func (r *running) names() []string {
	var list []string
	for _, c := range r.callers {
		list = append(list, c.Name)
	}
	if r.loopback {
		list = append(list, loopbackName)
	}
	if r.front != nil {
		list = append(list, frontName)
	}
	return list
}
