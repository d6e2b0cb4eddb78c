package handlers

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"loginguard/guard"
)

// maxAttempt is the longest attempt token that can be one of ours, in bytes.
const maxAttempt = 512

// The words of a report.
var (
	outcomes = map[string]bool{guard.Success: true, guard.Failure: true, guard.Cancelled: true}
	reasons  = map[string]bool{guard.BadPassword: true, guard.UnknownAccount: true, guard.MFAFailed: true, guard.OtherReason: true}
)

// reportBody is the body of a report. The attempt is named in one of three
// ways: by its token, by the caller's id with account and address, or not at
// all, and then the members of a check describe one that nobody asked about.
type reportBody struct {
	checkBody
	attempt, outcome, reason text
	rememberDevice           flag
}

func (b *reportBody) members() members {
	m := b.checkBody.members()
	m["attempt"] = &b.attempt
	m["outcome"] = &b.outcome
	m["reason"] = &b.reason
	m["remember_device"] = &b.rememberDevice
	return m
}

// reported is the answer to a report.
type reported struct {
	Applied   bool   `json:"applied"`
	Device    string `json:"device,omitempty"`
	DeviceTTL int64  `json:"device_ttl,omitempty"` // seconds
}

// report answers POST /v1/report: how did the attempt end?
func (s *Server) report(c echo.Context, by guard.Caller) error {
	var b reportBody
	if err := decodeBody(c, b.members()); err != nil {
		return err
	}
	if err := b.words(); err != nil {
		return err
	}
	r := guard.Report{
		Attempt:        b.attempt.s,
		Outcome:        b.outcome.s,
		Reason:         b.reason.s,
		RememberDevice: b.rememberDevice.b,
	}
	rec := recordOf(c)
	var err error
	if b.attempt.set {
		// The token knows all but the realm, which may be said once more.
		r.Request.Realm, err = b.token(by)
	} else {
		r.Request, err = b.request(s.rules(c.Request().Context()).Policy, by)
	}
	if err != nil {
		return err
	}
	rec.realm, rec.route, rec.outcome = r.Request.Realm, r.Request.Route, r.Outcome

	a, err := s.engine.Report(c.Request().Context(), by, r)
	if err != nil {
		return err
	}
	out := reported{Applied: a.Applied, Device: a.Device}
	if a.Device != "" {
		out.DeviceTTL = int64(a.DeviceTTL / time.Second)
	}
	return answer(c, http.StatusOK, typeJSON, out)
}

// words checks the members that are one of a few words.
func (b *reportBody) words() error {
	switch {
	case !outcomes[b.outcome.s]:
		return invalid("outcome", "The outcome must be success, failure or cancelled.")
	case b.reason.set && !reasons[b.reason.s]:
		return invalid("reason", "The reason must be bad_password, unknown_account, mfa_failed or other.")
	case b.reason.set && b.outcome.s == guard.Success:
		return invalid("reason", "A success has no reason.")
	}
	return nil
}

// token checks a report by attempt token and returns its realm, "" when the
// report does not repeat it. Members that the token already answers are refused
// rather than ignored: they could say something else.
func (b *reportBody) token(by guard.Caller) (string, error) {
	if b.attempt.s == "" || len(b.attempt.s) > maxAttempt {
		return "", invalid("attempt", "This is no attempt of this service.")
	}
	for _, m := range []struct {
		name string
		set  bool
	}{
		{"account", b.account.set}, {"ip", b.ip.set}, {"forwarded", b.forwarded.set},
		{"route", b.route.set}, {"id", b.id.set}, {"device", b.device.set}, {"password_tag", b.tag.set},
		{"can_challenge", b.canChallenge.set}, {"challenge_passed", b.challengePassed.set},
	} {
		if m.set {
			return "", invalid(m.name, "The attempt says this already; send one or the other.")
		}
	}
	if !b.realm.set {
		return "", nil
	}
	return realmOf(b.realm, by)
}
