package handlers

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"loginguard/guard"
)

// frontName is the caller as which the front asks the guard.
const frontName = "front"

// FrontConfig describes the application behind a [Front], and which of its
// requests are attempts.
type FrontConfig struct {
	Upstream     string // http or https URL with a host and nothing else
	Realm        string // of the accounts; "" means default
	PassThrough  bool   // requests that no rule matches go on to the upstream; else 404
	DeviceCookie string // name of the cookie with the device token, "__Host-..."; "" for none
	Rules        []FrontRule

	// MaxInFlight bounds the guarded requests in progress; one more is
	// answered 503 at once. 2048 when 0.
	MaxInFlight int
}

// FrontRule picks requests that try a credential and tells how they ended.
type FrontRule struct {
	Methods []string // upper case; GET stands for HEAD, too
	Path    string   // plain path of the page; its other spellings are found by the front
	Route   string
	Account FrontAccount
	Success FrontMatch
	Failure FrontMatch
}

// Front is the reverse proxy in front of an application's login. It guards the
// requests that its rules match, and hands all others on. A server has one. It
// is safe for concurrent use; the zero value is not usable.
//
// It learns outcomes from the application's answers, so a rule that takes a
// wrong password for a success gives every guess back: see [FrontMatch]. It
// makes no password tags, since it knows no secret of the login.
type Front struct {
	server *Server
	echo   *echo.Echo
	slots  chan struct{} // guarded requests in progress
	large  chan struct{} // those with more than smallBody

	guarded, passing http.RoundTripper
}

// frontRules is a FrontConfig made ready. It is immutable.
type frontRules struct {
	upstream    *url.URL
	realm       string
	caller      guard.Caller
	passThrough bool
	cookie      string
	rules       []frontRule
}

type frontRule struct {
	FrontRule
	place place
	page  page
}

// NewFront makes the front of a server, whose guard, log and metrics it uses.
// The error says what is wrong in the configuration.
func NewFront(s *Server, c FrontConfig) (*Front, error) {
	n := cmp.Or(c.MaxInFlight, 2048)
	f := &Front{
		server: s, echo: echo.New(),
		slots: make(chan struct{}, n), large: make(chan struct{}, maxLarge),
		guarded: newTransport(guardedConnections, guardedWait), passing: newTransport(passingConnections, passingWait),
	}
	if err := f.Swap(c); err != nil {
		return nil, err
	}
	f.echo.HTTPErrorHandler = f.fail
	// Before the router, which would match the path as it was sent, and only
	// the methods that it knows.
	f.echo.Pre(func(echo.HandlerFunc) echo.HandlerFunc { return f.access(f.serve) })
	return f, nil
}

// ServeHTTP implements http.Handler.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) { f.echo.ServeHTTP(w, r) }

// Swap puts another configuration in force in one step. Requests in progress
// end under the one they began with. MaxInFlight stays as it was. [Server.Swap]
// does the same together with all the rest.
func (f *Front) Swap(c FrontConfig) error {
	rules, err := c.ready()
	if err != nil {
		return err
	}
	f.server.swapFront(rules)
	return nil
}

// ready makes the configuration ready for use, or says what is wrong in it.
func (c FrontConfig) ready() (*frontRules, error) {
	u, err := parseUpstream(c.Upstream)
	if err != nil {
		return nil, fmt.Errorf("front.upstream: %w", err)
	}
	if c.DeviceCookie != "" && !strings.HasPrefix(c.DeviceCookie, cookiePrefix) {
		return nil, errors.New("front.device_cookie: must begin with " + cookiePrefix)
	}
	realm := cmp.Or(c.Realm, defaultRealm)
	rules := &frontRules{
		upstream: u, realm: realm, caller: guard.Caller{Name: frontName, Realms: []string{realm}},
		passThrough: c.PassThrough, cookie: c.DeviceCookie,
	}
	for i, r := range c.Rules {
		ready, err := r.ready()
		if err != nil {
			return nil, fmt.Errorf("front.rules[%d].%w", i, err)
		}
		rules.rules = append(rules.rules, ready)
	}
	return rules, nil
}

func (r FrontRule) ready() (frontRule, error) {
	out := frontRule{FrontRule: r}
	var ok bool
	if out.page, ok = newPage(r.Path); !ok {
		return out, fmt.Errorf("path: %w", errNotPlain)
	}
	var err error
	out.place, err = newPlace(r.Account)
	return out, err
}

// parseUpstream reads the address of the application. It has no path: which
// path a request is guarded by must be the one that the application sees.
func parseUpstream(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" ||
		u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, errUpstream
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host}, nil
}

// CheckUpstream tells whether [NewFront] takes the address of an upstream. Its
// error does not contain it.
func CheckUpstream(s string) error {
	_, err := parseUpstream(s)
	return err
}

// CheckFrontPath tells whether a rule may have the path.
func CheckFrontPath(path string) error {
	if _, ok := newPage(path); !ok {
		return errNotPlain
	}
	return nil
}

