package feed

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"loginguard/test/internal/client"
)

// longestLine bounds a line of the log, in bytes.
const longestLine = 64 << 10

// Event is one line of the log. Time is RFC 3339 or Unix seconds.
type Event struct {
	Time        json.RawMessage `json:"time"`
	Account     string          `json:"account"`
	IP          string          `json:"ip"`
	Outcome     string          `json:"outcome"` // success or failure
	Realm       string          `json:"realm"`
	Route       string          `json:"route"`
	Device      string          `json:"device"` // any word for the device, not a token
	PasswordTag string          `json:"password_tag"`
	Reason      string          `json:"reason"`
}

// Run feeds every line of log to the service behind c, in order. Attempts that
// the service does not decide are counted and do not end it; an error is about
// the log, with its line, or about a service that does not answer.
func Run(ctx context.Context, c *client.Client, log io.Reader) (*Summary, error) {
	s := newSummary()
	devices := make(map[string]string) // tokens, by account and the log's word
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, longestLine)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		e, err := parse(line)
		if err != nil {
			return s, fmt.Errorf("line %d: %w", n, err)
		}
		if err := one(ctx, c, e, devices, s); err != nil {
			return s, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return s, fmt.Errorf("read the log: %w", err)
	}
	return s, nil
}

// parse reads one line, and refuses members that it does not know: one that is
// misspelt would be an attempt of another kind.
func parse(line []byte) (Event, error) {
	var e Event
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return e, fmt.Errorf("no event: %w", err)
	}
	if e.Outcome != "success" && e.Outcome != "failure" {
		return e, fmt.Errorf("outcome %q is neither success nor failure", e.Outcome)
	}
	return e, nil
}

// one makes one attempt.
func one(ctx context.Context, c *client.Client, e Event, devices map[string]string, s *Summary) error {
	device := e.Realm + "\x00" + e.Account + "\x00" + e.Device
	d, err := c.Check(ctx, client.Attempt{
		Account: e.Account, IP: e.IP, Realm: e.Realm, Route: e.Route, PasswordTag: e.PasswordTag, Device: devices[device],
	})
	if err != nil {
		return err
	}
	s.decided(e, d)
	if !d.Allowed() {
		return nil
	}
	r, err := c.Report(ctx, client.Report{
		Attempt: d.Attempt, Outcome: e.Outcome, Reason: e.Reason, RememberDevice: e.Device != "" && e.Outcome == "success",
	})
	if err != nil {
		return err
	}
	if r.Status != http.StatusOK || !r.Applied {
		s.Errors[fmt.Sprintf("report answered %d", r.Status)]++
	}
	if r.Device != "" {
		devices[device] = r.Device
	}
	return nil
}
