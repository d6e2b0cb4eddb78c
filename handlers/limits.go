package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"loginguard/guard"
	"loginguard/policy"
)

// howToRaise is the documented path to more.
const howToRaise = "An operator raises a limit for a network, realm, route, caller or account by an entry in the " +
	"overrides of the configuration, with a reason and a date on which it ends."

// PublishedLimits is what GET /v1/limits answers: the limits as the world may
// know them. Secrecy would protect nothing: whoever is denied has found it out,
// and whoever has to wait deserves to know for how long.
type PublishedLimits struct {
	Limits     []PublishedLimit          `json:"limits"` // in a fixed order
	Routes     map[string]PublishedRoute `json:"routes"` // by name
	HowToRaise string                    `json:"how_to_raise"`
	Support    string                    `json:"support,omitempty"` // where users ask
}

// PublishedLimit is one limit. Capacities are in tokens.
type PublishedLimit struct {
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

// PublishedRoute is what an attempt on a route costs networks and the realm,
// and what a reported success does.
type PublishedRoute struct {
	Cost    int64  `json:"cost"`
	Success string `json:"success"`
}

// Publish returns the limits of a policy. Their Support is that of the policy.
func Publish(p *policy.Policy) PublishedLimits {
	out := PublishedLimits{
		Limits:     []PublishedLimit{},
		Routes:     map[string]PublishedRoute{},
		HowToRaise: howToRaise,
		Support:    p.SupportURL(),
	}
	for _, l := range p.Published() {
		out.Limits = append(out.Limits, PublishedLimit{
			Name: l.Name, Level: l.Level, Purpose: l.Purpose, Scope: l.Scope,
			Capacity: l.Capacity, MaxCapacity: l.MaxCapacity, Refill: l.Refill,
			Backoff: l.Backoff, Mode: l.Mode, Raise: l.Raise,
		})
	}
	for _, name := range p.Routes() {
		if r, ok := p.Route(name); ok {
			out.Routes[name] = PublishedRoute{Cost: r.Cost, Success: r.Success}
		}
	}
	return out
}

// limits answers GET /v1/limits from the policy that runs now.
func (s *Server) limits(c echo.Context, _ guard.Caller) error {
	out := Publish(s.rules(c.Request().Context()).Policy)
	out.Support = s.support(c.Request().Context())
	return answer(c, http.StatusOK, typeJSON, out)
}
