package handlers

import (
	"context"

	"github.com/labstack/echo/v4"

	"loginguard/guard"
)

// Running is what a reload of the configuration may change, as one value: see
// [Server.Swap].
type Running struct {
	Rules       guard.Rules // that the guard goes by
	Callers     []Caller
	Loopback    bool // as in [Config]
	ForwardAuth ForwardAuth
	Front       *FrontConfig // nil where there is no front
}

// running is a [Running] made ready. It is immutable.
type running struct {
	rules       *guard.Rules // nil for what the guard has in force, until the first Swap
	callers     []Caller
	loopback    bool
	forwardAuth ForwardAuth
	front       *frontRules // nil where there is none
}

// Swap puts another configuration in force in one step, or returns why it
// cannot be and leaves everything as it was.
//
// Each request sees one configuration from its begin to its end: who may ask,
// how the question is read, and the rules by which the guard decides it, since
// these go along in its context. So nothing has to wait for anything, and it
// does not matter when the guard itself is given its new rules.
func (s *Server) Swap(r Running) error {
	next := &running{
		rules: &r.Rules, callers: append([]Caller(nil), r.Callers...), loopback: r.Loopback, forwardAuth: r.ForwardAuth,
	}
	if r.Front != nil {
		front, err := r.Front.ready()
		if err != nil {
			return err
		}
		next.front = front
	}
	s.now.Store(next)
	s.metrics.expect(r.Rules.Policy, next.names())
	return nil
}

// swapFront replaces the front's part alone.
func (s *Server) swapFront(f *frontRules) {
	for {
		old := s.now.Load()
		next := *old
		next.front = f
		if s.now.CompareAndSwap(old, &next) {
			s.metrics.expect(nil, next.names())
			return
		}
	}
}

// runningKey is where the context of a request carries its configuration.
type runningKey struct{}

// pin gives a request the configuration that is in force now.
func (s *Server) pin(c echo.Context) {
	now := s.now.Load()
	ctx := context.WithValue(c.Request().Context(), runningKey{}, now)
	if now.rules != nil {
		ctx = guard.WithRules(ctx, now.rules)
	}
	c.SetRequest(c.Request().WithContext(ctx))
}

// running returns the configuration of a request; outside of one, that in force.
func (s *Server) running(ctx context.Context) *running {
	if r, ok := ctx.Value(runningKey{}).(*running); ok {
		return r
	}
	return s.now.Load()
}

// rules returns the rules of a request.
func (s *Server) rules(ctx context.Context) guard.Rules {
	if r := s.running(ctx).rules; r != nil {
		return *r
	}
	return s.engine.Rules()
}
