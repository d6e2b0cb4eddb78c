package handlers

import (
	"net/http/httptest"
	"testing"
)

func TestProbes(t *testing.T) {
	const since = `"since":"2026-11-30T12:00:00Z"}` + "\n"
	for _, tt := range []struct {
		name, readiness string
		down, drain     bool
		status          int
		body            string
	}{
		{"all well", "", false, false, 200, `{"ready":true,"store":"up",` + since},
		{"store down, ready to say so", ReadinessProcess, true, false, 200, `{"ready":true,"store":"down",` + since},
		{"store up, asked for", ReadinessStore, false, false, 200, `{"ready":true,"store":"up",` + since},
		{"store down, asked for", ReadinessStore, true, false, 503, `{"ready":false,"store":"down",` + since},
		{"draining", ReadinessProcess, false, true, 503, `{"ready":false,"draining":true,"store":"up",` + since},
	} {
		b := newBench(t, func(c *Config, f *fakeEngine) { c.Readiness, f.down = tt.readiness, tt.down })
		if tt.drain {
			b.Drain()
		}
		w := serve(b.Admin(), httptest.NewRequest("GET", "/readyz", nil))
		if w.Code != tt.status || w.Body.String() != tt.body {
			t.Errorf("%s: got %d %s, want %d %s", tt.name, w.Code, w.Body, tt.status, tt.body)
		}
		if w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: may be cached", tt.name)
		}
		w = serve(b.Admin(), httptest.NewRequest("GET", "/livez", nil))
		if w.Code != 200 || w.Body.String() != `{"alive":true}`+"\n" {
			t.Errorf("%s: livez %d %s", tt.name, w.Code, w.Body)
		}
	}
}

func TestLivezDoesNotTouchTheStore(t *testing.T) {
	b := newBench(t)
	serve(b.Admin(), httptest.NewRequest("GET", "/livez", nil))
	if b.engine.probes != 0 || b.engine.calls() != 0 {
		t.Errorf("asked for the store %d times, for decisions %d times", b.engine.probes, b.engine.calls())
	}
}

func TestProbesNeedNoKeyNoHostAndLeaveNoLine(t *testing.T) {
	b := newBench(t, loopback)
	for _, path := range []string{"/livez", "/readyz", "/metrics", "/"} {
		for _, method := range []string{"GET", "HEAD"} {
			r := httptest.NewRequest(method, path, nil)
			r.RemoteAddr, r.Host = "203.0.113.9:1", "pod-7.cluster.local"
			if w := serve(b.Admin(), r); w.Code != 200 {
				t.Errorf("%s %s: %d", method, path, w.Code)
			}
		}
	}
	if got := b.out.String(); got != "" {
		t.Errorf("logged %s", got)
	}
}

func TestTheAdminListenerDoesNotServeChecks(t *testing.T) {
	b := newBench(t)
	for _, path := range []string{"/v1/check", "/v1/report", "/v1/limits"} {
		if w := serve(b.Admin(), asAdmin(path, goodCheck)); w.Code != 404 {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}
