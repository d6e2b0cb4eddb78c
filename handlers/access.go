package handlers

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/rs/zerolog"

	"loginguard/guard"
)

// linesPerSecond bounds the log lines of one kind, so that a flood of denied
// attempts does not become a flood of the disk.
const linesPerSecond = 50

// record is what the log line of one request may say. Every value comes from
// the configuration, a fixed set of words, or the guard; nothing is copied
// from a request before it was found in one of them.
type record struct {
	id                            string
	caller, realm, route, outcome string
	verdict, limit, level, reason string
	degraded                      bool
	wouldDeny                     []string // log-only limits
	client, account               string   // parsed address, keyed hash
	peer                          string   // address of the socket, shown where a request is refused

	silent bool // probes, scrapes and the page have no line, unless they fail
	status int
	meant  int    // status of the problem that a dialect said in its own way, else 0
	cause  string // word for what went wrong
	err    error  // behind a 5xx
}

const recordKey = "loginguard.record"

// recordOf returns the record of a request; of a context that has none, one
// that nobody reads.
func recordOf(c echo.Context) *record {
	if r, ok := c.Get(recordKey).(*record); ok {
		return r
	}
	return &record{}
}

// decision notes how an attempt was decided.
func (r *record) decision(d guard.Decision) {
	r.verdict, r.limit, r.level, r.reason = string(d.Verdict), d.Limit, d.Level, d.Reason
	r.degraded, r.wouldDeny = d.Degraded, d.WouldDeny
	if r.err == nil {
		r.err = d.Err
	}
	r.client, r.account = d.Client, d.Account
}

// problem notes why there is another answer than the one asked for.
func (r *record) problem(p *problem) {
	r.status, r.cause = p.Status, p.cause
	if r.err == nil {
		r.err = p.err
	}
}

// headerRequestID is the name as a http.Header has it.
var headerRequestID = http.CanonicalHeaderKey(echo.HeaderXRequestID)

// Values that every answer has. They are shared: nobody changes them in place.
var noStore, noSniff = []string{"no-store"}, []string{"nosniff"}

// access is around every request: it names it, sets the headers that every
// answer has, catches panics, has errors written, and writes the log line.
func (s *Server) access(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := time.Now()
		r := &record{id: rand.Text(), peer: peerOf(c.Request().RemoteAddr)}
		c.Set(recordKey, r)
		s.pin(c)
		h := c.Response().Header()
		h[headerRequestID] = []string{r.id}
		h["Cache-Control"] = noStore
		h[echo.HeaderXContentTypeOptions] = noSniff

		if err := safely(next, c); err != nil {
			s.fail(err, c)
		}
		r.status = c.Response().Status
		if !r.silent || r.err != nil && r.status >= http.StatusInternalServerError {
			s.line(c.Path(), r, start)
		}
		return nil
	}
}

// safely turns a panic into an error.
func safely(next echo.HandlerFunc, c echo.Context) (err error) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if v == http.ErrAbortHandler {
			panic(v) // net/http's own way to cut a connection
		}
		err = &panicked{value: v, stack: debug.Stack()}
	}()
	return next(c)
}

// panicked is a panic as an error.
type panicked struct {
	value any
	stack []byte
}

// Error describes the panic without values that might come from a request:
// the text of the runtime's own errors, the type of all others.
func (p *panicked) Error() string {
	if e, ok := p.value.(runtime.Error); ok {
		return "panic: " + e.Error()
	}
	return fmt.Sprintf("panic: %T", p.value)
}

// line writes the log line of a request: debug for what was allowed, info for
// what was denied, warn and error for what went wrong. path is the pattern of
// the route, not what was sent.
func (s *Server) line(path string, r *record, start time.Time) {
	level, keep := zerolog.DebugLevel, &s.failures
	status := cmp.Or(r.meant, r.status)
	switch {
	case r.loud():
		level = zerolog.ErrorLevel
	case r.verdict == string(guard.Deny) || r.verdict == string(guard.Challenge):
		level, keep = zerolog.InfoLevel, &s.denials
		if r.reason != "" {
			level = zerolog.WarnLevel
		}
	case r.degraded, status == http.StatusUnauthorized, status == http.StatusForbidden,
		status == http.StatusServiceUnavailable:
		level = zerolog.WarnLevel
	case status >= http.StatusInternalServerError:
		level = zerolog.ErrorLevel
	case r.meant != 0:
		level = zerolog.WarnLevel // a proxy or mail server that asks wrongly keeps people out
	case status >= http.StatusBadRequest:
		level = zerolog.InfoLevel
	case len(r.wouldDeny) > 0:
		level, keep = zerolog.InfoLevel, &s.denials
	}
	denied := r.verdict == string(guard.Deny)
	unseen := level < s.log.GetLevel() || level < zerolog.GlobalLevel()
	if unseen && !(denied && s.events.wants(EventAttemptDenied)) {
		return
	}
	ok, dropped := true, int64(0)
	if level > zerolog.DebugLevel {
		if ok, dropped = keep.take(start); !ok {
			if denied {
				s.events.dropped(EventAttemptDenied)
			}
			return
		}
	}
	if denied {
		s.events.denied(r, start, dropped)
	}
	if unseen {
		return
	}
	e := s.log.WithLevel(level)
	if denied {
		e.Str("event", EventAttemptDenied)
	}
	// The address comes first and is a field of its own, so that what bans
	// addresses by this log cannot be told another one by free text after it.
	word(e, "client", r.client)
	word(e, "account_hash", r.account)
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		word(e, "peer", r.peer)
	}
	word(e, "request_id", r.id)
	word(e, "caller", r.caller)
	word(e, "realm", r.realm)
	word(e, "route", r.route)
	word(e, "decision", r.verdict)
	word(e, "limit", r.limit)
	word(e, "network_level", r.level)
	word(e, "reason", r.reason)
	word(e, "outcome", r.outcome)
	if r.degraded {
		e.Bool("degraded", true)
	}
	if len(r.wouldDeny) > 0 {
		e.Strs("would_deny", r.wouldDeny)
	}
	word(e, "cause", r.cause)
	if r.meant != 0 {
		e.Int("meant", r.meant)
	}
	e.Int("status", r.status)
	e.Dur("duration_ms", time.Since(start))
	if r.err != nil {
		word(e, "error", escapeText(r.err.Error()))
		var p *panicked
		if errors.As(r.err, &p) {
			word(e, "stack", escapeText(string(p.stack)))
		}
	}
	if dropped > 0 {
		e.Int64("lines_dropped", dropped)
	}
	if r.cause == "path" {
		path = "unknown path" // which one is the client's text
	}
	e.Msg(path)
}

// peerOf returns the address of a socket without its port, "" if it has none.
func peerOf(addr string) string {
	p, err := netip.ParseAddrPort(addr)
	if err != nil {
		return ""
	}
	return p.Addr().Unmap().String()
}

// word adds a field unless it is empty.
func word(e *zerolog.Event, name, v string) {
	if v != "" {
		e.Str(name, v)
	}
}
