package handlers

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"
)

// refuseForeign serves a request, while there are no callers, only if it comes
// from this machine, is addressed to it, and was not made by a page from
// elsewhere.
func (s *Server) refuseForeign(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if !s.running(c.Request().Context()).loopback {
			return next(c)
		}
		if err := checkLocal(c.Request()); err != nil {
			return err
		}
		// The pattern of the route, not what was sent.
		if !strings.HasPrefix(c.Path(), "/v1/forward-auth/") {
			if err := checkDirect(c.Request()); err != nil {
				return err
			}
		}
		return next(c)
	}
}

// forwardingHeaders are what reverse proxies add to requests.
var forwardingHeaders = []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Forwarded", "Via"}

// checkDirect refuses what a reverse proxy on this machine handed on: it
// connects from here and often rewrites the Host, so everybody in front of it
// would be an admin.
func checkDirect(r *http.Request) error {
	for _, name := range forwardingHeaders {
		if len(r.Header.Values(name)) > 0 {
			return plain(http.StatusForbidden, "proxy", "The request came through a proxy. To serve others than this machine, configure callers.")
		}
	}
	return nil
}

// checkLocal tells whether a request is this machine's own. The peer alone does
// not say so: a browser on this machine sends whatever a foreign page tells it,
// under a name that its owner made point to 127.0.0.1 (DNS rebinding), so the
// Host and the Origin must be this machine's, too.
func checkLocal(r *http.Request) error {
	switch {
	case !loopbackPeer(r.RemoteAddr):
		return plain(http.StatusForbidden, "peer", "Without a configured caller this serves this machine only.")
	case !loopbackHost(r.Host):
		return plain(http.StatusForbidden, "host", "Without a configured caller the Host must be a loopback address or localhost.")
	}
	for _, o := range r.Header.Values(echo.HeaderOrigin) {
		u, err := url.Parse(o)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || !loopbackHost(u.Host) {
			return plain(http.StatusForbidden, "origin", "Without a configured caller pages from elsewhere are refused.")
		}
	}
	return nil
}

// localListener tells whether the connection was accepted on a loopback
// address. Where that is not known, it was not.
func localListener(r *http.Request) bool {
	a, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && loopbackPeer(a.String())
}

// loopbackPeer tells whether an address with a port is of this machine.
func loopbackPeer(addr string) bool {
	p, err := netip.ParseAddrPort(addr)
	return err == nil && p.Addr().Unmap().IsLoopback()
}

// loopbackHost tells whether a Host names this machine, with any port.
func loopbackHost(host string) bool {
	name := host
	if h, port, err := net.SplitHostPort(host); err == nil {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return false
		}
		name = h
	} else if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		name = host[1 : len(host)-1]
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(name)
	return err == nil && a.Zone() == "" && a.Unmap().IsLoopback()
}
