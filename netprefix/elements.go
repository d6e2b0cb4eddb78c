package netprefix

import "strings"

// How much of a header is looked at, from the right. No chain of proxies comes near these; what
// lies beyond counts as unusable.
const (
	maxHeaderBytes    = 64 << 10
	maxHeaderElements = 256
)

// elements goes through the elements of a list header from right to left, over all lines as if
// they were joined with commas (RFC 9110, 5.2).
//
// From right to left is more than thrift: what stands to the right was appended by proxies, what
// stands to the left may be anything a client wrote. Reading from the left would let a client
// open a quoted string that swallows what the proxies appended.
type elements struct {
	lines  []string // not yet begun
	rest   string   // what is left of the line in hand
	open   bool     // a line is in hand
	cut    bool     // the line in hand was cut on its left
	quoted bool     // commas inside quoted strings do not separate
	bytes  int      // may still be looked at
	count  int      // may still be looked at
}

func newElements(lines []string, quoted bool) *elements {
	return &elements{lines: lines, quoted: quoted, bytes: maxHeaderBytes, count: maxHeaderElements}
}

// next gives the next element to the left. It reports false at the end of the header and also at
// anything that cannot be used, since both end a walk.
//
// Empty elements are skipped, as RFC 9110, 5.6.1 asks of recipients: a trailing comma or an empty
// line says nothing. A line that has commas and nothing else does say something, namely that a
// proxy reported an address it could not spell; whoever wrote the elements before it is not
// vouched for, so it ends the walk.
func (e *elements) next() (string, bool) {
	for ; e.count > 0; e.count-- {
		if !e.open && !e.openLine() {
			return "", false
		}
		element := e.take()
		if e.cut && !e.open {
			return "", false
		}
		if element != "" {
			e.count--
			return element, true
		}
	}
	return "", false
}

// openLine takes the next line in hand. A line that says nothing is taken as well, and gives one
// empty element.
func (e *elements) openLine() bool {
	if len(e.lines) == 0 || e.bytes == 0 {
		return false
	}
	line := e.lines[len(e.lines)-1]
	e.lines = e.lines[:len(e.lines)-1]
	if e.cut = len(line) > e.bytes; e.cut {
		line = line[len(line)-e.bytes:]
	}
	e.bytes -= len(line)
	e.rest, e.open = line, true
	return strings.Trim(line, blanks) == "" || strings.Trim(line, ","+blanks) != ""
}

// take cuts the last element off the line in hand.
func (e *elements) take() string {
	comma := strings.LastIndexByte(e.rest, ',')
	if e.quoted {
		comma = lastSeparator(e.rest, ',')
	}
	element := strings.Trim(e.rest[comma+1:], blanks)
	if comma < 0 {
		e.open = false
		return element
	}
	e.rest = e.rest[:comma]
	return element
}

// lastSeparator finds the last separator outside a quoted string, or -1, reading from the right.
// In well-formed text a backslash occurs only inside a quoted string and an opening quote follows
// an equals sign, so a quote is escaped exactly when an odd number of backslashes precede it, and
// reading from the right finds the same strings as reading from the left.
func lastSeparator(s string, separator byte) int {
	inside := false
	for i := len(s) - 1; i >= 0; i-- {
		switch s[i] {
		case '"':
			run := i
			for run > 0 && s[run-1] == '\\' {
				run--
			}
			if (i-run)%2 == 0 {
				inside = !inside
			}
			i = run
		case separator:
			if !inside {
				return i
			}
		}
	}
	return -1
}
