package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"loginguard/guard"
)

// mostDevice bounds a log's word for a device, in bytes.
const mostDevice = 1024

// errJSON is returned for a line that is no JSON object. Where exactly it
// stops being one says little to a reader who sees the line.
var errJSON = errors.New("is not a JSON object with the members of an attempt")

// parseJSON reads one attempt. It takes what a service would: members that it
// does not know, or finds twice, are refused, since a misspelt one would be an
// attempt of another kind.
func parseJSON(line []byte) (Event, int, error) {
	if !utf8.Valid(line) {
		return Event{}, 0, errors.New("is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return Event{}, 0, errJSON
	}
	var (
		ev   Event
		seen members
	)
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return Event{}, 0, errJSON
		}
		if err := seen.add(name); err != nil {
			return Event{}, 0, err
		}
		value, err := d.Token()
		if err != nil {
			return Event{}, 0, errJSON
		}
		if err := ev.member(name, value); err != nil {
			return Event{}, 0, err
		}
	}
	if _, err := d.Token(); err != nil {
		return Event{}, 0, errJSON
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Event{}, 0, errors.New("has something behind its object")
	}
	return ev, 1, ev.complete(seen)
}

// memberNames are those that an attempt may have.
var memberNames = [...]string{"time", "account", "ip", "outcome", "realm", "route", "device", "password_tag", "reason"}

// members is the set of those that a line has, by their place in memberNames.
type members uint16

func (m *members) add(name string) error {
	for i, known := range memberNames {
		if name != known {
			continue
		}
		if *m&(1<<i) != 0 {
			return bad(name, "is there twice")
		}
		*m |= 1 << i
		return nil
	}
	return fmt.Errorf("has the unknown member %s", clip(name))
}

func (m members) has(name string) bool {
	for i, known := range memberNames {
		if name == known {
			return m&(1<<i) != 0
		}
	}
	return false
}

// member sets one member.
func (ev *Event) member(name string, value json.Token) error {
	if name == "time" {
		return ev.setTime(value)
	}
	text, ok := value.(string)
	if !ok {
		return bad(name, "is not a string")
	}
	switch name {
	case "account":
		ev.Account = text
	case "ip":
		ev.IP = text
	case "outcome":
		ev.Outcome = text
	case "realm":
		ev.Realm = text
	case "route":
		ev.Route = text
	case "device":
		if len(text) > mostDevice {
			return bad(name, "is longer than 1024 bytes")
		}
		ev.Device = text
	case "password_tag":
		ev.PasswordTag = text
	case "reason":
		ev.Reason = text
	}
	return nil
}

// setTime reads RFC 3339 or seconds since 1970, to the microsecond.
func (ev *Event) setTime(value json.Token) error {
	switch v := value.(type) {
	case string:
		t, err := time.Parse(time.RFC3339Nano, v)
		if err != nil {
			return bad("time", "is neither RFC 3339, such as 2026-11-30T10:00:00Z, nor a number of seconds")
		}
		if ev.Time = t.UnixMicro(); ev.Time < 0 || ev.Time > latest {
			return bad("time", "is not between 1970 and 2200")
		}
		return nil
	case json.Number:
		seconds, err := strconv.ParseFloat(string(v), 64)
		switch {
		case err != nil || seconds < 0:
			return bad("time", "is no number of seconds since 1970")
		case seconds > latest/1e6:
			return bad("time", "is beyond 2199: are these milliseconds? Seconds are wanted")
		}
		// A double tells microseconds apart until 2255.
		ev.Time = int64(math.Round(seconds * 1e6))
		return nil
	}
	return bad("time", "is neither a string nor a number")
}

// complete checks what is known of the members together.
func (ev *Event) complete(seen members) error {
	for _, name := range [...]string{"time", "ip", "outcome"} {
		if !seen.has(name) {
			return bad(name, "is missing")
		}
	}
	if ev.Outcome != guard.Success && ev.Outcome != guard.Failure {
		return bad("outcome", "is neither success nor failure")
	}
	if ev.Reason != "" && ev.Outcome != guard.Failure {
		return bad("reason", "belongs to the outcome failure")
	}
	return nil
}

// clip quotes what a log contains, for a message.
func clip(s string) string {
	const most = 40
	if len(s) > most {
		s = s[:most] + "..."
	}
	return strconv.QuoteToASCII(s)
}
