package handlers

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"loginguard/guard"
)

// forwardAuthPath is where reverse proxies ask: the name of a profile follows,
// and then anything, since Envoy appends its client's path and query. Those
// are the client's words and choose nothing.
const forwardAuthPath = "/v1/forward-auth/"

// ForwardAuth says what the questions of a reverse proxy carry. The zero value
// reads accounts from Basic credentials and never charges them.
type ForwardAuth struct {
	// AccountHeader names the header in which the proxy says whose login this
	// is; "" for none. Its name is matched in any case of letters.
	AccountHeader string

	// Reports charges the limits of the account, too. It is right only where
	// every outcome is reported: what was charged for a sign-in that succeeded
	// is given back by its report and by nothing else.
	Reports bool
}

// attemptHeader carries the attempt to whoever reports its outcome.
const attemptHeader = "X-Loginguard-Attempt"

// forwardAuthRoutes registers every path below forwardAuthPath for every
// method, known or not: a proxy asks with the method of its client.
func (s *Server) forwardAuthRoutes(e *echo.Echo) {
	ask := s.as(s.proxy, s.forwardAuth)
	h := func(c echo.Context) error {
		skipBody(c)
		return ask(c)
	}
	for _, path := range []string{forwardAuthPath + ":profile", forwardAuthPath + ":profile/*"} {
		e.Any(path, h)
		e.RouteNotFound(path, h)
	}
}

// skipBody has the request answered without its body, which some proxies send
// and nginx, left to itself, announces and never sends. net/http would read a
// body to its end before it answers, unless the connection is to be closed.
func skipBody(c echo.Context) {
	if c.Request().ContentLength != 0 {
		c.Response().Header().Set(echo.HeaderConnection, "close")
	}
}

// forwardAuth answers a reverse proxy: may this request go on to the login?
func (s *Server) forwardAuth(c echo.Context, by guard.Caller) error {
	if s.dialect(c) == nil {
		return plain(http.StatusNotFound, "path", "There is no profile of this name; there are plain, nginx and envoy.")
	}
	q, err := s.forwarded(c.Request(), by)
	if err != nil {
		return err
	}
	s.hint(c.Request().Context(), by, q)
	rec := recordOf(c)
	rec.realm, rec.route = q.Realm, q.Route

	start := time.Now()
	d, err := s.engine.Check(c.Request().Context(), by, q)
	s.metrics.checked(time.Since(start))
	if err != nil {
		return err
	}
	rec.decision(d)
	d = forStrangers(d)
	switch {
	case d.Verdict == guard.Allow:
		setRateLimit(c.Response().Header(), d)
		c.Response().Header().Set(attemptHeader, d.Attempt)
		return c.NoContent(http.StatusOK)
	case d.Busy:
		return busy(d)
	}
	setRateLimit(c.Response().Header(), d)
	return quota(d)
}

// forwarded is the question that a proxy's request stands for.
func (s *Server) forwarded(r *http.Request, by guard.Caller) (guard.Request, error) {
	realm, err := onlyRealm(by)
	if err != nil {
		return guard.Request{}, err
	}
	account, err := s.forwardedAccount(r)
	if err != nil {
		return guard.Request{}, err
	}
	header := "x-forwarded-for"
	if c := s.rules(r.Context()).Clients; c != nil {
		header = c.Header()
	}
	return guard.Request{
		Realm:   realm,
		Route:   defaultRoute,
		Account: account,
		Forwarded: &guard.Forwarded{
			Peer:   peerOf(r.RemoteAddr),
			Header: header,
			Lines:  r.Header.Values(header),
		},
		NetworksOnly: account == "" || !s.running(r.Context()).forwardAuth.Reports,
	}, nil
}

// forwardedAccount returns whose login a request is, "" where it does not say.
// The configured header goes before Basic credentials, which come from the
// client unless the login itself reads them. Two headers of that name are two
// accounts, and which one the login will take is not known.
func (s *Server) forwardedAccount(r *http.Request) (string, error) {
	account := ""
	if name := s.running(r.Context()).forwardAuth.AccountHeader; name != "" {
		switch values := r.Header.Values(name); len(values) {
		case 0:
		case 1:
			account = values[0]
		default:
			return "", plain(http.StatusBadRequest, "account", "The account header is there more than once.")
		}
	}
	if account == "" && !s.keyInAuthorization(r) {
		values := r.Header.Values(echo.HeaderAuthorization)
		if len(values) > 1 {
			return "", plain(http.StatusBadRequest, "account", "The Authorization header is there more than once.")
		}
		name, _, ok := r.BasicAuth()
		if scheme, _, _ := strings.Cut(r.Header.Get(echo.HeaderAuthorization), " "); !ok && strings.EqualFold(scheme, "basic") {
			// A login that is less strict would find an account in it.
			return "", plain(http.StatusBadRequest, "account", "The Basic credentials are malformed.")
		}
		account = name
	}
	if len(account) > maxAccount {
		return "", plain(http.StatusBadRequest, "account", "An account has at most 1024 bytes.")
	}
	if s.blank(r.Context(), account) {
		return "", nil
	}
	return account, nil
}

// proxy identifies the reverse proxy that asks. Its key comes in X-API-Key, or
// by a client certificate, where Authorization is its client's; else in
// Authorization.
func (s *Server) proxy(r *http.Request) (guard.Caller, error) {
	if s.running(r.Context()).loopback || s.keyInAuthorization(r) {
		return s.caller(r)
	}
	own := r.Clone(r.Context())
	own.Header.Del(echo.HeaderAuthorization)
	return s.caller(own)
}

// keyInAuthorization tells whether Authorization is the proxy's.
func (s *Server) keyInAuthorization(r *http.Request) bool {
	_, certified := s.certified(r)
	return !s.running(r.Context()).loopback && !certified && len(r.Header.Values("X-API-Key")) == 0
}

// blank tells whether a name is none: nothing is left of it in the form in
// which accounts are compared.
func (s *Server) blank(ctx context.Context, account string) bool {
	names := s.rules(ctx).Names
	return account == "" || names != nil && names.Canonical(account) == ""
}

// onlyRealm returns the realm of a protocol that cannot name one: the default
// realm, or the only one that the caller may use.
func onlyRealm(by guard.Caller) (string, error) {
	realm, err := realmOf(text{}, by)
	if err != nil && len(by.Realms) == 1 {
		return by.Realms[0], nil
	}
	return realm, err
}

// forStrangers is a decision as far as anybody may see it who can send a
// request: the buckets that strangers share in a network, and that an account
// has to wait, but neither its counters nor which of its limits it is. That
// would show other people's activity, and where they live.
func forStrangers(d guard.Decision) guard.Decision {
	shown := -1
	lowest := 2.0 // above every share of a bucket that is left
	var meters []guard.Meter
	for i, m := range d.Meters {
		if !m.Stranger {
			continue
		}
		share := float64(m.Remaining) / float64(max(1, m.Capacity))
		if i == d.Shown {
			share = -1 // the one that denies, whatever the others have
		}
		if share < lowest {
			lowest, shown = share, len(meters)
		}
		meters = append(meters, m)
	}
	d.Meters, d.Shown = meters, shown
	if d.Limit != "" && d.Level == "" && !d.Busy {
		d.Limit = "account"
	}
	return d
}
