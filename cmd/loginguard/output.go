package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"

	"loginguard/cmd/loginguard/config"
)

// jsonFlag gives a command the flag --json.
func jsonFlag(c *cobra.Command, on *bool) {
	c.Flags().BoolVar(on, "json", false, "print JSON, for scripts")
}

// writeJSON prints v for scripts and people alike. HTML characters stay as they
// are: no browser reads it.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// writeTable prints rows in columns, the first row being their titles. Every
// cell is made harmless for a terminal.
func writeTable(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = printable(cell)
		}
		// The padding of an empty last cell would be blanks at the line's end.
		fmt.Fprintln(t, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
	}
	return t.Flush()
}

// printable quotes text that would end a line, forge one, or colour a terminal:
// reasons come from a file, and messages from whatever answers at a URL.
func printable(s string) string {
	if strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return strconv.Quote(s)
	}
	return s
}

// plural counts things: 1 block, 2 blocks.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// mistake is one thing that is wrong in the configuration, for scripts.
type mistake struct {
	Source  string `json:"source"` // the file, variable or flag, "" when a default is at fault
	Path    string `json:"path"`   // key, "" for the file as a whole
	Line    int    `json:"line"`   // in the file, 0 for none
	Message string `json:"message"`
}

// verdict is the state of the configuration, for scripts. Lists are never null.
type verdict struct {
	OK       bool      `json:"ok"`
	Mistakes []mistake `json:"mistakes"`
	Warnings []string  `json:"warnings"`
}

// verdictOf lays out what [config.Load] returned.
func verdictOf(warnings []string, err error) verdict {
	v := verdict{OK: err == nil, Mistakes: []mistake{}, Warnings: append([]string{}, warnings...)}
	var found config.Mistakes
	if errors.As(err, &found) {
		for _, m := range found {
			v.Mistakes = append(v.Mistakes, mistake{Source: m.Source, Path: m.Path, Line: m.Line, Message: m.Msg})
		}
	} else if err != nil {
		v.Mistakes = append(v.Mistakes, mistake{Message: err.Error()})
	}
	return v
}

// loadToShow reads the configuration of which a command shows something. The
// warnings are printed; the error says, or is the status of having said as JSON,
// why there is nothing to show.
func (p *program) loadToShow(asJSON bool) (*config.Config, error) {
	c, warnings, err := p.load()
	if err != nil && asJSON {
		return nil, p.refuseJSON(warnings, err)
	}
	p.warn(warnings)
	if err != nil {
		return nil, mistakes(err)
	}
	return c, nil
}

// refuseJSON prints why the configuration is refused. A script finds that where
// it looks for the answer, and tells the two apart by the exit status.
func (p *program) refuseJSON(warnings []string, err error) error {
	if err := writeJSON(p.stdout, verdictOf(warnings, err)); err != nil {
		return err
	}
	return exitStatus(exitFailure)
}
