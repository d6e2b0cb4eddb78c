package chaos

import (
	"bufio"
	"bytes"
	"strconv"
	"strings"
	"testing"
	"time"

	"loginguard/test/internal/client"
	"loginguard/test/internal/proxy"
	"loginguard/test/internal/redisd"
	"loginguard/test/internal/service"
)

// TestBadNetwork puts a service behind a network that fails in every way, one
// after the other: all answers are in time and deny, and each time attempts
// are allowed again within a second, by the same process.
func TestBadNetwork(t *testing.T) {
	server := redisd.Start(t)
	network := proxy.Start(t, server.Addr)
	s := service.Start(t, service.Options{Redis: "redis://" + network.Addr, Env: realBudget, Config: roomy})
	working(t, s)
	l := begin(t, s, 200, 64)
	for _, f := range []struct {
		name string
		do   func()
	}{
		{"black hole", network.Blackhole},
		{"slower than the budget", func() { network.Delay(400 * time.Millisecond) }},
		{"replies cut in the middle", func() { network.Cut(5) }},
		{"connections reset", func() {
			for range 20 {
				network.Reset()
				time.Sleep(20 * time.Millisecond)
			}
		}},
	} {
		l.mark()
		l.back()
		before := l.busy.Load()
		f.do()
		service.Await(t, 30*time.Second, f.name+" to be noticed", func() bool { return l.busy.Load() > before })
		network.Heal()
		l.recovers(time.Now(), f.name)
	}
	l.end()
}

// TestLostRepliesAreChargedOnce: commands that were executed and whose replies
// were lost are not sent again: one attempt is charged one token, or none.
func TestLostRepliesAreChargedOnce(t *testing.T) {
	server := redisd.Start(t)
	network := proxy.Start(t, server.Addr)
	s := service.Start(t, service.Options{Redis: "redis://" + network.Addr})
	working(t, s)
	network.Cut(3)
	for i := range 5 {
		if err := unavailable(s.Check(client.Attempt{Account: "alice", IP: address(i)})); err != nil {
			t.Fatal(err)
		}
	}
	network.Heal()
	working(t, s)
	left := s.Explain(client.Attempt{Account: "alice", IP: address(9)}).Find("account", "").Remaining
	if left < 5 || left > 9 {
		t.Errorf("%d are left after 5 attempts whose replies were lost, want 5 to 9", left)
	}
}

// hang asks a service at a rate while its store is a black hole, and wants its
// goroutines and its heap to stay flat.
func hang(t *testing.T, o service.Options, rate, workers int, span time.Duration) {
	server := redisd.Start(t)
	network := proxy.Start(t, server.Addr)
	o.Redis, o.Config = "redis://"+network.Addr, roomy
	o.Env = append([]string{"LOGINGUARD_LOG_LEVEL=error"}, realBudget...)
	s := service.Start(t, o)
	working(t, s)
	l := begin(t, s, rate, workers)
	l.mark()
	l.back()

	network.Blackhole()
	holed := time.Now()
	service.Await(t, 30*time.Second, "the black hole to be noticed", func() bool { return l.busy.Load() > 0 })
	// What the load itself takes is there after a fifth of the time.
	time.Sleep(span / 5)
	goroutines, heap := metric(t, s, "go_goroutines"), metric(t, s, "go_memstats_heap_inuse_bytes")
	conns := 0
	for end := time.Now().Add(span * 4 / 5); time.Now().Before(end); time.Sleep(span / 20) {
		conns = max(conns, network.Open())
	}
	if now := metric(t, s, "go_goroutines"); now > goroutines*1.3+200 {
		t.Errorf("%.0f goroutines, from %.0f", now, goroutines)
	}
	if now := metric(t, s, "go_memstats_heap_inuse_bytes"); now > heap*1.5+32<<20 {
		t.Errorf("%.0f bytes of heap, from %.0f", now, heap)
	}
	if conns > 200 {
		t.Errorf("%d connections to the store", conns)
	}
	network.Heal()
	l.recovers(time.Now(), "after the black hole")
	l.end()
	t.Logf("99 of 100 answers came within %v, and within %v once the breaker was open", l.nearlyAll(holed), l.nearlyAll(holed.Add(time.Second)))
	t.Logf("%.0f goroutines, %.1f MB of heap in use, %d connections", goroutines, heap/1e6, conns)
}

// TestHangingStoreHoldsNothing is the short edition.
func TestHangingStoreHoldsNothing(t *testing.T) { hang(t, service.Options{}, 200, 100, 5*time.Second) }

// metric reads one number of the service's metrics.
func metric(t *testing.T, s *service.Service, name string) float64 {
	t.Helper()
	page := s.Page("/metrics")
	for lines := bufio.NewScanner(bytes.NewReader(page.Body)); lines.Scan(); {
		if n, value, ok := strings.Cut(lines.Text(), " "); ok && n == name {
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}
