package handlers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
)

// reading is what the metrics said at one moment, by name without the prefix.
// The operators' page is made from it, so that page and /metrics are one count
// seen twice and cannot disagree.
type reading map[string][]*dto.Metric

// read gathers the metrics as a scrape does. A metric that does not exist is
// absent from the reading, and reads as nothing.
func (m *Metrics) read() (reading, error) {
	families, err := m.registry.Gather()
	if err != nil {
		return nil, fmt.Errorf("gathering the metrics: %w", err)
	}
	r := make(reading, len(families))
	for _, f := range families {
		if name, ours := strings.CutPrefix(f.GetName(), "loginguard_"); ours {
			r[name] = f.GetMetric()
		}
	}
	return r, nil
}

// tally is the sum of the series that agree in some labels.
type tally struct {
	labels []string // values, in the order that was asked for
	value  float64
}

// by adds up a metric by the labels given, in the order of their values. A
// label that a series lacks is "".
func (r reading) by(name string, labels ...string) []tally {
	var all []tally
	for _, series := range r[name] {
		values := make([]string, len(labels))
		for i, l := range labels {
			values[i] = label(series, l)
		}
		at, found := slices.BinarySearchFunc(all, values, func(t tally, v []string) int { return slices.Compare(t.labels, v) })
		if !found {
			all = slices.Insert(all, at, tally{labels: values})
		}
		all[at].value += number(series)
	}
	return all
}

// sum adds up all series of a metric.
func (r reading) sum(name string) float64 {
	var n float64
	for _, series := range r[name] {
		n += number(series)
	}
	return n
}

// gauge returns the value of a metric without labels, nil when there is none.
func (r reading) gauge(name string) *float64 {
	if len(r[name]) == 0 {
		return nil
	}
	n := number(r[name][0])
	return &n
}

// label returns the value of a label, "" when the series lacks it.
func label(series *dto.Metric, name string) string {
	for _, l := range series.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

// number returns the value of a counter or a gauge.
func number(series *dto.Metric) float64 {
	if c := series.GetCounter(); c != nil {
		return c.GetValue()
	}
	return series.GetGauge().GetValue()
}

// spread is a histogram as it is counted: how many observations were at most
// each bound, the last bound being infinite.
type spread struct {
	bounds []float64 // seconds, rising, without the infinite one
	counts []float64 // cumulative, one more than bounds
}

// spread adds up the histograms of a metric but for those that skip names.
func (r reading) spread(name string, skip func(*dto.Metric) bool) spread {
	var s spread
	for _, series := range r[name] {
		if skip != nil && skip(series) {
			continue
		}
		h := series.GetHistogram()
		if s.counts == nil {
			for _, b := range h.GetBucket() {
				s.bounds = append(s.bounds, b.GetUpperBound())
			}
			s.counts = make([]float64, len(s.bounds)+1)
		}
		for i, b := range h.GetBucket() {
			s.counts[i] += float64(b.GetCumulativeCount())
		}
		s.counts[len(s.bounds)] += float64(h.GetSampleCount())
	}
	return s
}

// total returns the number of observations.
func (s spread) total() float64 {
	if len(s.counts) == 0 {
		return 0
	}
	return s.counts[len(s.counts)-1]
}

// since returns what was observed after an earlier reading of the same
// histogram; counts that are missing there were 0.
func (s spread) since(earlier []float64) spread {
	later := spread{bounds: s.bounds, counts: slices.Clone(s.counts)}
	for i := range min(len(earlier), len(later.counts)) {
		later.counts[i] -= earlier[i]
	}
	return later
}

// quantile estimates the q-quantile in seconds, nil without observations. It
// is Prometheus's histogram_quantile: linear within a bucket, from 0 in the
// first, and the highest bound for what lies above it. So a value equal to the
// highest bound means "at least".
func (s spread) quantile(q float64) *float64 {
	n := s.total()
	if n <= 0 || len(s.bounds) == 0 {
		return nil
	}
	rank := q * n
	i, _ := slices.BinarySearchFunc(s.counts, rank, func(c, r float64) int { return cmp.Compare(c, r) })
	if i >= len(s.bounds) {
		return &s.bounds[len(s.bounds)-1]
	}
	low, below := 0.0, 0.0
	if i > 0 {
		low, below = s.bounds[i-1], s.counts[i-1]
	}
	v := s.bounds[i]
	if in := s.counts[i] - below; in > 0 {
		v = low + (s.bounds[i]-low)*(rank-below)/in
	}
	return &v
}
