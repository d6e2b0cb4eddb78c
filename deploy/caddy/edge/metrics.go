package edge

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the numbers that Caddy publishes for all limits of a
// configuration together.
type metrics struct {
	passed, refused prometheus.Counter
	networks        prometheus.Gauge
	forced          prometheus.Counter
}

// newMetrics registers the metrics with the registry of a configuration, which
// the first limit does for all.
func newMetrics(registry prometheus.Registerer) (*metrics, error) {
	requests, err := shared(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "caddy_edge_limit_requests_total",
		Help: "Requests that edge_limit let pass or refused with 429, by decision: passed, refused.",
	}, []string{"decision"}))
	if err != nil {
		return nil, err
	}
	networks, err := shared(registry, prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "caddy_edge_limit_networks",
		Help: "Client networks in memory, at most max_networks for each edge_limit.",
	}))
	if err != nil {
		return nil, err
	}
	forced, err := shared(registry, prometheus.NewCounter(prometheus.CounterOpts{
		Name: "caddy_edge_limit_networks_dropped_total",
		Help: "Networks that were dropped from memory before they had all of their burst back, since max_networks others asked.",
	}))
	if err != nil {
		return nil, err
	}
	return &metrics{
		passed: requests.WithLabelValues("passed"), refused: requests.WithLabelValues("refused"),
		networks: networks, forced: forced,
	}, nil
}

// shared registers a collector, or returns the one that is there by its name.
func shared[C prometheus.Collector](registry prometheus.Registerer, collector C) (C, error) {
	err := registry.Register(collector)
	var there prometheus.AlreadyRegisteredError
	if errors.As(err, &there) {
		if existing, ok := there.ExistingCollector.(C); ok {
			return existing, nil
		}
	}
	if err != nil {
		return collector, fmt.Errorf("registering metrics: %w", err)
	}
	return collector, nil
}
