package handlers

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"loginguard/guard"
)

// allowed is the answer to an attempt that may go ahead. Members that would
// say nothing are left out, except failures and familiar: a caller that acts on
// them should not have to tell "none" from "not said".
type allowed struct {
	Decision  guard.Verdict `json:"decision"`
	Attempt   string        `json:"attempt,omitempty"`    // absent only when nothing was decided
	ExpiresIn int64         `json:"expires_in,omitempty"` // whole seconds in which to report
	Familiar  bool          `json:"familiar"`
	WouldDeny []string      `json:"would_deny,omitempty"` // log-only limits
	Failures  int64         `json:"failures"`             // since the last success
	Degraded  bool          `json:"degraded,omitempty"`   // on_failure allowed it
}

// challenged is the answer to an attempt that must prove something first.
type challenged struct {
	Decision guard.Verdict `json:"decision"`
	Limit    string        `json:"limit"`
}

// check answers POST /v1/check: may this attempt go ahead?
func (s *Server) check(c echo.Context, by guard.Caller) error {
	q, err := s.question(c, by)
	if err != nil {
		return err
	}
	start := time.Now() // a body that trickles in is not the guard's time
	d, err := s.engine.Check(c.Request().Context(), by, q)
	s.metrics.checked(time.Since(start))
	if err != nil {
		// Whatever a caller looks at, status or decision, it must not take an
		// answer that is none for an allowance.
		p := problemOf(err)
		if p.Status == http.StatusServiceUnavailable {
			p.Decision = string(guard.Deny)
		}
		return p
	}
	recordOf(c).decision(d)
	return decided(c, d)
}

// question reads the body of a check or of an explanation.
func (s *Server) question(c echo.Context, by guard.Caller) (guard.Request, error) {
	var b checkBody
	if err := decodeBody(c, b.members()); err != nil {
		return guard.Request{}, err
	}
	q, err := b.request(s.rules(c.Request().Context()).Policy, by)
	if err != nil {
		return guard.Request{}, err
	}
	s.hint(c.Request().Context(), by, q)
	rec := recordOf(c)
	rec.realm, rec.route = q.Realm, q.Route
	return q, nil
}

// decided writes a decision with its headers. A denial that is not about this
// account or network has no RateLimit headers: they would show buckets that
// have nothing to do with it.
func decided(c echo.Context, d guard.Decision) error {
	h := c.Response().Header()
	switch {
	case d.Verdict == guard.Allow:
		setRateLimit(h, d)
		return answer(c, http.StatusOK, typeJSON, allowed{
			Decision:  d.Verdict,
			Attempt:   d.Attempt,
			ExpiresIn: int64(d.ExpiresIn / time.Second), // down: a report must come before the end
			Familiar:  d.Familiar,
			WouldDeny: d.WouldDeny,
			Failures:  d.Failures,
			Degraded:  d.Degraded,
		})
	case d.Verdict == guard.Challenge:
		setRateLimit(h, d)
		return answer(c, http.StatusOK, typeJSON, challenged{d.Verdict, d.Limit})
	case d.Busy:
		return busy(d)
	}
	setRateLimit(h, d)
	return quota(d)
}

// quota is the denial of an attempt whose account or network has to wait. The
// text is the same for every account: nobody learns which ones exist.
func quota(d guard.Decision) *problem {
	detail := "There were too many attempts on this account. Try again after the wait."
	switch d.Limit {
	case "network", "pool":
		detail = "There were too many attempts from this network. Try again after the wait."
	case "password":
		detail = "There were too many attempts of this kind. Try again after the wait."
	}
	return &problem{
		Type: typeQuota, Title: titleQuota, Status: http.StatusTooManyRequests, Detail: detail,
		Decision: string(guard.Deny), Limit: d.Limit, Level: d.Level,
		RetryAfter: max(d.RetryAfter, 1),
	}
}

const detailOverloaded = "Too many attempts are being decided at this moment. Try again after the wait."

// busy is a denial that is not about this account or network.
func busy(d guard.Decision) *problem {
	detail := "There are too many attempts on the whole service. Try again after the wait."
	switch d.Reason {
	case guard.ReasonStore:
		detail = "The store did not answer, so that nothing can be allowed. Try again after the wait."
	case guard.ReasonOverloaded:
		detail = detailOverloaded
	}
	return &problem{
		Type: typeCapacity, Title: titleCapacity, Status: http.StatusServiceUnavailable, Detail: detail,
		Decision: string(guard.Deny), Limit: d.Limit, Level: d.Level, Reason: d.Reason,
		RetryAfter: max(d.RetryAfter, 1),
	}
}
