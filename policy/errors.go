package policy

import (
	"fmt"
	"strings"
	"time"
)

// FieldError is one mistake in a [Config].
type FieldError struct {
	Path string // of the setting as the configuration file names it: "limits.account.backoff.max", "overrides[2].expires"
	Msg  string // names the bound and the value, without the path
}

// Error returns the path and the message.
func (e FieldError) Error() string { return e.Path + ": " + e.Msg }

// Errors are all mistakes of a [Config], in the order of the settings, so that
// they can be mended in one go.
type Errors []FieldError

// Error returns one mistake a line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, f := range e {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// add notes a mistake.
func (e *Errors) add(path, format string, args ...any) {
	*e = append(*e, FieldError{Path: path, Msg: fmt.Sprintf(format, args...)})
}

// count refuses a whole number outside lo..hi and says whether it was inside.
func (e *Errors) count(path string, v, lo, hi int64) bool {
	if v < lo || v > hi {
		e.add(path, "must be %d to %d, is %d", lo, hi, v)
		return false
	}
	return true
}

// number refuses a number outside lo..hi; NaN is outside of everything.
func (e *Errors) number(path string, v, lo, hi float64) bool {
	if !(v >= lo && v <= hi) {
		e.add(path, "must be %v to %v, is %v", lo, hi, v)
		return false
	}
	return true
}

// span refuses a span outside lo..hi.
func (e *Errors) span(path string, v, lo, hi time.Duration) bool {
	if v < lo || v > hi {
		e.add(path, "must be %s to %s, is %s", span(lo), span(hi), span(v))
		return false
	}
	return true
}

// word refuses a word that is not among words.
func (e *Errors) word(path, v string, words ...string) bool {
	for _, w := range words {
		if v == w {
			return true
		}
	}
	e.add(path, "must be one of %s, is %q", strings.Join(words, ", "), v)
	return false
}

// name refuses what could not stand in a key: names are parts of keys, and a
// separator inside one would let two buckets share a key.
func (e *Errors) name(path, v string) bool {
	if !validName(v) {
		e.add(path, "%q is no name: 1 to 64 of a-z 0-9 _ . - are, beginning with a letter or digit", v)
		return false
	}
	return true
}

// validName reports whether s matches [a-z0-9][a-z0-9_.-]{0,63}.
func validName(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		case i > 0 && (c == '_' || c == '.' || c == '-'):
		default:
			return false
		}
	}
	return true
}
