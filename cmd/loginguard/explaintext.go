package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// explanation is what a service answers to explain.
type explanation struct {
	Decision     string `json:"decision"`
	Limit        string `json:"limit"`
	RetryAfter   int64  `json:"retry_after"` // seconds
	Client       string `json:"client"`
	ClientSource string `json:"client_source"`
	Class        string `json:"class"`
	Account      string `json:"account"` // keyed hash
	Familiar     bool   `json:"familiar"`
	Failures     int64  `json:"failures"`
	Networks     []struct {
		Level   string `json:"level"`
		Network string `json:"network"`
	} `json:"networks"`
	Limits []bucket `json:"limits"`
}

// bucket is the state of one limit.
type bucket struct {
	Limit      string `json:"limit"`
	Level      string `json:"level"`
	Mode       string `json:"mode"`
	Capacity   int64  `json:"capacity"`
	Remaining  int64  `json:"remaining"`
	RetryAfter int64  `json:"retry_after"` // seconds
	Strikes    int64  `json:"strikes"`
	WouldDeny  bool   `json:"would_deny"`
	Override   string `json:"override"` // its reason, "" for none
}

// name is what people call the limit.
func (b *bucket) name() string { return strings.TrimSpace(b.Limit + " " + b.Level) }

// left says how much there is.
func (b *bucket) left() string { return fmt.Sprintf("%d of %d left", b.Remaining, b.Capacity) }

// denies reports whether the limit keeps the attempt out.
func (b *bucket) denies() bool { return b.WouldDeny && b.Mode == "enforce" }

// write prints the explanation: the answer first, then all that it rests on.
func (x *explanation) write(w io.Writer, q question) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n", printable(x.headline()))
	if remedy := x.remedy(); remedy != "" {
		fmt.Fprintf(&b, "to let it in now: %s\n", printable(remedy))
	}
	b.WriteString("\n")
	account := "none"
	if x.Account != "" {
		account = x.Account + " in the log"
	}
	networks := make([]string, len(x.Networks))
	for i, n := range x.Networks {
		networks[i] = n.Level + " " + n.Network
	}
	about := [][]string{
		{"account", fmt.Sprintf("%s, realm %s, route %s", account, cmp.Or(q.Realm, "default"), cmp.Or(q.Route, "login"))},
		{"client", fmt.Sprintf("%s, taken from %s", x.Client, x.ClientSource)},
		{"class", x.Class + classes[x.Class]},
		{"networks", strings.Join(networks, ", ")},
		{"familiar", x.whether(q.Device)},
		{"failures", fmt.Sprintf("%d since the last success", x.Failures)},
	}
	if err := writeTable(&b, about); err != nil {
		return err
	}
	b.WriteString("\n")
	rows := [][]string{{"LIMIT", "LEFT", "WAIT", "STRIKES", "MODE", "NOTE"}}
	for i := range x.Limits {
		l := &x.Limits[i]
		wait := "-"
		if l.RetryAfter > 0 {
			wait = duration(l.RetryAfter)
		}
		rows = append(rows, []string{l.name(), fmt.Sprintf("%d of %d", l.Remaining, l.Capacity), wait,
			strconv.FormatInt(l.Strikes, 10), l.Mode, l.note()})
	}
	if err := writeTable(&b, rows); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// classes says what a class means.
var classes = map[string]string{
	"exempt":  ": no limit of networks and no global one holds, the account's own do",
	"pool":    ": a carrier's pool, all of it is one network",
	"hosting": ": a data centre or VPN, with a share of the capacity, never familiar",
	"none":    ": an ordinary address",
}

// whether says if the attempt is the account's own: by the device token that it
// shows, which is known if its limit is charged, or else by its network. Where
// the limit device is off nobody tells which it was.
func (x *explanation) whether(device string) string {
	known := slices.ContainsFunc(x.Limits, func(l bucket) bool { return l.Limit == "device" })
	switch {
	case x.Familiar && known:
		return "yes: the attempt comes with a known device, guesses from elsewhere do not count against it"
	case x.Familiar && device != "":
		return "yes: the attempt comes with a known device, or the account has signed in from here, guesses from elsewhere do not count against it"
	case x.Familiar:
		return "yes: the account has signed in from here, guesses from elsewhere do not count against it"
	}
	return "no: the account has not signed in from here of late, it shares its attempts with all strangers"
}

// note says what the limit does to the attempt.
func (b *bucket) note() string {
	var notes []string
	switch {
	case b.denies():
		notes = append(notes, "denies")
	case b.WouldDeny:
		notes = append(notes, "would deny")
	}
	if b.Override != "" {
		notes = append(notes, "override: "+b.Override)
	}
	return strings.Join(notes, ", ")
}

// headline is the whole answer in one line.
func (x *explanation) headline() string {
	if x.Decision == "allow" {
		return x.allowed()
	}
	verb := "denied by "
	if x.Decision == "challenge" {
		verb = "asked for a challenge by "
	}
	worst := x.worst()
	if worst == nil {
		return verb + cmp.Or(x.Limit, "the service")
	}
	line := verb + worst.name() + ": " + worst.left()
	if worst.Strikes > 0 {
		line += ", " + plural(int(worst.Strikes), "strike")
	}
	// Its own wait: that of the answer has a random part, which helps nobody here.
	if wait := cmp.Or(worst.RetryAfter, x.RetryAfter); wait > 0 {
		line += ", may try again in " + duration(wait)
	}
	return line
}

// worst is the limit that is meant by a denial, nil for none: of the levels of
// one limit the one that denies longest.
func (x *explanation) worst() *bucket {
	var worst *bucket
	for i := range x.Limits {
		if l := &x.Limits[i]; l.denies() && l.Limit == x.Limit && (worst == nil || l.RetryAfter > worst.RetryAfter) {
			worst = l
		}
	}
	return worst
}

// remedy is the command that lets the attempt in now, "" where there is none.
func (x *explanation) remedy() string {
	worst := x.worst()
	if worst == nil || x.Decision == "allow" {
		return ""
	}
	switch worst.Limit {
	case "account", "device", "familiar", "repeat", "challenged":
		return "loginguard forget --account, with the account of this attempt"
	case "network":
		for _, n := range x.Networks {
			if n.Level == worst.Level {
				return "loginguard forget --network " + n.Network
			}
		}
	}
	return ""
}

// allowed names the limit that is nearest to its end, and those that would deny
// if they were enforced.
func (x *explanation) allowed() string {
	var nearest *bucket
	var logged []string
	for i := range x.Limits {
		l := &x.Limits[i]
		if l.WouldDeny {
			logged = append(logged, l.name())
		}
		if l.Mode == "enforce" && (nearest == nil || l.Remaining*nearest.Capacity < nearest.Remaining*l.Capacity) {
			nearest = l
		}
	}
	line := "allowed"
	if nearest != nil {
		line += ": " + nearest.name() + " is nearest to its end, " + nearest.left()
	}
	if len(logged) > 0 {
		line += "; denied if it were enforced by " + strings.Join(logged, ", ")
	}
	return line
}

// duration writes seconds for people, never too short: 45 s, 14 min, 1 h 5 min.
func duration(seconds int64) string {
	const minute, hour = 60, 3600
	if seconds < 2*minute {
		return fmt.Sprintf("%d s", seconds)
	}
	minutes := (seconds + minute - 1) / minute
	switch hours := minutes * minute / hour; {
	case hours == 0:
		return fmt.Sprintf("%d min", minutes)
	case minutes%60 == 0:
		return fmt.Sprintf("%d h", hours)
	default:
		return fmt.Sprintf("%d h %d min", hours, minutes%60)
	}
}
