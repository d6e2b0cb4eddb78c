package handlers

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"loginguard/guard"
)

// wforce is the dialect of mail servers.
type wforce struct{}

func (wforce) name() string { return "wforce" }

// wforceTrouble is what users see of a mail server that is wrongly set up or
// of a guard that cannot decide.
const wforceTrouble = "Signing in is not possible at the moment. Your password was not checked. Try again in a few minutes."

// refuse writes 200 and a status below zero in place of a problem: Dovecot
// signs everybody in on any other status of HTTP.
func (wforce) refuse(c echo.Context, p *problem) {
	a := wforceAnswer{Status: wforceDeny, Msg: wforceTrouble, Attrs: map[string]string{}}
	if p.Status < http.StatusInternalServerError {
		// For the person who sets up the mail server and looks at it with
		// curl; users see only the text above.
		a.Attrs["error"] = p.Detail
	}
	if err := answer(c, http.StatusOK, typeJSON, a); err != nil {
		recordOf(c).err = err
	}
}

// wforceText is what a person is told whose attempt was denied. Dovecot shows
// it as an alert; without a text it says what it says of a wrong password, and
// then people change a password that is right and mail programs ask for it
// again and again, at the cost of the very limit that they ran into. It tells
// an attacker nothing: accounts that do not exist are answered alike, and when
// the wait ends is no secret of the API either.
func (s *Server) wforceText(ctx context.Context, d guard.Decision) string {
	text := wforceTrouble
	switch {
	case d.Reason != "":
	case d.Busy:
		text = "Too many sign-ins on this server at the moment. Your password was not checked. Try again in " + spoken(d.RetryAfter) + "."
	case d.Level != "":
		text = "Too many sign-in attempts from your network. Your password was not checked. Try again in " + spoken(d.RetryAfter) + "."
	default:
		text = "Too many sign-in attempts on this account. Your password was not checked. Try again in " + spoken(d.RetryAfter) + "."
	}
	// The text becomes one line of IMAP, POP3 or SMTP.
	if url := s.support(ctx); url != "" && strings.IndexFunc(url, func(r rune) bool { return r <= ' ' || r >= 0x7F }) < 0 {
		text += " Help: " + url
	}
	return text
}

// spoken returns whole seconds as people say them, never less than they are.
func spoken(seconds int) string {
	switch {
	case seconds <= 1:
		return "a second"
	case seconds <= 90:
		return fmt.Sprintf("%d seconds", seconds)
	}
	return fmt.Sprintf("%d minutes", (seconds+59)/60)
}
