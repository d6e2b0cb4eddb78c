package page

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"loginguard/test/internal/client"
	"loginguard/test/internal/service"
)

// steady sends attempts at a steady rate, each on an account and from a network
// of its own, until stopped. One in five turns out to be right.
func steady(t *testing.T, s *service.Service, every time.Duration) (stop func()) {
	t.Helper()
	end := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-end:
				return
			case <-tick.C:
			}
			d := s.Check(client.Attempt{Account: fmt.Sprint("guest", i), IP: fmt.Sprintf("20.%d.%d.7", i>>8, i&255)})
			if !d.Allowed() {
				t.Errorf("answered %d: %s", d.Status, d.Body)
				return
			}
			if i%5 == 0 {
				s.Report(d.Attempt, "success")
			}
		}
	})
	stop = sync.OnceFunc(func() { close(end); all.Wait() })
	t.Cleanup(stop)
	return stop
}

// reading is the number of attempts that /metrics had counted at a moment.
type reading struct {
	at    time.Time
	count float64
}

// between returns the least and the highest rate, per second, at which the
// counter rose over any span that the page may have looked at.
func between(readings []reading, least, most time.Duration) (low, high float64) {
	low = math.Inf(1)
	for i, a := range readings {
		for _, b := range readings[i+1:] {
			if span := b.at.Sub(a.at); span >= least && span <= most {
				r := (b.count - a.count) / span.Seconds()
				low, high = min(low, r), max(high, r)
			}
		}
	}
	return low, high
}

// TestRatesAreRight compares the attempts per second, in the tile and in the
// chart, with what /metrics counts meanwhile.
func TestRatesAreRight(t *testing.T) {
	t.Parallel()
	s := service.Start(t, service.Options{})
	b := open(t, s.Admin)
	stop := steady(t, s, 100*time.Millisecond)
	var readings []reading
	read := func() {
		readings = append(readings, reading{time.Now(), sum(metrics(t, s), "loginguard_decisions_total")})
	}
	read()
	// The tile looks at the last ten seconds, or up to five more: what is before
	// the traffic must be out of its sight.
	service.Await(t, time.Minute, "eighteen seconds of traffic to be counted", func() bool {
		read()
		return time.Since(readings[0].at) > 18*time.Second
	})
	number := func(text string) float64 {
		v, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
		if err != nil {
			t.Fatalf("%q is no number", text)
		}
		return v
	}
	low, high := between(readings, 9*time.Second, 16*time.Second)
	if got := number(b.text("rate")); got < low*.9 || got > high*1.1 {
		t.Errorf("the page shows %g attempts per second, /metrics counted %g to %g", got, low, high)
	}
	// The chart's last point is of up to fifteen seconds, and at least of one.
	low, high = between(readings, time.Second, 16*time.Second)
	legend := value[string](b, `document.querySelector("#chart-attempts .legend li b").textContent`)
	if got := number(legend); got < low*.75 || got > high*1.25 {
		t.Errorf("the chart shows %g allowed attempts per second, /metrics counted %g to %g", got, low, high)
	}
	stop()
	realms(t, b, s)
}

// realms compares the table of realms and the chart of the global budget, once
// what was sent has arrived in both: the service looks every ten seconds.
func realms(t *testing.T, b *tab, s *service.Service) {
	t.Helper()
	now := regexp.MustCompile(`^Global budget left by realm, last 30 minutes\. default: now (\d+)%, at most \d+%\.$`)
	var row []string
	var label string
	var people, left, capacity float64
	defer func() { t.Logf("%q, %q; /metrics: %g people, %g of %g left", row, label, people, left, capacity) }()
	service.Await(t, time.Minute, "the page to show the realm as /metrics does", func() bool {
		m := metrics(t, s)
		people, left, capacity = m[`loginguard_population{realm="default"}`], m[`loginguard_global_remaining{realm="default"}`], m[`loginguard_global_capacity{realm="default"}`]
		rows := b.table("#t-realms")
		if len(rows) != 1 || people < 30 {
			return false
		}
		row = rows[0]
		label = value[string](b, `document.querySelector("#chart-global svg[role=img]").getAttribute("aria-label")`)
		shown := now.FindStringSubmatch(label)
		if shown == nil || len(row) != 4 || row[0] != "default" || row[1] != group(people) || row[3] != group(capacity) {
			return false
		}
		rest, err := strconv.ParseFloat(strings.ReplaceAll(row[2], ",", ""), 64)
		percent, err2 := strconv.ParseFloat(shown[1], 64)
		// A token comes back every 3.6 seconds, and both look at a moment of
		// their own.
		return err == nil && err2 == nil && math.Abs(rest-left) <= 3 && math.Abs(percent-100*left/capacity) <= 1 && left < capacity-50
	})
}
