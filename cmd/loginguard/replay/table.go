package replay

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
)

// Print writes the report as tables for people.
func (r *Report) Print(w io.Writer) error {
	t := &table{w: tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	t.line("%s: %s, %d with the right credential, %d with a wrong one", printable(r.Log), plural(r.Events, "attempt"), r.Successes, r.Events-r.Successes)
	if r.Events > 0 {
		t.line("from %s to %s", moment(r.First), moment(r.Last))
	}
	if r.NoAccount > 0 {
		t.line("%s named no account: only networks and global decide these", plural(r.NoAccount, "attempt"))
	}
	if r.SteppedBack > 0 {
		t.line("%s had an earlier time than the one before: the later time was taken", plural(r.SteppedBack, "attempt"))
	}
	if r.Skipped > 0 {
		t.line("%s could not be used and %s passed over, the first: %s", plural(r.Skipped, "line"), wasWere(r.Skipped), printable(r.FirstSkip))
	}
	if r.OtherLines > 0 {
		t.line("%s about something else", plural(r.OtherLines, "line"))
	}
	for _, o := range r.Policies {
		o.print(t, r.NamesHashed)
	}
	if r.Changes != nil {
		r.Changes.print(t, r.Policies[0].Config, r.Policies[1].Config)
	}
	if err := t.w.Flush(); err != nil && t.err == nil {
		t.err = err
	}
	return t.err
}

func (o *Outcome) print(t *table, hashed bool) {
	t.line("")
	t.line("%s (%s): %d allowed, %d denied", printable(o.Config), o.Mode, o.Allowed, o.Denied)
	t.line("  denied with the right credential: %d, of %s", o.DeniedSuccesses, o.people())
	if o.Denied > 0 {
		t.line("  longest wait: %s, with the right credential %s", wait(o.LongestWait), wait(o.PersonWait))
	}
	if o.Challenged > 0 {
		t.line("  challenged: %d", o.Challenged)
	}
	if o.logs() {
		t.line("  allowed, though a log-only limit would have denied: %d, %d with the right credential", o.WouldDeny, o.WouldDenySuccesses)
	}
	t.line("")
	t.row("LIMIT", "MODE", "EVENTS", "DENIED", "RIGHT", "WOULD DENY", "RIGHT")
	for _, l := range o.Limits {
		if l.on() {
			t.row(l.Name(), l.Mode, num(l.Events), num(l.Denied), num(l.DeniedSuccesses), num(l.WouldDeny), num(l.WouldDenySuccesses))
		}
	}
	label := "ACCOUNT"
	if hashed {
		label += " (HASH)"
	}
	printCounts(t, label, o.Accounts)
	printCounts(t, "NETWORK", o.Networks)
}

func (o *Outcome) people() string {
	text := "account"
	if o.People != 1 {
		text += "s"
	}
	if o.PeopleMore {
		return fmt.Sprintf("more than %d %s", o.People, text)
	}
	return fmt.Sprintf("%d %s", o.People, text)
}

// logs reports whether a limit is log-only.
func (o *Outcome) logs() bool {
	for _, l := range o.Limits {
		if l.Mode == "log_only" {
			return true
		}
	}
	return false
}

func printCounts(t *table, label string, list []Count) {
	if len(list) == 0 {
		return
	}
	t.line("")
	t.row(label, "DENIED", "WOULD DENY", "RIGHT")
	for _, c := range list {
		right := num(c.Successes)
		if c.AtMostMissed > 0 {
			right += fmt.Sprintf(" (at most %d more in all)", c.AtMostMissed)
		}
		t.row(printable(c.Name), num(c.Denied), num(c.WouldDeny), right)
	}
}

func (c *Changes) print(t *table, first, second string) {
	t.line("")
	t.line("What changes with %s in place of %s", printable(first), printable(second))
	t.line("")
	t.row("CHANGE", "BY LIMIT", "EVENTS", "RIGHT")
	for _, part := range []struct {
		name string
		c    Change
	}{{"newly denied", c.OnlyFirst}, {"no longer denied", c.OnlySecond}, {"denied by both", c.Both}} {
		t.row(part.name, "all", num(part.c.Events), num(part.c.Successes))
		for _, l := range part.c.Limits {
			t.row("", l.Name(), num(l.Events), num(l.Successes))
		}
	}
}

// table writes lines and columns, and keeps the first error.
type table struct {
	w   *tabwriter.Writer
	err error
}

func (t *table) line(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format+"\n", args...)
	}
}

func (t *table) row(cells ...string) { t.line("  %s", strings.Join(cells, "\t")) }

func num(n int64) string { return strconv.FormatInt(n, 10) }

func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return num(n) + " " + what + "s"
}

func wasWere(n int64) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 MST") }

// wait is a number of seconds, for people: 1h, 2m30s.
func wait(seconds int) string {
	text := (time.Duration(seconds) * time.Second).String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}

// printable quotes what comes from a log or a file name and would move the
// cursor, forge a line, or break the columns.
func printable(s string) string {
	if strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return strconv.Quote(s)
	}
	return s
}
