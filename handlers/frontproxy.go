package handlers

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"strings"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
)

// Bounds towards the upstream. Guarded requests have connections of their own,
// so that people who hold streams open cannot keep others from signing in.
const (
	guardedConnections = 512
	passingConnections = 4096

	connectTime = 5 * time.Second  // to the upstream, and as long again for TLS
	waitTime    = 15 * time.Second // for a connection, dialling and TLS included

	// Until the headers of the answer, after the request was sent.
	guardedWait = 30 * time.Second
	passingWait = 2 * time.Minute // long polls

	// stallTime is how long a client or the upstream may take nothing of what
	// is sent to it, or a client nothing of a body that it announced.
	stallTime = time.Minute

	// idleTime is how long a connection to the upstream is kept for the next
	// request. It is shorter than what servers keep theirs, since one that the
	// upstream closes at the moment of its use cannot be told from a crash.
	idleTime = time.Second
)

// newTransport makes the connections to the upstream: HTTP/1.1, since
// WebSockets need it, without any proxy of the environment, and without
// asking for compression that the client did not ask for.
func newTransport(connections int, wait time.Duration) *http.Transport {
	dial := (&net.Dialer{Timeout: connectTime, KeepAlive: 30 * time.Second}).DialContext
	return &http.Transport{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dial(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return stallConn{conn}, nil
		},
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    connectTime,
		TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{},
		DisableCompression:     true,
		MaxConnsPerHost:        connections,
		MaxIdleConns:           connections,
		MaxIdleConnsPerHost:    connections,
		IdleConnTimeout:        idleTime,
		ResponseHeaderTimeout:  wait,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: 256 << 10,
	}
}

// stallConn is a connection whose other side must go on reading.
type stallConn struct{ net.Conn }

// Write writes with a deadline of its own.
func (c stallConn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(stallTime)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// pass hands on a request that tries no credential. known means that its path
// is that of a rule, so that no other protocol may begin there.
func (f *Front) pass(c echo.Context, rules *frontRules, known bool) {
	r, sent := traced(c.Request())
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = &movingBody{ReadCloser: r.Body, control: http.NewResponseController(writerOf(c))}
	}
	proxy := f.proxy(rules, f.passing, func(p *httputil.ProxyRequest) {
		if known {
			dropUpgrade(p.Out.Header)
		}
	})
	proxy.ModifyResponse = func(res *http.Response) error {
		dropSetCookie(res.Header, rules.cookie)
		return nil
	}
	proxy.ErrorHandler = func(_ http.ResponseWriter, r *http.Request, err error) {
		f.fail(upstreamProblem(r, sent.Load(), err), c)
	}
	proxy.ServeHTTP(writerOf(c), r)
}

// forward sends an allowed attempt to the upstream, with the body as it came.
func (a *attempt) forward(r *http.Request, body []byte) {
	r, a.sent = traced(r)
	r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	proxy := a.front.proxy(a.rules, a.front.guarded, func(p *httputil.ProxyRequest) {
		dropUpgrade(p.Out.Header)
		p.Out.Header.Del("Expect") // the body is here
		if len(body) > 0 {
			p.Out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		}
	})
	proxy.ModifyResponse = a.answered
	proxy.ErrorHandler = func(_ http.ResponseWriter, r *http.Request, err error) { a.unanswered(r, err) }
	proxy.ServeHTTP(writerOf(a.context), r)
}

// proxy makes the proxy for one request. more changes the outgoing request
// after all that is done to each.
func (f *Front) proxy(rules *frontRules, t http.RoundTripper, more func(*httputil.ProxyRequest)) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Transport: t,
		ErrorLog:  log.New(io.Discard, "", 0), // broken connections are in the log of requests
		Rewrite: func(p *httputil.ProxyRequest) {
			f.rewrite(rules, p)
			more(p)
		},
	}
}

