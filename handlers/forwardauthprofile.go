package handlers

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"
)

// profiles are the ways in which reverse proxies read an answer, by name. All
// of them read 200 as yes.
var profiles = map[string]dialect{
	"plain": profile{"plain", plainRefusal},
	"nginx": profile{"nginx", nginxRefusal},
	"envoy": profile{"envoy", envoyRefusal},
}

// profile is the dialect of one kind of proxy.
type profile struct {
	label string
	adapt func(c echo.Context, p *problem)
}

func (f profile) name() string { return "forward_auth_" + f.label }

// refuse writes a problem as the proxy understands it. Whoever sees the answer
// is told when to come back, since it may be the user of a browser, even where
// it is the proxy that is wrongly set up.
func (f profile) refuse(c echo.Context, p *problem) {
	if p.RetryAfter == 0 && p.Status >= http.StatusInternalServerError {
		p.RetryAfter = 1
	}
	skipBody(c) // the request may have come no further than here
	f.adapt(c, p)
	writeProblem(c, p)
}

// plainRefusal is for proxies that hand any answer but 2xx to their client as
// it is: Caddy, Traefik, and HAProxy as it is told.
func plainRefusal(echo.Context, *problem) {}

// nginxRefusal is for nginx, whose auth_request makes a 500 of everything but
// 2xx, 401 and 403, and loses the headers. 401 it would hand on, with a
// challenge that browsers ask people about. So every no is 403, and a header
// says which of two answers the client should get: its own fault or not.
func nginxRefusal(c echo.Context, p *problem) {
	status := http.StatusServiceUnavailable
	if p.Status == http.StatusTooManyRequests {
		status = p.Status
	} else if p.RetryAfter == 0 {
		p.RetryAfter = 1
	}
	c.Response().Header().Set("X-Loginguard-Status", strconv.Itoa(status))
	p.Status = http.StatusForbidden
}

// envoyRefusal is for Envoy, whose ext_authz takes a 5xx for a broken guard
// and then, with failure_mode_allow, lets everybody in. It hands on a 4xx as
// it is; the reason in the body says that it was no fault of the client.
func envoyRefusal(_ echo.Context, p *problem) {
	if p.Status < http.StatusInternalServerError {
		return
	}
	if p.Reason == "" && p.Limit == "" {
		p.Reason = "internal"
	}
	p.Status = http.StatusTooManyRequests
}
