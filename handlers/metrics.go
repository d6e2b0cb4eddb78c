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

	"loginguard/handlers/webhook"
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
	recalled       *prometheus.CounterVec
	wouldDeny      *prometheus.CounterVec
	wouldDenyRight *prometheus.CounterVec
	exempt         *prometheus.CounterVec
	reports        *prometheus.CounterVec
	unreported     *prometheus.CounterVec
	refused        *prometheus.CounterVec
	checkDuration  prometheus.Histogram
	storeDuration  *prometheus.HistogramVec
	storeErrors    *prometheus.CounterVec
	eventsDropped  *prometheus.CounterVec
	deliveries     *prometheus.CounterVec
	reloadOK       prometheus.Gauge
	reloadOKMoment prometheus.Gauge
	configHash     prometheus.Gauge

	engine  atomic.Pointer[Engine] // nil until attached
	events  atomic.Pointer[Events] // nil until attached
	census  census                 // of the realms
	silence silences               // about callers that do not report
	ops     closedSet              // labels of the store's calls
	classes closedSet
	results closedSet // of the webhook
}

// NewMetrics makes the metrics of one process. version goes into build_info.
// The configuration counts as loaded: without one, nothing would be measured.
func NewMetrics(version string) *Metrics {
	m := &Metrics{
		registry:  prometheus.NewRegistry(),
		decisions: counter("decisions_total", "Attempts decided. limit is the one that denied or asked for a challenge, or store_unavailable or overloaded; level is the level of a network limit.", "realm", "route", "decision", "limit", "level"),
		degraded:  counter("degraded_total", "Attempts allowed by on_failure without a decision. They are in decisions_total, too.", "realm", "route"),
		recalled: counter("denials_recalled_total", "Attempts denied without asking the store, because the same bucket had denied less than a second before "+
			"and is under a flood: from the 17th denial by it in a second on. They are in decisions_total, too.", "limit", "level"),
		wouldDeny: counter("would_deny_total", "Attempts that a log-only limit would have denied.", "limit", "level"),
		wouldDenyRight: counter("would_deny_then_success_total", "Attempts that a log-only limit would have denied and that were then reported as a success: "+
			"the people whom enforcing it would have kept out, once a limit.", "limit", "level"),
		exempt:  counter("exempt_total", "Attempts decided that came from addresses of class exempt. They are in decisions_total, too.", "realm"),
		reports: counter("reports_total", "Reports. outcome is success, failure or cancelled, or repeated for an attempt that was reported before.", "outcome"),
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
		storeErrors: counter("store_errors_total", "Calls of the store that failed.", "class"),
		eventsDropped: counter("events_dropped_total", "Events left out under a flood: of the log, above 50 denials a second, "+
			"or of the webhook, with its queue full.", "kind"),
		deliveries: counter("webhook_deliveries_total", "Requests to the webhook: delivered, retried (failed, and will be made again) "+
			"or failed (given up, the event is lost).", "result"),
		reloadOK:       gauge("config_last_reload_successful", "1 when the last attempt to load the configuration succeeded."),
		reloadOKMoment: gauge("config_last_reload_success_timestamp_seconds", "When the configuration was last loaded, Unix time."),
		configHash: gauge("config_hash", "48 bits of a SHA-256 of the configuration in force and of its lists of networks, secrets left out. "+
			"Instances that differ here decide differently."),
	}
	build := infoGauge("build_info", "Always 1.", "version", "goversion")
	build.WithLabelValues(version, runtime.Version()).Set(1)
	// Series exist from the start, so that none misses its first event.
	m.begin()
	for _, outcome := range []string{"success", "failure", "cancelled", "repeated"} {
		m.reports.WithLabelValues(outcome)
	}
	for _, kind := range EventKinds() {
		m.eventsDropped.WithLabelValues(kind)
	}
	for _, result := range []string{webhook.Delivered, webhook.Retried, webhook.Failed} {
		m.deliveries.WithLabelValues(result)
	}
	m.registry.MustRegister(
		m.decisions, m.degraded, m.recalled, m.wouldDeny, m.wouldDenyRight, m.exempt, m.reports, m.unreported, m.refused, m.checkDuration,
		m.storeDuration, m.storeErrors, m.eventsDropped, m.deliveries, m.reloadOK, m.reloadOKMoment, m.configHash, build,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: "loginguard", Name: "breaker_open",
			Help: "1 while the store is down and checks are answered without it.",
		}, m.breaker),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: "loginguard", Name: "in_flight",
			Help: "Checks and reports in progress. At server.max_in_flight one more is answered 503.",
		}, m.inFlight),
		&m.census,
		rulesCollector{m},
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

// SetConfigHash records which configuration is in force, as a number of at most
// 53 bits.
func (m *Metrics) SetConfigHash(h uint64) { m.configHash.Set(float64(h)) }

// attach gives the metrics what is made after them: the guard needs them as
// its observer before there is one to ask.
func (m *Metrics) attach(log zerolog.Logger, g Engine, e *Events) {
	m.silence.log.Store(&log)
	m.engine.Store(&g)
	m.events.Store(e)
}

// breaker reads the state of the store at the time of the scrape; before there
// is one, nothing is open.
func (m *Metrics) breaker() float64 {
	if g := m.engine.Load(); g != nil {
		if up, _ := (*g).StoreUp(); !up {
			return 1
		}
	}
	return 0
}

// inFlight reads how much is in progress at the time of the scrape.
func (m *Metrics) inFlight() float64 {
	if g := m.engine.Load(); g != nil {
		return float64((*g).InFlight())
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
