package handlers

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// dialect is how a protocol says no. Its clients read a status of HTTP in ways
// of their own, up to letting everybody in on one they do not expect, so that
// whatever goes wrong with a request, a panic included, is said in its dialect.
type dialect interface {
	// name is the protocol's label in metrics.
	name() string

	// refuse writes the answer in place of a problem, which it may change.
	refuse(c echo.Context, p *problem)
}

// dialect returns the dialect of a request to the API by its path, nil for the
// API itself. It looks at the path and not at the route: a path or method that
// no route has is answered in the dialect, too.
func (s *Server) dialect(c echo.Context) dialect {
	if c.Echo() != s.api {
		return nil
	}
	path := c.Request().URL.Path
	if path == wforcePath || strings.HasPrefix(path, wforcePath+"/") {
		return wforce{}
	}
	if rest, ok := strings.CutPrefix(path, forwardAuthPath); ok {
		name, _, _ := strings.Cut(rest, "/")
		if p, ok := profiles[name]; ok {
			return p
		}
	}
	return nil
}

// refuse answers with a problem in a dialect, counts it, and has it logged by
// what it is, rather than by the status that the dialect gives it.
func (s *Server) refuse(c echo.Context, d dialect, p *problem) {
	rec := recordOf(c)
	rec.meant = p.Status
	if p.Decision == "" {
		cause := p.cause
		if cause == "" {
			cause = "internal"
		}
		s.metrics.refused.WithLabelValues(d.name(), cause).Inc()
	}
	d.refuse(c, p)
}

// loud tells whether a request went wrong in a way that only the log shows:
// the caller is kept out, its client may read the answer as it likes, and
// everybody who signs in sees a failure that is not theirs.
func (r *record) loud() bool {
	return r.meant == http.StatusUnauthorized || r.meant == http.StatusForbidden
}
