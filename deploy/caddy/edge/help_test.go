package edge

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// advance moves the clock of a synctest bubble, in milliseconds; no real time
// passes.
func advance(ms int) { time.Sleep(time.Duration(ms) * time.Millisecond) }

// numbers returns the counters and gauges of the package, by name and value of
// the label.
func numbers(t *testing.T, registry prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "caddy_edge_") {
			continue
		}
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			all[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return all
}
