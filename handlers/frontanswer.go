package handlers

import (
	"crypto/rand"
	"fmt"
	"html"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

// writerOf returns the writer that [Front.access] put in the place of the
// server's.
func writerOf(c echo.Context) *frontWriter {
	if w, ok := c.Response().Writer.(*frontWriter); ok {
		return w
	}
	return &frontWriter{ResponseWriter: c.Response().Writer}
}

// frontWriter notes the status of an answer and gives up on a client that does
// not read it. Informational answers pass.
type frontWriter struct {
	http.ResponseWriter
	status int // of the final answer, 0 before it
}

// WriteHeader implements http.ResponseWriter.
func (w *frontWriter) WriteHeader(status int) {
	if w.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *frontWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	defer w.hurry()()
	return w.ResponseWriter.Write(p)
}

// FlushError is what http.ResponseController calls.
func (w *frontWriter) FlushError() error {
	defer w.hurry()()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap lets http.ResponseController find what else the server's writer can.
func (w *frontWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// hurry sets a deadline for what is written until the function that it returns
// is called. A stream may be silent for as long as it likes.
func (w *frontWriter) hurry() func() {
	control := http.NewResponseController(w.ResponseWriter)
	if control.SetWriteDeadline(time.Now().Add(stallTime)) != nil {
		return func() {}
	}
	return func() { _ = control.SetWriteDeadline(time.Time{}) }
}

// movingBody is the body of a request that must go on arriving while it is
// wanted.
type movingBody struct {
	io.ReadCloser
	control *http.ResponseController
}

// Read implements io.Reader.
func (b *movingBody) Read(p []byte) (int, error) {
	if b.control.SetReadDeadline(time.Now().Add(stallTime)) == nil {
		// The server goes on reading in the background, to see the client
		// leave: that must not run into the deadline.
		defer func() { _ = b.control.SetReadDeadline(time.Time{}) }()
	}
	return b.ReadCloser.Read(p)
}

// access is around every request of the front: it names it, catches panics, has
// errors written, and writes the log line. Headers of its own are only on
// answers of its own, so that those of the application stay as they are.
func (f *Front) access(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := time.Now()
		r := &record{id: rand.Text(), peer: peerOf(c.Request().RemoteAddr)}
		c.Set(recordKey, r)
		f.server.pin(c)
		w := &frontWriter{ResponseWriter: c.Response().Writer}
		c.Response().Writer = w
		finished := false
		defer func() {
			if !finished {
				r.cause = "cut_off" // http.ErrAbortHandler goes on to the server
			}
			f.line(r, w.status, start)
		}()
		if err := safely(next, c); err != nil {
			f.fail(err, c)
		}
		finished = true
		return nil
	}
}

// line writes the log line of a request: as for the API where the front itself
// answered, and for debugging only what the application answered.
func (f *Front) line(r *record, status int, start time.Time) {
	message := "front"
	if r.route != "" {
		message = "front " + r.route
	}
	if r.status != 0 || r.err != nil || r.degraded {
		if r.status == 0 {
			r.status = status
		}
		f.server.line(message, r, start)
		return
	}
	e := f.server.log.Debug()
	word(e, "client", r.client)
	word(e, "account_hash", r.account)
	word(e, "request_id", r.id)
	word(e, "realm", r.realm)
	word(e, "route", r.route)
	word(e, "decision", r.verdict)
	word(e, "outcome", r.outcome)
	word(e, "cause", r.cause)
	e.Int("status", status).Dur("duration_ms", time.Since(start)).Msg(message)
}

// fail answers a request of the front with an error: problem details, or a page
// for a browser, with the same status and headers.
func (f *Front) fail(err error, c echo.Context) {
	p := *problemOf(err)
	p.Support = f.server.support(c.Request().Context())
	rec := recordOf(c)
	rec.problem(&p)
	if writerOf(c).status != 0 {
		return
	}
	h := c.Response().Header()
	h.Set(echo.HeaderXRequestID, rec.id)
	h.Set(echo.HeaderCacheControl, "no-store")
	h.Set(echo.HeaderXContentTypeOptions, "nosniff")
	p.setRetryAfter(h)
	if p.Status == http.StatusUnauthorized {
		h.Set(echo.HeaderWWWAuthenticate, `Basic realm="login", charset="UTF-8"`)
	}
	if !wantsPage(c.Request().Header) {
		err = answer(c, p.Status, typeProblem, &p)
	} else {
		h.Set("Content-Security-Policy", pagePolicy)
		err = c.HTML(p.Status, p.page())
	}
	if err != nil && rec.err == nil {
		rec.err = err
	}
}

// wantsPage tells whether a browser shows the answer to a person: scripts ask
// for JSON or for anything.
func wantsPage(h http.Header) bool {
	accept := strings.ToLower(strings.Join(h.Values(echo.HeaderAccept), ","))
	return strings.Contains(accept, "text/html") && !strings.Contains(accept, "json")
}

// page is a problem as a page that needs nothing from anywhere.
func (p *problem) page() string {
	var more strings.Builder
	if p.RetryAfter > 0 {
		fmt.Fprintf(&more, "<p>Wait: %s.</p>\n", waitText(p.RetryAfter))
	}
	if p.Support != "" {
		u := html.EscapeString(p.Support)
		fmt.Fprintf(&more, "<p>Help: <a href=\"%s\">%s</a></p>\n", u, u)
	}
	title := html.EscapeString(http.StatusText(p.Status))
	return fmt.Sprintf("<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"+
		"<meta name=\"viewport\" content=\"width=device-width\">\n<title>%s</title>\n<h1>%s</h1>\n<p>%s</p>\n%s</html>\n",
		title, title, html.EscapeString(p.Detail), more.String())
}

// waitText says a number of seconds as people do, rounded up.
func waitText(seconds int) string {
	switch {
	case seconds == 1:
		return "1 second"
	case seconds < 120:
		return fmt.Sprintf("%d seconds", seconds)
	}
	return fmt.Sprintf("%d minutes", (seconds+59)/60)
}
