package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"loginguard/guard"
)

// maxNetwork is the longest name of a network: a pool's, or a CIDR.
const maxNetwork = 64

// forgetBody is the body of a request to forget. Account and network exclude
// each other: one clears a person, the other everybody behind an address.
type forgetBody struct{ realm, account, scope, network text }

// forgotten is the answer to it.
type forgotten struct {
	Applied bool `json:"applied"`
}

// forget answers POST /v1/forget: let this person, or this network, in now.
func (s *Server) forget(c echo.Context, by guard.Caller) error {
	var b forgetBody
	err := decodeBody(c, members{"realm": &b.realm, "account": &b.account, "scope": &b.scope, "network": &b.network})
	if err != nil {
		return err
	}
	q, err := b.request(by)
	if err != nil {
		return err
	}
	recordOf(c).realm = q.Realm
	if err := s.engine.Forget(c.Request().Context(), by, q); err != nil {
		return err
	}
	return answer(c, http.StatusOK, typeJSON, forgotten{Applied: true})
}

// request checks the values; whether the network exists is the guard's to say.
func (b *forgetBody) request(by guard.Caller) (guard.ForgetRequest, error) {
	realm, err := realmOf(b.realm, by)
	if err != nil {
		return guard.ForgetRequest{}, err
	}
	var p *problem
	switch {
	case b.account.set == b.network.set:
		p = invalid("account", "Exactly one of account and network must say what to forget.")
	case b.account.set && (b.account.s == "" || len(b.account.s) > maxAccount):
		p = invalid("account", "An account has 1 to 1024 bytes.")
	case b.network.set && (b.network.s == "" || len(b.network.s) > maxNetwork):
		p = invalid("network", "A network is a CIDR or the name of a pool.")
	case b.network.set && b.scope.set:
		p = invalid("scope", "A network has no scope.")
	case b.scope.set && b.scope.s != "limits" && b.scope.s != "credentials":
		p = invalid("scope", "The scope must be limits or credentials.")
	}
	if p != nil {
		return guard.ForgetRequest{}, p
	}
	return guard.ForgetRequest{Realm: realm, Account: b.account.s, Scope: b.scope.s, Network: b.network.s}, nil
}

// explained is the answer to why. Lists are never null, and the members of a
// limit are all there, so that a script need not ask which.
type explained struct {
	Decision     guard.Verdict      `json:"decision"`
	Limit        string             `json:"limit,omitempty"`
	RetryAfter   int                `json:"retry_after,omitempty"` // whole seconds, of a denial
	Client       string             `json:"client"`
	ClientSource string             `json:"client_source"`
	Class        string             `json:"class"` // none, exempt, pool or hosting
	Networks     []explainedNetwork `json:"networks"`
	Account      string             `json:"account"` // keyed hash, as in the log
	Familiar     bool               `json:"familiar"`
	Failures     int64              `json:"failures"`
	Limits       []explainedLimit   `json:"limits"`
}

// explainedNetwork is one block that the client is in, from fine to coarse.
type explainedNetwork struct {
	Level   string `json:"level"`
	Network string `json:"network"`
}

// explainedLimit is one bucket that the attempt would be charged on.
type explainedLimit struct {
	Limit      string `json:"limit"`
	Level      string `json:"level"`
	Mode       string `json:"mode"`
	Capacity   int64  `json:"capacity"`
	Remaining  int64  `json:"remaining"`
	RetryAfter int64  `json:"retry_after"`
	Strikes    int64  `json:"strikes"`
	WouldDeny  bool   `json:"would_deny"`
	Override   string `json:"override"`
}

// explain answers POST /v1/explain: how would this attempt be decided now, and
// why? It charges nothing.
func (s *Server) explain(c echo.Context, by guard.Caller) error {
	q, err := s.question(c, by)
	if err != nil {
		return err
	}
	x, err := s.engine.Explain(c.Request().Context(), by, q)
	if err != nil {
		return err
	}
	rec := recordOf(c)
	rec.account, rec.client = x.Account, x.Client

	out := explained{
		Decision: x.Decision, Limit: x.Limit,
		Client: x.Client, ClientSource: x.ClientSource, Class: x.Class,
		Account: x.Account, Familiar: x.Familiar, Failures: x.Failures,
		Networks: make([]explainedNetwork, 0, len(x.Networks)),
		Limits:   make([]explainedLimit, 0, len(x.Limits)),
	}
	if x.Decision == guard.Deny {
		out.RetryAfter = x.RetryAfter
	}
	for _, n := range x.Networks {
		out.Networks = append(out.Networks, explainedNetwork(n))
	}
	for _, l := range x.Limits {
		out.Limits = append(out.Limits, explainedLimit(l))
	}
	return answer(c, http.StatusOK, typeJSON, out)
}
