package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"loginguard/guard"
)

// howToRaise is the documented path to more.
const howToRaise = "An operator raises a limit for a network, realm, route, caller or account by an entry in the " +
	"overrides of the configuration, with a reason and a date on which it ends."

// published is one limit as the world may know it. Secrecy would protect
// nothing: whoever is denied has found it out, and whoever has to wait deserves
// to know for how long.
type published struct {
	Name        string `json:"name"`
	Level       string `json:"level,omitempty"`
	Purpose     string `json:"purpose"`
	Scope       string `json:"scope"`
	Capacity    int64  `json:"capacity"`
	MaxCapacity int64  `json:"max_capacity,omitempty"` // for limits that grow with the people behind a network
	Refill      string `json:"refill"`
	Backoff     string `json:"backoff,omitempty"`
	Mode        string `json:"mode"`
	Raise       string `json:"raise,omitempty"`
}

// publishedRoute is what an attempt on a route costs networks and the realm,
// and what a reported success does.
type publishedRoute struct {
	Cost    int64  `json:"cost"`
	Success string `json:"success"`
}

// limits answers GET /v1/limits from the policy that runs now.
func (s *Server) limits(c echo.Context, _ guard.Caller) error {
	p := s.engine.Rules().Policy
	out := struct {
		Limits     []published               `json:"limits"`
		Routes     map[string]publishedRoute `json:"routes"`
		HowToRaise string                    `json:"how_to_raise"`
		Support    string                    `json:"support,omitempty"`
	}{
		Limits:     []published{},
		Routes:     map[string]publishedRoute{},
		HowToRaise: howToRaise,
		Support:    s.support(),
	}
	for _, l := range p.Published() {
		out.Limits = append(out.Limits, published{
			Name: l.Name, Level: l.Level, Purpose: l.Purpose, Scope: l.Scope,
			Capacity: l.Capacity, MaxCapacity: l.MaxCapacity, Refill: l.Refill,
			Backoff: l.Backoff, Mode: l.Mode, Raise: l.Raise,
		})
	}
	for _, name := range p.Routes() {
		if r, ok := p.Route(name); ok {
			out.Routes[name] = publishedRoute{Cost: r.Cost, Success: r.Success}
		}
	}
	return answer(c, http.StatusOK, typeJSON, out)
}
