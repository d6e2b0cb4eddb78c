package handlers

import (
	"net/http"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/rs/zerolog"
)

// latencies are the bounds of the histograms, in seconds: from an in-process
// store (tens of microseconds) to the store's budget and well beyond.
var latencies = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1}

// Metrics are the numbers of the service, in a registry of their own. It
// implements guard.Observer. Label values come from the configuration and from
// fixed sets, so that no client can make a series.
type Metrics struct {
	registry *prometheus.Registry

	decisions      *prometheus.CounterVec
	degraded       *prometheus.CounterVec
	wouldDeny      *prometheus.CounterVec
	reports        *prometheus.CounterVec
	unreported     *prometheus.CounterVec
	refused        *prometheus.CounterVec
	checkDuration  prometheus.Histogram
	storeDuration  *prometheus.HistogramVec
	storeErrors    *prometheus.CounterVec
	reloadOK       prometheus.Gauge
	reloadOKMoment prometheus.Gauge

	storeUp atomic.Pointer[func() (bool, time.Time)] // nil until attached
	silence silences                                 // about callers that do not report
	ops     closedSet                                // labels of the store's calls
	classes closedSet
}

// NewMetrics makes the metrics of one process. version goes into build_info.
// The configuration counts as loaded: without one, nothing would be measured.
func NewMetrics(version string) *Metrics {
	m := &Metrics{
		registry:  prometheus.NewRegistry(),
		decisions: counter("decisions_total", "Attempts decided. limit is the one that denied or asked for a challenge, or store_unavailable or overloaded; level is the level of a network limit.", "realm", "route", "decision", "limit", "level"),
		degraded:  counter("degraded_total", "Attempts allowed by on_failure without a decision. They are in decisions_total, too.", "realm", "route"),
		wouldDeny: counter("would_deny_total", "Attempts that a log-only limit would have denied.", "limit", "level"),
		reports:   counter("reports_total", "Reports. outcome is success, failure or cancelled, or repeated for an attempt that was reported before.", "outcome"),
		unreported: counter("unreported_total", "Attempts whose lifetime ended without a report, by caller. "+
			"Each stays charged; a caller that never reports locks its owners out.", "caller"),
		refused: counter("refused_total", "Questions of proxies and mail servers that were answered no because they could not be decided, "+
			"as with a wrong caller key. cause is a word of the log.", "protocol", "cause"),
		checkDuration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: "loginguard", Name: "check_duration_seconds",
			Help: "Time from a check's body to its decision.", Buckets: latencies,
		}),
		storeDuration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "loginguard", Name: "store_duration_seconds",
			Help: "Time of one call of the store.", Buckets: latencies,
		}, []string{"op"}),
		storeErrors:    counter("store_errors_total", "Calls of the store that failed.", "class"),
		reloadOK:       gauge("config_last_reload_successful", "1 when the last attempt to load the configuration succeeded."),
		reloadOKMoment: gauge("config_last_reload_success_timestamp_seconds", "When the configuration was last loaded, Unix time."),
	}
	build := infoGauge("build_info", "Always 1.", "version", "goversion")
	build.WithLabelValues(version, runtime.Version()).Set(1)
	// Series that a dashboard divides by exist from the start.
	for _, outcome := range []string{"success", "failure", "cancelled", "repeated"} {
		m.reports.WithLabelValues(outcome)
	}
	m.registry.MustRegister(
		m.decisions, m.degraded, m.wouldDeny, m.reports, m.unreported, m.refused, m.checkDuration,
		m.storeDuration, m.storeErrors, m.reloadOK, m.reloadOKMoment, build,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: "loginguard", Name: "breaker_open",
			Help: "1 while the store is down and checks are answered without it.",
		}, m.breaker),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	m.silence.log.Store(new(zerolog.Logger))
	m.Reloaded(true, time.Now())
	return m
}

// Reloaded records an attempt to load the configuration at a moment. A failure
// keeps the time of the last success, so that its age can be alerted on.
func (m *Metrics) Reloaded(ok bool, at time.Time) {
	if !ok {
		m.reloadOK.Set(0)
		return
	}
	m.reloadOK.Set(1)
	m.reloadOKMoment.Set(float64(at.UnixMilli()) / 1e3)
}

// attach gives the metrics what is made after them: the guard needs them as
// its observer before there is a store to ask.
func (m *Metrics) attach(log zerolog.Logger, storeUp func() (bool, time.Time)) {
	m.silence.log.Store(&log)
	m.storeUp.Store(&storeUp)
}

// breaker reads the state of the store at the time of the scrape; before there
// is one, nothing is open.
func (m *Metrics) breaker() float64 {
	if f := m.storeUp.Load(); f != nil {
		if up, _ := (*f)(); !up {
			return 1
		}
	}
	return 0
}

// checked counts the time that one decision took.
func (m *Metrics) checked(d time.Duration) { m.checkDuration.Observe(d.Seconds()) }

// handler serves /metrics. A few scrapes at a time are enough.
func (m *Metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 8})
}

// counter, gauge and infoGauge make metrics of the service's own name space.
func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "loginguard", Name: name, Help: help}, labels)
}

func gauge(name, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "loginguard", Name: name, Help: help})
}

func infoGauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "loginguard", Name: name, Help: help}, labels)
}
