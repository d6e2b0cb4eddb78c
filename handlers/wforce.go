package handlers

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"loginguard/guard"
)

// wforcePath is where mail servers ask in the protocol of wforce, the way
// Dovecot's auth policy client does. Everything below it is answered in the
// dialect, too: a slash too many in auth_policy_server_url must not let
// everybody in.
const wforcePath = "/wforce"

// The integers of the protocol. Positive ones delay a sign-in by as many
// seconds; they are never sent, since each would hold a process of the mail
// server for that long.
const (
	wforceAllow = 0
	wforceDeny  = -1
)

// wforceAnswer is every answer but that of a ping. Dovecot shows Msg to the
// user where it is not empty, and says that the password is wrong where it is.
type wforceAnswer struct {
	Status int               `json:"status"`
	Msg    string            `json:"msg"`
	Attrs  map[string]string `json:"r_attrs"` // what wforce's own clients read, never null
}

// wforceRoutes registers the protocol. GET is for pings.
func (s *Server) wforceRoutes(e *echo.Echo) {
	for _, path := range []string{wforcePath, wforcePath + "/"} {
		e.POST(path, s.as(s.caller, s.wforce))
		e.GET(path, s.as(s.caller, s.wforcePing))
	}
}

// wforce answers one command.
func (s *Server) wforce(c echo.Context, by guard.Caller) error {
	command, err := wforceCommand(c.Request().URL)
	if err != nil {
		return err
	}
	switch command {
	case "allow":
		return s.wforceAllow(c, by)
	case "report":
		return s.wforceReport(c, by)
	case "reset":
		return s.wforceReset(c, by)
	case "ping":
		return s.wforcePing(c, by)
	}
	return plain(http.StatusNotFound, "command", "There is no command of this name.")
}

// wforceCommand returns the one command of a query.
func wforceCommand(u *url.URL) (string, error) {
	q, err := url.ParseQuery(u.RawQuery)
	if commands := q["command"]; err == nil && len(commands) == 1 {
		return commands[0], nil
	}
	return "", plain(http.StatusBadRequest, "command", "The query must have exactly one command.")
}

// wforcePing answers whether somebody listens, in wforce's own word.
func (s *Server) wforcePing(c echo.Context, _ guard.Caller) error {
	if command, err := wforceCommand(c.Request().URL); err != nil {
		return err
	} else if command != "ping" {
		return plain(http.StatusMethodNotAllowed, "method", "This command needs POST.")
	}
	return answer(c, http.StatusOK, typeJSON, map[string]string{"status": "ok"})
}

// wforceAllow answers whether a password may be looked at. Dovecot asks twice
// for a good one, and is answered by the same attempt.
func (s *Server) wforceAllow(c echo.Context, by guard.Caller) error {
	var b wforceBody
	q, err := s.wforceRequest(c, by, &b)
	if err != nil {
		return err
	}
	start := time.Now()
	d, err := s.engine.Check(c.Request().Context(), by, q)
	if used(err) {
		// Without a session, several sign-ins of one mail program look like
		// one that asks too often. Then this is an attempt of its own, which
		// stays charged: more is counted than was tried, never less.
		q.ID = ""
		d, err = s.engine.Check(c.Request().Context(), by, q)
	}
	s.metrics.checked(time.Since(start))
	if err != nil {
		return err
	}
	recordOf(c).decision(d)
	if d.Verdict == guard.Allow {
		return answer(c, http.StatusOK, typeJSON, wforceAnswer{Status: wforceAllow, Attrs: map[string]string{}})
	}
	a := wforceAnswer{Status: wforceDeny, Msg: s.wforceText(c.Request().Context(), d), Attrs: map[string]string{
		"retry_after": strconv.Itoa(max(d.RetryAfter, 1)),
	}}
	for name, v := range map[string]string{"limit": d.Limit, "level": d.Level, "reason": d.Reason} {
		if v != "" {
			a.Attrs[name] = v
		}
	}
	return answer(c, http.StatusOK, typeJSON, a)
}

// wforceReport learns how an attempt ended. One that was refused here, and so
// never tested, teaches nothing. One that nobody asked about, as with a name
// that Dovecot finds malformed, is charged after the fact.
func (s *Server) wforceReport(c echo.Context, by guard.Caller) error {
	var b wforceBody
	q, err := s.wforceRequest(c, by, &b)
	if err != nil {
		return err
	}
	if !b.success.set {
		return invalid("success", "The member success is missing.")
	}
	outcome, reason := b.outcome()
	recordOf(c).outcome = outcome
	if outcome != "" {
		r := guard.Report{Request: q, Outcome: outcome, Reason: reason}
		_, err = s.engine.Report(c.Request().Context(), by, r)
		if neverAsked(err) {
			r.Request.ID = ""
			_, err = s.engine.Report(c.Request().Context(), by, r)
		}
		if err != nil {
			return err
		}
	}
	return answer(c, http.StatusOK, typeJSON, wforceAnswer{Attrs: map[string]string{}})
}

// used tells whether an id was used too often.
func used(err error) bool {
	var e *guard.Error
	return errors.As(err, &e) && e.Kind == guard.KindConflict
}

// neverAsked tells whether there is no attempt under an id.
func neverAsked(err error) bool {
	var e *guard.Error
	return errors.As(err, &e) && e.Kind == guard.KindInvalid && e.Field == "id"
}
