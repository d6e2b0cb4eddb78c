package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

const (
	// connections bounds what a client keeps open, so that hundreds of
	// requests at once need not each dial anew.
	connections = 512

	// patience is how long an answer may take before the request counts as
	// lost. It is far above what any answer may need.
	patience = 30 * time.Second

	// mostBody bounds what is read of an answer, in bytes: a page of metrics
	// is the largest.
	mostBody = 4 << 20
)

// Client sends requests to one listener of a service. It is safe for
// concurrent use; [Client.Close] drops its idle connections.
type Client struct {
	url, key string
	http     *http.Client
}

// New returns a client for the listener at url, such as http://127.0.0.1:8080,
// which shows key as a bearer token unless it is "".
func New(url, key string) *Client {
	return &Client{url: url, key: key, http: &http.Client{
		Timeout: patience,
		Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: patience}).DialContext,
			MaxIdleConns:        connections,
			MaxIdleConnsPerHost: connections,
		},
		// A redirect would be an answer that nobody expects.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// With returns a client for the same listener over the same connections that
// shows another key.
func (c *Client) With(key string) *Client { return &Client{url: c.url, key: key, http: c.http} }

// Close drops the idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Check asks whether an attempt may go ahead.
func (c *Client) Check(ctx context.Context, a Attempt) (Decision, error) {
	var d Decision
	err := c.ask(ctx, "/v1/check", a, &d.Reply, &d)
	return d, err
}

// Report tells how an attempt ended.
func (c *Client) Report(ctx context.Context, r Report) (Reported, error) {
	var d Reported
	err := c.ask(ctx, "/v1/report", r, &d.Reply, &d)
	return d, err
}

// Forget clears the limits of an account or network.
func (c *Client) Forget(ctx context.Context, f Forget) (Reported, error) {
	var d Reported
	err := c.ask(ctx, "/v1/forget", f, &d.Reply, &d)
	return d, err
}

// Explain asks how an attempt would be decided.
func (c *Client) Explain(ctx context.Context, a Attempt) (Explanation, error) {
	var e Explanation
	err := c.ask(ctx, "/v1/explain", a, &e.Reply, &e)
	return e, err
}

// ask posts body and decodes the answer into into, of which reply is a part.
func (c *Client) ask(ctx context.Context, path string, body any, reply *Reply, into any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode a request to %s: %w", path, err)
	}
	r, err := c.Post(ctx, path, "application/json", b)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(r.Body, into); err != nil {
		return fmt.Errorf("%s answered %d with what is no JSON: %w", path, r.Status, err)
	}
	*reply = r
	return nil
}

// Post sends any body under any content type.
func (c *Client) Post(ctx context.Context, path, contentType string, body []byte) (Reply, error) {
	return c.Do(ctx, http.MethodPost, path, http.Header{"Content-Type": {contentType}}, body)
}

// Get reads one page.
func (c *Client) Get(ctx context.Context, path string) (Reply, error) {
	return c.Do(ctx, http.MethodGet, path, nil, nil)
}

// Do sends a request with headers of its own; a Host among them is sent as the
// Host of the request.
func (c *Client) Do(ctx context.Context, method, path string, header http.Header, body []byte) (Reply, error) {
	q, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(body))
	if err != nil {
		return Reply{}, fmt.Errorf("make a request to %s: %w", path, err)
	}
	if c.key != "" {
		q.Header.Set("Authorization", "Bearer "+c.key)
	}
	for name, values := range header {
		q.Header[name] = values
	}
	if host := header.Get("Host"); host != "" {
		q.Host = host
	}
	began := time.Now()
	p, err := c.http.Do(q)
	if err != nil {
		return Reply{}, fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer p.Body.Close()
	b, err := io.ReadAll(io.LimitReader(p.Body, mostBody))
	if err != nil {
		return Reply{}, fmt.Errorf("read the answer of %s: %w", path, err)
	}
	return Reply{Status: p.StatusCode, Header: p.Header, Body: b, Took: time.Since(began)}, nil
}