// CheckPointer tells whether a text is a JSON pointer to something in a body.
func CheckPointer(s string) error {
	_, err := parsePointer(s)
	return err
}

var (
	errUpstream = errors.New("must be http://host:port or https://host:port, and nothing else")
	errNotPlain = errors.New("must be a plain path such as /login, without escapes, dot segments and parameters")
)

// match finds the rule of a request. known tells that the path is one of a
// rule, whatever the method; then rule may still be nil. A path that is that of
// two rules, each in another reading, is refused: it would be guarded as the
// one and tried as the other. The error is a *problem.
func (r *frontRules) match(method string, spellings []string) (rule *frontRule, known bool, err error) {
	behind, ok := behindPrograms(spellings)
	if !ok {
		return nil, false, notAPath()
	}
	method = strings.ToUpper(method)
	exact := true
	for i, s := range slices.Concat(spellings, behind) {
		if i == len(spellings) && rule != nil && exact {
			break // the page of a rule as it is, /index.php for instance
		}
		found, is, at := r.find(method, s)
		known, exact = known || at, exact && is
		switch {
		case found == nil:
		case rule == nil:
			rule = found
		case rule != found:
			return nil, true, notAPath()
		}
	}
	return rule, known, nil
}

// find finds the rule of a path in one spelling; exact tells that it is the
// page itself and not another name of it.
func (r *frontRules) find(method, spelling string) (rule *frontRule, exact, known bool) {
	for i, same := range []func(page, string) bool{page.is, page.maybe} {
		for k := range r.rules {
			candidate := &r.rules[k]
			if !same(candidate.page, spelling) {
				continue
			}
			known = true
			if slices.Contains(candidate.Methods, method) ||
				method == http.MethodHead && slices.Contains(candidate.Methods, http.MethodGet) {
				return candidate, i == 0, true
			}
		}
	}
	return nil, false, known
}

// serve answers one request: guarded, handed on, or refused.
func (f *Front) serve(c echo.Context) error {
	r := c.Request()
	rules := f.server.running(r.Context()).front
	if r.Method == http.MethodConnect || r.URL.Opaque != "" || r.URL.Path != "" && r.URL.Path[0] != '/' {
		return plain(http.StatusBadRequest, "target", "The request does not ask for a path.")
	}
	list, err := spellings(r.URL.EscapedPath())
	if err != nil {
		return err
	}
	rule, known, err := rules.match(r.Method, list)
	if err != nil {
		return err
	}
	if known {
		if err := plainRequest(r); err != nil {
			return err
		}
	}
	if rule != nil {
		recordOf(c).route = rule.Route
		return f.guard(c, rules, rule)
	}
	if !rules.passThrough {
		return plain(http.StatusNotFound, "path", "There is nothing at this path.")
	}
	if known {
		release, err := f.foreignForm(c, r)
		if err != nil {
			return err
		}
		defer release()
	}
	f.pass(c, rules, known)
	return nil
}

// guard handles a request that tries a credential.
func (f *Front) guard(c echo.Context, rules *frontRules, rule *frontRule) error {
	select {
	case f.slots <- struct{}{}:
		defer func() { <-f.slots }()
	default:
		return busy(guard.Decision{Reason: guard.ReasonOverloaded})
	}
	r, rec := c.Request(), recordOf(c)
	body, release, err := f.readBody(c, r)
	if err != nil {
		return err
	}
	defer release()
	if err := checkOverride(r, body); err != nil {
		return err
	}
	q := guard.Request{Realm: rules.realm, Route: rule.Route}
	if route, ok := f.server.rules(r.Context()).Policy.Route(rule.Route); !ok || !route.NoAccount {
		if q.Account, err = rule.place.account(r, body); err != nil {
			return err
		}
		if q.Account == "" {
			return refusedAccount(string(errNoAccount))
		}
	}
	q.Device = deviceCookie(r.Header, rules.cookie)
	q.Forwarded = f.forwarded(r)
	f.server.hint(r.Context(), rules.caller, q)
	rec.caller, rec.realm = frontName, rules.realm

	start := time.Now()
	d, err := f.server.engine.Check(r.Context(), rules.caller, q)
	f.server.metrics.checked(time.Since(start))
	if err != nil {
		p := *problemOf(err)
		if p.Status == http.StatusUnprocessableEntity {
			p.Status, p.Title = http.StatusBadRequest, http.StatusText(http.StatusBadRequest)
		}
		return &p
	}
	rec.decision(d)
	d = forStrangers(d)
	if d.Verdict != guard.Allow {
		return refusal(c, d)
	}
	a := &attempt{front: f, rules: rules, rule: rule, decision: d, record: rec, context: c}
	a.forward(r, body)
	return nil
}

// refusal is the answer to an attempt that may not go ahead.
func refusal(c echo.Context, d guard.Decision) error {
	if d.Busy {
		return busy(d)
	}
	setRateLimit(c.Response().Header(), d)
	return quota(d)
}
