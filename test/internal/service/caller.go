package service

import (
	"context"
	"net/http"
	"testing"

	"loginguard/test/internal/client"
)

// Caller asks a service under one key. A request that gets no answer fails the
// test and returns an answer with status 0. It is safe for concurrent use.
type Caller struct {
	t          testing.TB
	api, admin *client.Client
}

// failed fails the test, from any goroutine, for a request without an answer.
func (c *Caller) failed(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Error(err)
	}
}

// With returns a caller that shows another key, "" for none.
func (c *Caller) With(key string) *Caller {
	return &Caller{t: c.t, api: c.api.With(key), admin: c.admin.With(key)}
}

// Check asks whether an attempt may go ahead.
func (c *Caller) Check(a client.Attempt) client.Decision {
	c.t.Helper()
	d, err := c.api.Check(context.Background(), a)
	c.failed(err)
	return d
}

// Report tells how an attempt ended, by its token.
func (c *Caller) Report(attempt, outcome string) client.Reported {
	c.t.Helper()
	return c.Send(client.Report{Attempt: attempt, Outcome: outcome})
}

// Send sends any report.
func (c *Caller) Send(r client.Report) client.Reported {
	c.t.Helper()
	a, err := c.api.Report(context.Background(), r)
	c.failed(err)
	return a
}

// Forget clears limits.
func (c *Caller) Forget(f client.Forget) client.Reported {
	c.t.Helper()
	a, err := c.api.Forget(context.Background(), f)
	c.failed(err)
	return a
}

// Explain asks how an attempt would be decided.
func (c *Caller) Explain(a client.Attempt) client.Explanation {
	c.t.Helper()
	e, err := c.api.Explain(context.Background(), a)
	c.failed(err)
	return e
}

// Do sends any request to the API.
func (c *Caller) Do(method, path string, header http.Header, body string) client.Reply {
	c.t.Helper()
	a, err := c.api.Do(context.Background(), method, path, header, []byte(body))
	c.failed(err)
	return a
}

// Operate sends any request to the admin listener.
func (c *Caller) Operate(method, path string, header http.Header, body string) client.Reply {
	c.t.Helper()
	a, err := c.admin.Do(context.Background(), method, path, header, []byte(body))
	c.failed(err)
	return a
}

// Page reads a page of the admin listener.
func (c *Caller) Page(path string) client.Reply {
	c.t.Helper()
	return c.Operate(http.MethodGet, path, nil, "")
}

// Client returns the client of the API, for what does not know of tests.
func (c *Caller) Client() *client.Client { return c.api }
