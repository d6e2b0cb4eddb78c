package handlers

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/rs/zerolog"

	"loginguard/guard"
)

// Engine is what the handlers need of the guard; *guard.Guard satisfies it.
// Errors that may be shown to a caller are *guard.Error, any other is answered
// with a 500 that says nothing of its inside.
type Engine interface {
	Check(context.Context, guard.Caller, guard.Request) (guard.Decision, error)
	Report(context.Context, guard.Caller, guard.Report) (guard.Reported, error)
	Forget(context.Context, guard.Caller, guard.ForgetRequest) error
	Explain(context.Context, guard.Caller, guard.Request) (guard.Explanation, error)
	Rules() guard.Rules
	InFlight() int
	StoreUp() (up bool, since time.Time)
}

// The values of Config.Readiness.
const (
	ReadinessProcess = "process" // ready as long as the process serves
	ReadinessStore   = "store"   // not ready while the store is down
)

// Config is what the handlers are told at start. Callers, Loopback and
// ForwardAuth may be replaced later, together with the policy: see [Server.Swap].
type Config struct {
	// Callers are the clients of the API. None, without Loopback, means that
	// every request is refused.
	Callers []Caller

	// SupportURL is shown in denials when the running policy names none.
	SupportURL string

	// Readiness says what /readyz looks at; "" means ReadinessProcess.
	Readiness string

	// Loopback serves the API without keys, with the rights of an admin, to
	// requests that come from this machine and are addressed to it.
	Loopback bool

	// ForwardAuth is about the questions of reverse proxies.
	ForwardAuth ForwardAuth

	// Events is who is told of what an operator wants to know at once; nil for
	// the log alone.
	Events *Events

	Log     zerolog.Logger
	Version string // shown on the operators' page
}

// Server answers HTTP requests. It is safe for concurrent use and has no
// state of its own but the bookkeeping of its log.
type Server struct {
	engine  Engine
	config  Config
	now     atomic.Pointer[running] // what a reload may change
	metrics *Metrics
	events  *Events
	log     zerolog.Logger

	denials  sampler // lines about attempts that were denied
	failures sampler // lines about requests that went wrong
	hints    proxyHint
	draining atomic.Bool
	started  time.Time
	history  history // of the operators' page

	api, admin *echo.Echo
	exporter   http.Handler // of the metrics
}

// New builds the handlers. It gives m the logger of c and the state of the
// store, so that m is complete once New has returned.
func New(g Engine, c Config, m *Metrics) *Server {
	s := &Server{
		engine:   g,
		config:   c,
		metrics:  m,
		log:      c.Log,
		denials:  sampler{perSecond: linesPerSecond},
		failures: sampler{perSecond: linesPerSecond},
		started:  time.Now(),
	}
	s.now.Store(&running{callers: append([]Caller(nil), c.Callers...), loopback: c.Loopback, forwardAuth: c.ForwardAuth})
	if s.events = c.Events; s.events == nil {
		s.events = NewEvents(c.Log, nil)
	}
	s.events.attach(m)
	m.attach(c.Log, g, s.events)
	m.expect(g.Rules().Policy, s.now.Load().names())
	s.exporter = m.handler()
	s.api = s.apiRoutes()
	s.admin = s.adminRoutes()
	return s
}

// API serves the callers: /v1/check, /v1/report, /v1/forget, /v1/explain and
// /v1/limits; reverse proxies below /v1/forward-auth; mail servers at /wforce.
func (s *Server) API() http.Handler { return s.api }

// Admin serves probes, metrics and operators: /livez, /readyz, /metrics, the
// page at / with /v1/status behind it and, with an admin key off loopback,
// /v1/forget and /v1/explain.
func (s *Server) Admin() http.Handler { return s.admin }

// Drain makes /readyz answer 503, so that no new work is sent here while the
// work in progress is finished. It cannot be taken back.
func (s *Server) Drain() { s.draining.Store(true) }

// apiRoutes lists what callers may ask, and who may ask it.
func (s *Server) apiRoutes() *echo.Echo {
	e := s.newEcho()
	// Before the routes, so that a page in a browser cannot even learn which
	// paths exist.
	e.Use(s.refuseForeign)
	e.POST("/v1/check", s.as(s.caller, s.check))
	e.POST("/v1/report", s.as(s.caller, s.report))
	e.POST("/v1/forget", s.as(s.admins, s.forget))
	e.POST("/v1/explain", s.as(s.admins, s.explain))
	get(e, "/v1/limits", s.as(s.caller, s.limits))
	s.forwardAuthRoutes(e)
	s.wforceRoutes(e)
	return e
}

// adminRoutes lists what operators and their machines may ask. Probes and
// metrics need no key and no limit: nothing they do changes anything.
func (s *Server) adminRoutes() *echo.Echo {
	e := s.newEcho()
	get(e, "/livez", s.livez)
	get(e, "/readyz", s.readyz)
	get(e, "/metrics", s.scrape)
	s.pageRoutes(e)
	e.POST("/v1/forget", s.as(s.operator, s.forget), ownPage)
	e.POST("/v1/explain", s.as(s.operator, s.explain), ownPage)
	return e
}

// newEcho makes a router with fixed paths only. Echo matches the path as it
// was sent, so that an encoded spelling of a path is another path: 404.
func (s *Server) newEcho() *echo.Echo {
	e := echo.New()
	e.HideBanner = true
	e.HidePort = true
	e.HTTPErrorHandler = s.fail
	e.Use(s.access)
	return e
}

// get registers a path for GET and for HEAD, which Echo keeps apart.
func get(e *echo.Echo, path string, h echo.HandlerFunc) {
	e.GET(path, h)
	e.HEAD(path, h)
}
