package handlers

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

// status is the answer of GET /v1/status: the metrics, added up for people, and
// the policy that runs now. Counts are since the start of the process, of this
// instance alone. Members that are null could not be told.
type status struct {
	Version string  `json:"version"`
	Started string  `json:"started"` // RFC 3339
	Now     string  `json:"now"`
	Uptime  float64 `json:"uptime"` // seconds
	Mode    string  `json:"mode"`

	Attempts   verdicts       `json:"attempts"`
	Denials    []limitCount   `json:"denials"`    // by limit and level, and by reason
	Challenges []limitCount   `json:"challenges"` // asked for
	Routes     []routeCount   `json:"routes"`
	LogOnly    []wouldDeny    `json:"log_only"`
	Reports    reportCounts   `json:"reports"`
	Unreported []callerCount  `json:"unreported"`
	InFlight   *float64       `json:"in_flight"`
	Check      latency        `json:"check"`
	Store      storeStatus    `json:"store"`
	Reload     reloadStatus   `json:"reload"`
	Overrides  overrideStatus `json:"overrides"`
	Realms     []realmStatus  `json:"realms"` // of the policy, as are the names of routes
	RouteNames []string       `json:"route_names"`
	Limits     []limitStatus  `json:"limits"`
}

// verdicts counts attempts by how they were decided.
type verdicts struct {
	Allow     float64 `json:"allow"` // degraded ones included
	Challenge float64 `json:"challenge"`
	Deny      float64 `json:"deny"`
	Degraded  float64 `json:"degraded"` // allowed without a decision
}

// limitCount counts by limit. Limit is a reason, such as store_unavailable,
// where no limit denied.
type limitCount struct {
	Limit string  `json:"limit"`
	Level string  `json:"level"`
	Count float64 `json:"count"`
}

type routeCount struct {
	Realm string `json:"realm"`
	Route string `json:"route"`
	verdicts
}

// wouldDeny is the report about one log-only limit: whom it would have denied,
// and how many of those then signed in, that is, were people.
type wouldDeny struct {
	Limit       string  `json:"limit"`
	Level       string  `json:"level"`
	Mode        string  `json:"mode"` // now; it may be enforced by this time
	WouldDeny   float64 `json:"would_deny"`
	ThenSuccess float64 `json:"then_success"`
}

type reportCounts struct {
	Success   float64 `json:"success"`
	Failure   float64 `json:"failure"`
	Cancelled float64 `json:"cancelled"`
	Repeated  float64 `json:"repeated"`
}

type callerCount struct {
	Caller string  `json:"caller"`
	Count  float64 `json:"count"`
}

// latency is estimated from a histogram, over the window before now.
type latency struct {
	Count  float64  `json:"count"`  // since the start
	Window float64  `json:"window"` // seconds that the quantiles are about
	P50    *float64 `json:"p50"`    // seconds, null without an observation
	P99    *float64 `json:"p99"`
	Most   *float64 `json:"most"` // seconds; a quantile that equals it is at least that
}

type storeStatus struct {
	Up     bool         `json:"up"`
	Since  string       `json:"since"` // RFC 3339, of being up or down
	Calls  latency      `json:"calls"` // of attempts and reports, without those in the background
	Errors []classCount `json:"errors"`
}

type classCount struct {
	Class string  `json:"class"`
	Count float64 `json:"count"`
}

type reloadStatus struct {
	OK   bool     `json:"ok"`
	At   *float64 `json:"at"`   // Unix time of the last one that succeeded
	Hash *float64 `json:"hash"` // of the running configuration, as the log writes it
}

type overrideStatus struct {
	Active     *float64 `json:"active"`
	Expired    *float64 `json:"expired"`
	NextExpiry *float64 `json:"next_expiry"` // Unix time, null for none
}

type realmStatus struct {
	Realm      string   `json:"realm"`
	Population *float64 `json:"population"` // accounts that signed in lately
	Capacity   *float64 `json:"capacity"`   // of the limit global
	Remaining  *float64 `json:"remaining"`
}