// rewrite makes the request that the upstream gets of the one that came.
func (f *Front) rewrite(rules *frontRules, p *httputil.ProxyRequest) {
	in, out := p.In, p.Out
	out.URL.Scheme, out.URL.Host, out.URL.User = rules.upstream.Scheme, rules.upstream.Host, nil
	out.URL.RawQuery = in.URL.RawQuery // as it was sent, and as it was looked at
	out.Host = in.Host
	out.Trailer = nil // nothing that was not looked at

	way := f.chainOf(in)
	h := out.Header
	for name := range h {
		if plain := plainHeader(name); foreignHeader(plain, way.trusted) ||
			strings.ContainsAny(name, "_.") && ownHeaders[plain] {
			delete(h, name)
		}
	}
	if !strings.EqualFold(h.Get("Upgrade"), "websocket") || in.Method != http.MethodGet {
		// Over any other protocol, HTTP/2 in clear text above all, requests
		// would reach the upstream that nobody looks at.
		dropUpgrade(h)
	}
	dropCookie(h, rules.cookie)
	proto, host := way.origin(in)
	if text := way.text(); text != "" {
		h.Set("X-Forwarded-For", text)
	}
	h.Set("X-Forwarded-Proto", proto)
	h.Set("X-Forwarded-Host", host)
	if text := way.forwardedText(proto, host); text != "" && way.header == "forwarded" {
		h.Set("Forwarded", text)
	}
}

func dropUpgrade(h http.Header) {
	h.Del("Connection")
	h.Del("Upgrade")
	h.Del("Http2-Settings")
}

// ownHeaders are set here, and must not arrive in another spelling as well.
var ownHeaders = map[string]bool{
	"x-forwarded-for": true, "x-forwarded-proto": true, "x-forwarded-host": true, "forwarded": true, "cookie": true,
}

// foreignHeader tells whether a header must not come from a client: ours, those
// by which some applications take another path for the one that was asked for,
// and, unless a trusted proxy may have written them, those that say where a
// request comes from.
func foreignHeader(plain string, trusted bool) bool {
	switch plain {
	case "x-original-url", "x-rewrite-url":
		return true
	case "x-real-ip", "x-client-ip", "x-cluster-client-ip", "true-client-ip", "cf-connecting-ip", "fastly-client-ip":
		return !trusted
	}
	return strings.HasPrefix(plain, "x-loginguard-") || !trusted && strings.HasPrefix(plain, "x-forwarded-")
}

// statusClientGone is what nginx logs for it; HTTP knows no status for an answer
// that nobody gets.
const (
	statusClientGone = 499
	causeGone        = "client_gone"
)

// errNoConnection ends a request that waits for a connection.
var errNoConnection = errors.New("no connection to the upstream in time")

// traced returns the request with a bound on the wait for a connection. sent
// tells whether there was one, so that the upstream may have seen the request.
func traced(r *http.Request) (*http.Request, *atomic.Bool) {
	sent := new(atomic.Bool)
	ctx, cancel := context.WithCancelCause(r.Context())
	timer := time.AfterFunc(waitTime, func() { cancel(errNoConnection) })
	context.AfterFunc(r.Context(), func() { timer.Stop(); cancel(nil) })
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		timer.Stop()
		sent.Store(true)
	}})
	return r.WithContext(ctx), sent
}

// upstreamProblem tells why there is no answer of the upstream.
func upstreamProblem(r *http.Request, sent bool, err error) *problem {
	p := plain(http.StatusBadGateway, "upstream", "The application cannot be reached.")
	var timeout net.Error
	switch {
	case errors.Is(context.Cause(r.Context()), errNoConnection):
		p.cause = "upstream_full"
	case r.Context().Err() != nil:
		// Hardly anybody reads it, unless the client only closed its half of
		// the connection. Without an answer net/http would make it a 200.
		p = plain(statusClientGone, causeGone, "The client closed the connection.")
		p.Title = "Client Closed Request"
		return p
	case sent && errors.As(err, &timeout) && timeout.Timeout():
		p = plain(http.StatusGatewayTimeout, "upstream_slow", "The application did not answer in time.")
	case sent:
		p.cause, p.Detail = "upstream_broken", "The application gave no answer."
	}
	p.err = err
	return p
}
