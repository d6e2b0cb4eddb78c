package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"loginguard/guard"
)

// Problem types of draft-ietf-httpapi-ratelimit-headers-10, section 5, with
// the titles that it gives them. All others are "about:blank" (RFC 9457, 4.2.1).
const (
	typeQuota    = "https://iana.org/assignments/http-problem-types#quota-exceeded"
	typeCapacity = "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity"

	titleQuota    = "Request cannot be satisfied as assigned quota has been exceeded"
	titleCapacity = "Request cannot be satisfied due to temporary server capacity constraints"

	typeBlank   = "about:blank"
	typeProblem = "application/problem+json"
)

// maxRetryAfter is the longest wait that is ever announced, in seconds: every
// wait ends by itself within the hour.
const maxRetryAfter = 3600

// problem is an answer that is not the one asked for, in the form of RFC 9457.
// It is an error, so that a handler returns it; [Server.fail] writes it. What
// it says goes to the client, except cause and err, which go to the log.
type problem struct {
	Type    string `json:"type"`
	Title   string `json:"title"`
	Status  int    `json:"status"`
	Detail  string `json:"detail,omitempty"`
	Field   string `json:"field,omitempty"` // member of the body that is at fault
	Support string `json:"support,omitempty"`

	// Extension members of a denial.
	Decision   string `json:"decision,omitempty"`
	Limit      string `json:"limit,omitempty"`
	Level      string `json:"level,omitempty"`
	Reason     string `json:"reason,omitempty"`
	RetryAfter int    `json:"retry_after,omitempty"` // whole seconds; also the header

	cause string // one of a fixed set of words
	err   error
}

// Error returns what is known for the log, never what a client sent.
func (p *problem) Error() string {
	if p.err != nil {
		return p.err.Error()
	}
	return p.cause
}

// plain makes a problem without a type of its own.
func plain(status int, cause, detail string) *problem {
	return &problem{Type: typeBlank, Title: http.StatusText(status), Status: status, Detail: detail, cause: cause}
}

// invalid makes the answer to a value that cannot be used.
func invalid(field, detail string) *problem {
	p := plain(http.StatusUnprocessableEntity, "value", detail)
	p.Field = field
	return p
}

// unavailable makes the answer to a question that the store left open.
func unavailable(err error) *problem {
	return &problem{
		Type: typeCapacity, Title: titleCapacity, Status: http.StatusServiceUnavailable,
		Detail: "The store did not answer; nothing is known to have changed. Try again.",
		Reason: guard.ReasonStore, RetryAfter: 1, cause: guard.ReasonStore, err: err,
	}
}

// problemOf turns any error into an answer. What it does not know becomes a
// 500 that shows nothing of its inside.
func problemOf(err error) *problem {
	var p *problem
	if errors.As(err, &p) {
		return p
	}
	var ge *guard.Error
	if errors.As(err, &ge) {
		return ofGuard(ge)
	}
	var he *echo.HTTPError
	if errors.As(err, &he) {
		switch he.Code {
		case http.StatusNotFound:
			return plain(he.Code, "path", "There is nothing at this path.")
		case http.StatusMethodNotAllowed:
			return plain(he.Code, "method", "This path does not know the method; see the Allow header.")
		}
	}
	p = plain(http.StatusInternalServerError, "internal",
		"The request failed. The log says why, under the id in the X-Request-Id header.")
	p.err = err
	return p
}

// ofGuard turns a refusal of the guard into an answer. The guard promises that
// details do not repeat what a caller sent. Causes do: of a value that cannot
// be used they quote it, and it may be an account in the wrong member. So only
// those of a failure go to the log.
func ofGuard(e *guard.Error) *problem {
	var p *problem
	switch e.Kind {
	case guard.KindInvalid:
		p = invalid(e.Field, sentence(e))
	case guard.KindConflict:
		p = plain(http.StatusConflict, "conflict", sentence(e))
		p.Field = e.Field
	case guard.KindForbidden:
		p = plain(http.StatusForbidden, "forbidden", sentence(e))
		p.Field = e.Field
	case guard.KindStore:
		p = unavailable(e.Err)
	case guard.KindOverloaded:
		p = unavailable(nil)
		p.Detail, p.Reason, p.cause = detailOverloaded, guard.ReasonOverloaded, guard.ReasonOverloaded
	default:
		p = problemOf(errors.New("guard: error of an unknown kind"))
	}
	return p
}

// sentence says what is wrong with which member.
func sentence(e *guard.Error) string {
	if e.Field == "" {
		return e.Detail
	}
	return "The member " + e.Field + " " + e.Detail + "."
}

// fail is the one place where an error becomes an answer. It serves as Echo's
// error handler, too, for what goes wrong before a route is found. An answer
// that is on its way already cannot be changed and is only recorded.
func (s *Server) fail(err error, c echo.Context) {
	p := *problemOf(err) // a copy: a problem may be a value shared by requests
	p.Support = s.support(c.Request().Context())
	recordOf(c).problem(&p)
	if c.Response().Committed {
		return
	}
	if d := s.dialect(c); d != nil {
		s.refuse(c, d, &p)
		return
	}
	writeProblem(c, &p)
}

// writeProblem writes a problem with the headers that belong to it.
func writeProblem(c echo.Context, p *problem) {
	h := c.Response().Header()
	p.setRetryAfter(h)
	if p.Status == http.StatusUnauthorized {
		h.Set(echo.HeaderWWWAuthenticate, `Bearer realm="loginguard"`)
	}
	if err := answer(c, p.Status, typeProblem, p); err != nil {
		recordOf(c).err = err
	}
}

// setRetryAfter announces the wait, the same number in header and body.
func (p *problem) setRetryAfter(h http.Header) {
	if p.RetryAfter != 0 {
		p.RetryAfter = min(max(p.RetryAfter, 1), maxRetryAfter)
		h.Set(echo.HeaderRetryAfter, strconv.Itoa(p.RetryAfter))
	}
}

// support returns where a person who was denied can ask for help.
func (s *Server) support(ctx context.Context) string {
	if p := s.rules(ctx).Policy; p != nil && p.SupportURL() != "" {
		return p.SupportURL()
	}
	return s.config.SupportURL
}

// answer writes v as JSON. HTML characters stay as they are: no answer is
// rendered by a browser, and nosniff says so.
func answer(c echo.Context, status int, contentType string, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	return c.Blob(status, contentType, b.Bytes())
}