type limitStatus struct {
	Limit       string `json:"limit"`
	Level       string `json:"level"`
	Mode        string `json:"mode"`
	Purpose     string `json:"purpose"`
	Capacity    int64  `json:"capacity"`
	MaxCapacity int64  `json:"max_capacity"` // 0 for one that does not grow
	Refill      string `json:"refill"`
	Backoff     string `json:"backoff"`
}

// status answers GET /v1/status. It needs no key, like /metrics, which says
// the same: it changes nothing and names no account and no address.
func (s *Server) status(c echo.Context) error {
	recordOf(c).silent = true
	r, err := s.metrics.read()
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, typeJSON, s.summary(r, time.Now()))
}

// pastStatus answers GET /v1/status/history with the last half hour.
func (s *Server) pastStatus(c echo.Context) error {
	recordOf(c).silent = true
	r, err := s.metrics.read()
	if err != nil {
		return err
	}
	p := s.history.past(r.checks().bounds, r.calls().bounds)
	p.Started = stamp(s.started)
	return answer(c, http.StatusOK, typeJSON, p)
}

// summary makes the status of a reading.
func (s *Server) summary(r reading, now time.Time) status {
	p := s.engine.Rules().Policy
	_, since := s.engine.StoreUp()
	from := s.history.before(now, quantileWindow)
	open := r.gauge("breaker_open")
	ok := r.gauge("config_last_reload_successful")
	out := status{
		Version: s.config.Version, Started: stamp(s.started), Now: stamp(now),
		Uptime: now.Sub(s.started).Seconds(), Mode: p.Mode(),

		Denials: r.limitCounts("deny"), Challenges: r.limitCounts("challenge"), Routes: r.routes(),
		Unreported: []callerCount{}, InFlight: r.gauge("in_flight"),
		Check: r.checks().latency(from.check, s.window(now)),
		Store: storeStatus{
			Up: open == nil || *open == 0, Since: stamp(since),
			Calls: r.calls().latency(from.store, s.window(now)), Errors: []classCount{},
		},
		Reload: reloadStatus{
			OK: ok == nil || *ok == 1, At: r.gauge("config_last_reload_success_timestamp_seconds"), Hash: r.gauge("config_hash"),
		},
		RouteNames: p.Routes(),
		Overrides:  overrideStatus{NextExpiry: r.moment("override_next_expiry_timestamp_seconds")},
	}
	for _, t := range r.by("decisions_total", "decision") {
		out.Attempts.add(t.labels[0], t.value)
	}
	out.Attempts.Degraded = r.sum("degraded_total")
	for _, t := range r.by("reports_total", "outcome") {
		out.Reports.add(t.labels[0], t.value)
	}
	for _, t := range some(r.by("unreported_total", "caller")) {
		out.Unreported = append(out.Unreported, callerCount{t.labels[0], t.value})
	}
	for _, t := range some(r.by("store_errors_total", "class")) {
		out.Store.Errors = append(out.Store.Errors, classCount{t.labels[0], t.value})
	}
	out.Overrides.Active = r.at("overrides", "state", "active")
	out.Overrides.Expired = r.at("overrides", "state", "expired")
	for _, name := range p.Realms() {
		out.Realms = append(out.Realms, realmStatus{
			Realm: name, Population: r.at("population", "realm", name),
			Capacity: r.at("global_capacity", "realm", name), Remaining: r.at("global_remaining", "realm", name),
		})
	}
	for _, l := range p.Published() {
		out.Limits = append(out.Limits, limitStatus{l.Name, l.Level, l.Mode, l.Purpose, l.Capacity, l.MaxCapacity, l.Refill, l.Backoff})
	}
	out.LogOnly = r.logOnly(out.Limits)
	return out
}

// window is how many seconds of the past the quantiles are about.
func (s *Server) window(now time.Time) float64 {
	return min(quantileWindow, now.Sub(s.started)).Seconds()
}

// stamp writes a moment to the millisecond, since the page computes with it.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
