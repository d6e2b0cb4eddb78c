package handlers

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

// livez answers whether the process serves. It asks nothing of anybody: a
// restart would not bring a store back.
func (s *Server) livez(c echo.Context) error {
	recordOf(c).silent = true
	return answer(c, http.StatusOK, typeJSON, map[string]bool{"alive": true})
}

// readiness is the answer of /readyz.
type readiness struct {
	Ready    bool   `json:"ready"`
	Draining bool   `json:"draining,omitempty"`
	Store    string `json:"store"` // up or down
	Since    string `json:"since"` // RFC 3339, of the store's state
}

// readyz answers whether requests should be sent here, from what the probe in
// the background last saw.
func (s *Server) readyz(c echo.Context) error {
	recordOf(c).silent = true
	up, since := s.engine.StoreUp()
	r := readiness{
		Ready:    up || s.config.Readiness != ReadinessStore,
		Draining: s.draining.Load(),
		Store:    "up",
		Since:    since.UTC().Format(time.RFC3339),
	}
	if !up {
		r.Store = "down"
	}
	status := http.StatusOK
	if r.Draining {
		r.Ready = false
	}
	if !r.Ready {
		status = http.StatusServiceUnavailable
	}
	return answer(c, status, typeJSON, r)
}

// scrape answers /metrics for Prometheus.
func (s *Server) scrape(c echo.Context) error {
	recordOf(c).silent = true
	s.exporter.ServeHTTP(c.Response(), c.Request())
	return nil
}
