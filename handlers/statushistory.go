package handlers

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"
)

const (
	// historyEvery is the time between two samples.
	historyEvery = 5 * time.Second

	// historyRows is how many samples are kept: half an hour, and the one at
	// its beginning.
	historyRows = int(30*time.Minute/historyEvery) + 1

	// historySeries bounds the numbers in a sample. Labels come from the
	// configuration, whose routes and limits are far fewer; with it the whole
	// history stays below 1.5 MB.
	historySeries = 256

	// quantileWindow is the time over which latencies are judged: long enough
	// to hold some attempts of a quiet service, short enough to show an
	// incident.
	quantileWindow = 5 * time.Minute
)

// history is the last half hour of the metrics, so that the page has curves
// when it is opened. It holds a fixed number of rows and no more series than
// historySeries.
type history struct {
	mu    sync.Mutex
	names []string       // of the series, in the order of a row
	index map[string]int // of names
	rows  []sample       // oldest first
}

// sample is the metrics at one moment. A row that is shorter than the names is
// older than the last ones.
type sample struct {
	at           time.Time
	values       []float64
	check, store []float64 // cumulative counts of the histograms
}

// Run keeps the history of the operators' page until ctx ends. Without it the
// page has no past and is complete otherwise.
func (s *Server) Run(ctx context.Context) {
	tick := time.NewTicker(historyEvery)
	defer tick.Stop()
	for now := time.Now(); ; {
		s.remember(now)
		select {
		case <-ctx.Done():
			return
		case now = <-tick.C:
		}
	}
}

// remember adds one sample. A reading that fails is a gap, and /metrics
// answers with the reason.
func (s *Server) remember(now time.Time) {
	if r, err := s.metrics.read(); err == nil {
		s.history.add(now, r)
	}
}

// add puts a reading behind the last row and drops the oldest if there are too
// many.
func (h *history) add(now time.Time, r reading) {
	curves := r.curves()
	h.mu.Lock()
	defer h.mu.Unlock()
	row := sample{at: now, check: r.checks().counts, store: r.calls().counts}
	row.values = make([]float64, len(h.names), len(h.names)+8)
	for i := range row.values {
		row.values[i] = math.NaN()
	}
	for _, c := range curves {
		at, known := h.index[c.name]
		switch {
		case known:
			row.values[at] = c.value
		case len(h.names) < historySeries:
			if h.index == nil {
				h.index = make(map[string]int)
			}
			h.index[c.name] = len(h.names)
			h.names = append(h.names, c.name)
			row.values = append(row.values, c.value)
		}
	}
	if len(h.rows) >= historyRows {
		h.rows = slices.Delete(h.rows, 0, len(h.rows)-historyRows+1)
	}
	h.rows = append(h.rows, row)
}

// before returns the last sample that is at least the window old, or else the
// first of all, which is the start of the process.
func (h *history) before(now time.Time, window time.Duration) sample {
	h.mu.Lock()
	defer h.mu.Unlock()
	return base(h.rows, now, window)
}

// base is before, over given rows.
func base(rows []sample, now time.Time, window time.Duration) sample {
	var found sample
	for i, row := range rows {
		if i > 0 && now.Sub(row.at) < window {
			break
		}
		found = row
	}
	return found
}

// curve is one number of a sample. Its name is the kind and, behind a colon,
// what it is about.
type curve struct {
	name  string
	value float64
}

// curves picks what the page draws.
func (r reading) curves() []curve {
	var all []curve
	add := func(kind, metric string, labels ...string) {
		for _, t := range r.by(metric, labels...) {
			all = append(all, curve{kind + ":" + strings.TrimSuffix(strings.Join(t.labels, "."), "."), t.value})
		}
	}
	add("attempts", "decisions_total", "decision")
	for _, t := range r.by("decisions_total", "decision", "limit", "level") {
		if t.labels[0] == "deny" && t.value > 0 {
			all = append(all, curve{"denied:" + strings.TrimSuffix(t.labels[1]+"."+t.labels[2], "."), t.value})
		}
	}
	add("would_deny", "would_deny_total", "limit", "level")
	add("store_errors", "store_errors_total")
	add("remaining", "global_remaining", "realm")
	add("breaker", "breaker_open")
	return all
}

// checks is the histogram of decisions.
func (r reading) checks() spread { return r.spread("check_duration_seconds", nil) }

// calls is the histogram of what attempts and reports asked of the store. What
// the guard asks in the background is left out: it would make a quiet service
// look fast.
func (r reading) calls() spread {
	return r.spread("store_duration_seconds", func(m *dto.Metric) bool { return slices.Contains(backgroundOps, label(m, "op")) })
}

// backgroundOps are the calls of the store that nobody waits for.
var backgroundOps = []string{"census", "probe", "search"}

// past is the history as the page reads it: counters as they stood, null where
// they were not there yet.
type past struct {
	Started string                `json:"started"` // RFC 3339, as in the status
	Every   float64               `json:"every"`   // seconds
	Times   []float64             `json:"times"`   // Unix time
	Series  map[string][]*float64 `json:"series"`
	Check99 []*float64            `json:"check_p99"` // seconds, of the quantile window before
	Store99 []*float64            `json:"store_p99"`
}

// past copies the history out. bounds are those of the histograms.
func (h *history) past(check, store []float64) past {
	h.mu.Lock()
	rows, names := slices.Clone(h.rows), slices.Clone(h.names)
	h.mu.Unlock()

	p := past{Every: historyEvery.Seconds(), Times: make([]float64, len(rows)), Series: make(map[string][]*float64, len(names))}
	p.Check99, p.Store99 = make([]*float64, len(rows)), make([]*float64, len(rows))
	for i, row := range rows {
		p.Times[i] = unix(row.at)
		from := base(rows[:i+1], row.at, quantileWindow)
		p.Check99[i] = spread{check, row.check}.since(from.check).quantile(.99)
		p.Store99[i] = spread{store, row.store}.since(from.store).quantile(.99)
	}
	for at, name := range names {
		line := make([]*float64, len(rows))
		for i, row := range rows {
			if at < len(row.values) && !math.IsNaN(row.values[at]) {
				line[i] = &row.values[at]
			}
		}
		p.Series[name] = line
	}
	return p
}

// unix is a moment as the metrics write it, to the millisecond.
func unix(t time.Time) float64 { return float64(t.UnixMilli()) / 1e3 }
