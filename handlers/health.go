package handlers

import (
	"fmt"
	"html"
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

// pagePolicy lets a page of ours load, send and be framed by nothing.
const pagePolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// pageHTML needs no script, style or image, and its policy allows none.
const pageHTML = `<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>loginguard</title>
<h1>loginguard</h1>
<p>Version %s. The store is %s.</p>
<ul>
<li><a href="/readyz">/readyz</a>: whether requests should be sent here</li>
<li><a href="/livez">/livez</a>: whether the process serves</li>
<li><a href="/metrics">/metrics</a>: for Prometheus</li>
</ul>
</html>
`

// page answers / with a page for operators.
func (s *Server) page(c echo.Context) error {
	recordOf(c).silent = true
	store := "up"
	if up, _ := s.engine.StoreUp(); !up {
		store = "down"
	}
	h := c.Response().Header()
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	return c.HTML(http.StatusOK, fmt.Sprintf(pageHTML, html.EscapeString(s.config.Version), store))
}
