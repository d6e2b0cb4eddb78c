package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"loginguard/handlers"
)

// writeLimits prints the limits as a page of Markdown. The number of overrides
// is that of those in force, 0 when it is not known.
func writeLimits(w io.Writer, limits handlers.PublishedLimits, overrides int) error {
	var b bytes.Buffer
	b.WriteString("## Limits of login attempts\n\n" +
		"All that apply hold at the same time. A bucket begins full, each attempt takes from it, and it refills all the time.\n\n")
	rows := [][]string{{"limit", "protects against", "one bucket for", "attempts", "refill", "first..longest wait", "grows up to", "mode"}}
	for _, l := range limits.Limits {
		name := l.Name
		if l.Level != "" {
			name += " " + l.Level
		}
		most := ""
		if l.MaxCapacity > 0 {
			most = strconv.FormatInt(l.MaxCapacity, 10)
		}
		rows = append(rows, []string{name, strings.TrimPrefix(l.Purpose, "protection: "), l.Scope,
			strconv.FormatInt(l.Capacity, 10), l.Refill, l.Backoff, most, l.Mode})
	}
	markdown(&b, rows)

	b.WriteString("\nWhat an attempt takes from the limits of networks and from global; from an account's own it always takes 1:\n\n")
	rows = [][]string{{"route", "cost", "a success"}}
	for _, name := range slices.Sorted(maps.Keys(limits.Routes)) {
		r := limits.Routes[name]
		rows = append(rows, []string{name, strconv.FormatInt(r.Cost, 10), cmp.Or(successes[r.Success], r.Success)})
	}
	markdown(&b, rows)

	b.WriteString("\n")
	if overrides > 0 {
		fmt.Fprintf(&b, "%s in force, by which some have other limits.\n", plural(overrides, "override"))
	}
	b.WriteString(oneLineOf(limits.HowToRaise) + "\n")
	if limits.Support != "" {
		b.WriteString("\nAsk for more at " + oneLineOf(limits.Support) + "\n")
	}
	_, err := w.Write(b.Bytes())
	return err
}

// successes says what a reported success does, by the word of the configuration.
var successes = map[string]string{
	"full":   "gives it back",
	"refund": "gives it back",
	"none":   "stays charged",
}

// markdown writes a table.
func markdown(b *bytes.Buffer, rows [][]string) {
	for i, row := range rows {
		for _, cell := range row {
			b.WriteString("| " + strings.ReplaceAll(oneLineOf(cell), "|", `\|`) + " ")
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
}

// oneLineOf keeps text from ending the row or the paragraph that it stands in.
func oneLineOf(s string) string { return strings.Join(strings.Fields(printable(s)), " ") }
