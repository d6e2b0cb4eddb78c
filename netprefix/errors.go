package netprefix

import (
	"fmt"
	"strings"
)

// maxErrors is how many errors are listed one by one. A list file in a wrong format has an error
// on each line; more than this many help nobody, so the rest is only counted.
const maxErrors = 100

// FieldError is one fault in the configuration or in a list file.
type FieldError struct {
	Path string // configuration key, such as networks.pools[1].cidrs[0]
	File string // list file, empty for a fault in the configuration itself
	Line int    // line in File, from 1; 0 when the fault is the file as a whole
	Msg  string // what is wrong and, where that is known, what to write instead
}

// Error is "path: file:line: message", without the parts that are not known.
func (e FieldError) Error() string {
	var b strings.Builder
	if e.Path != "" {
		b.WriteString(e.Path)
		b.WriteString(": ")
	}
	if e.File != "" {
		b.WriteString(e.File)
		if e.Line > 0 {
			fmt.Fprintf(&b, ":%d", e.Line)
		}
		b.WriteString(": ")
	}
	b.WriteString(e.Msg)
	return b.String()
}

// Errors is every fault found, in the order of the configuration. At most 100 are listed; when
// there are more, one last element without a path says how many.
type Errors []FieldError

// Error lists the faults, one a line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, fault := range e {
		lines[i] = fault.Error()
	}
	return strings.Join(lines, "\n")
}

// collector gathers faults so that a user sees all of them at once.
type collector struct {
	list Errors
	more int // faults beyond maxErrors
}

func (c *collector) add(e FieldError) {
	if len(c.list) < maxErrors {
		c.list = append(c.list, e)
	} else {
		c.more++
	}
}

// addf adds a fault of the configuration itself.
func (c *collector) addf(path, format string, args ...any) {
	c.add(FieldError{Path: path, Msg: fmt.Sprintf(format, args...)})
}

// err is nil when nothing was added. It must not return a nil Errors: in an error interface that
// would not compare equal to nil.
func (c *collector) err() error {
	if len(c.list) == 0 {
		return nil
	}
	if c.more > 0 {
		return append(c.list, FieldError{Msg: fmt.Sprintf("and %d more", c.more)})
	}
	return c.list
}
