package handlers

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"

	"loginguard/guard"
)

// FrontMatch recognises an answer of the application. What it names must all
// be true; one that names nothing matches nothing. Where both a success and a
// failure match, the one with a header wins, since the other one cannot know
// better, and else the failure.
type FrontMatch struct {
	Status   []int
	Header   string // name of a header, "" for none
	Contains string // in one of its lines, as it is written; "" for any
}

// of tells whether m recognises an answer.
func (m FrontMatch) of(res *http.Response, now time.Time) bool {
	if len(m.Status) == 0 && m.Header == "" || len(m.Status) > 0 && !slices.Contains(m.Status, res.StatusCode) {
		return false
	}
	if m.Header == "" {
		return true
	}
	return slices.ContainsFunc(res.Header.Values(m.Header), func(line string) bool {
		return strings.Contains(line, m.Contains) &&
			!(strings.EqualFold(m.Header, echo.HeaderSetCookie) && endsCookie(line, now))
	})
}

// endsCookie tells whether a Set-Cookie removes a cookie: applications do so
// with the session when a password is wrong, and that is no success.
func endsCookie(line string, now time.Time) bool {
	c, err := http.ParseSetCookie(line)
	if err != nil {
		return true
	}
	return c.Value == "" || c.MaxAge < 0 || c.MaxAge == 0 && !c.Expires.IsZero() && c.Expires.Before(now)
}

// judge tells how an attempt ended from the answer to it.
//
// What no rule recognises is a failure: a wrong password must not become free
// by an answer that nobody thought of, such as the 500 of a login that
// crashes. Only what a gateway says for an application that was not reached
// means that the credential was not tested.
func (r *frontRule) judge(res *http.Response, now time.Time) (outcome, reason string) {
	success, failure := r.Success.of(res, now), r.Failure.of(res, now)
	if success && failure {
		success = r.Success.Header != "" && r.Failure.Header == ""
		failure = !success
	}
	switch {
	case success:
		return guard.Success, ""
	case failure:
		return guard.Failure, guard.BadPassword
	}
	switch res.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return guard.Cancelled, ""
	}
	return guard.Failure, guard.OtherReason
}

// reportTime bounds the report of an outcome, for which the client waits. The
// store has a budget of its own, which is shorter.
const reportTime = 5 * time.Second

// attempt is an allowed attempt on its way through the upstream.
type attempt struct {
	front    *Front
	rules    *frontRules
	rule     *frontRule
	decision guard.Decision // as strangers may see it
	record   *record
	context  echo.Context
	sent     *atomic.Bool // the upstream may have seen it
}

// errSwitched is an upstream that wants to leave HTTP on a guarded path, where
// any number of attempts could follow unseen.
var errSwitched = errors.New("the upstream switches protocols on a guarded path")

// answered is called with the headers of the answer, before the client gets a
// byte of them: who knows the outcome cannot hang up before it is reported.
func (a *attempt) answered(res *http.Response) error {
	if res.StatusCode == http.StatusSwitchingProtocols {
		return errSwitched
	}
	dropSetCookie(res.Header, a.rules.cookie)
	outcome, reason := a.rule.judge(res, time.Now())
	done := a.report(res.Request.Context(), outcome, reason)
	if done.Device != "" && a.rules.cookie != "" {
		setDeviceCookie(res.Header, a.rules.cookie, done.Device, done.DeviceTTL)
	}
	setRateLimit(res.Header, a.decision)
	res.Header.Set(echo.HeaderCacheControl, "no-store")
	return nil
}

// unanswered is called when there is no answer. Only where the upstream was not
// reached it is known that the credential was not tested. A client that left
// stays charged, or it would leave after every guess; and a password that makes
// the upstream crash or hang is a guess like any other.
func (a *attempt) unanswered(r *http.Request, err error) {
	p := upstreamProblem(r, a.sent.Load(), err)
	outcome, reason := guard.Failure, guard.OtherReason
	if !a.sent.Load() && p.cause != causeGone {
		outcome, reason = guard.Cancelled, ""
	}
	a.report(r.Context(), outcome, reason)
	setRateLimit(a.context.Response().Header(), a.decision)
	a.front.fail(p, a.context)
}

// report tells the guard. A failure of it costs nobody the answer: the attempt
// stays charged, and the log says why.
func (a *attempt) report(ctx context.Context, outcome, reason string) guard.Reported {
	a.record.outcome = outcome
	if a.decision.Attempt == "" {
		return guard.Reported{} // nothing was charged
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTime)
	defer cancel()
	done, err := a.front.server.engine.Report(ctx, a.rules.caller, guard.Report{
		Attempt: a.decision.Attempt, Outcome: outcome, Reason: reason,
		RememberDevice: outcome == guard.Success && a.rules.cookie != "",
	})
	if err != nil {
		a.record.cause, a.record.err = "unreported", err
	}
	return done
}
