package handlers

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"loginguard/guard"
)

// What is read of the policy in force at the time of a scrape, so that it
// changes in the same moment as the decisions do.
var (
	descLimitMode = prometheus.NewDesc("loginguard_limit_mode",
		"Always 1. mode is what the limit does now: enforce, log_only or off. Join it to decisions_total and would_deny_total by limit and level.",
		[]string{"limit", "level", "mode"}, nil)
	descOverrides = prometheus.NewDesc("loginguard_overrides",
		"Overrides in the configuration: active, or expired and ignored.", []string{"state"}, nil)
	descNextExpiry = prometheus.NewDesc("loginguard_override_next_expiry_timestamp_seconds",
		"When the next override expires, Unix time; 0 when none will.", nil, nil)
)

// rulesCollector tells what the running policy says. It keeps nothing: a
// reload leaves no series of the policy before.
type rulesCollector struct{ m *Metrics }

// Describe implements prometheus.Collector.
func (rulesCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- descLimitMode
	ch <- descOverrides
	ch <- descNextExpiry
}

// Collect implements prometheus.Collector.
func (c rulesCollector) Collect(ch chan<- prometheus.Metric) {
	g := c.m.engine.Load()
	if g == nil {
		return
	}
	p := (*g).Rules().Policy
	for _, m := range p.Modes() {
		ch <- prometheus.MustNewConstMetric(descLimitMode, prometheus.GaugeValue, 1, m.Limit, m.Level, m.Mode)
	}
	active, expired := p.Overrides()
	ch <- prometheus.MustNewConstMetric(descOverrides, prometheus.GaugeValue, float64(active), "active")
	ch <- prometheus.MustNewConstMetric(descOverrides, prometheus.GaugeValue, float64(expired), "expired")
	next := 0.0
	if at := p.NextExpiry(); !at.IsZero() {
		next = float64(at.Unix())
	}
	ch <- prometheus.MustNewConstMetric(descNextExpiry, prometheus.GaugeValue, next)
}

// What is read of the store, in the background, every ten seconds.
var (
	descPopulation = prometheus.NewDesc("loginguard_population",
		"Accounts that signed in to the realm this week or last, an estimate within a few per cent. It sizes the global limit.",
		[]string{"realm"}, nil)
	descCapacity = prometheus.NewDesc("loginguard_global_capacity",
		"Tokens of the full global limit, the population counted in.", []string{"realm"}, nil)
	descRemaining = prometheus.NewDesc("loginguard_global_remaining",
		"Tokens left of the global limit. At 0 strangers are answered 503.", []string{"realm"}, nil)
)

// censusFresh is how old a reading may be to be shown: with an unreachable
// store, or after a realm was taken out, no number is better than an old one.
const censusFresh = time.Minute

// census is the last reading of each realm, which the configuration names. The
// zero value is ready for use.
type census struct {
	mu     sync.Mutex
	realms map[string]counted
}

type counted struct {
	guard.Census
	at time.Time
}

// set notes a reading, and drops those of realms that are gone.
func (c *census) set(realm string, r guard.Census, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.realms == nil {
		c.realms = make(map[string]counted)
	}
	for name, old := range c.realms {
		if now.Sub(old.at) > censusFresh {
			delete(c.realms, name)
		}
	}
	c.realms[realm] = counted{r, now}
}

// Describe implements prometheus.Collector.
func (*census) Describe(ch chan<- *prometheus.Desc) {
	ch <- descPopulation
	ch <- descCapacity
	ch <- descRemaining
}

// Collect implements prometheus.Collector.
func (c *census) Collect(ch chan<- prometheus.Metric) { c.collect(ch, time.Now()) }

func (c *census) collect(ch chan<- prometheus.Metric, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for realm, r := range c.realms {
		if now.Sub(r.at) > censusFresh {
			continue
		}
		ch <- prometheus.MustNewConstMetric(descCapacity, prometheus.GaugeValue, float64(r.Capacity), realm)
		ch <- prometheus.MustNewConstMetric(descRemaining, prometheus.GaugeValue, float64(r.Remaining), realm)
		if r.Population >= 0 {
			ch <- prometheus.MustNewConstMetric(descPopulation, prometheus.GaugeValue, float64(r.Population), realm)
		}
	}
}
