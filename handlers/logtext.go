package handlers

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// EscapeLog returns a writer for log lines that replaces every character which
// could forge a line or change how a terminal shows it by its \u escape:
// controls (ESC of ANSI sequences, CR, U+0085), the separators U+2028 and
// U+2029, and formatting characters such as the bidi controls. zerolog escapes
// only what JSON demands, its text format less. Line ends that end a line are
// kept, so each Write must be whole lines, as zerolog's are. JSON stays the
// same JSON, since such characters occur in its strings only.
func EscapeLog(w io.Writer) io.Writer { return escapeWriter{w} }

type escapeWriter struct{ w io.Writer }

// Write implements io.Writer; it returns len(p) when the whole line went out.
func (e escapeWriter) Write(p []byte) (int, error) {
	line := strings.TrimSuffix(string(p), "\n")
	out := escapeText(line)
	if len(line) < len(p) {
		out += "\n"
	}
	if _, err := io.WriteString(e.w, out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// escapeText makes one line of plain characters out of any text.
func escapeText(s string) string {
	clean := func(r rune) bool { return r != utf8.RuneError && !unsafeRune(r) }
	if strings.IndexFunc(s, func(r rune) bool { return !clean(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s { // a byte that is no UTF-8 comes as U+FFFD
		switch {
		case clean(r) || r == utf8.RuneError:
			b.WriteRune(r)
		case r > 0xFFFF:
			hi, lo := (r-0x10000)>>10+0xD800, (r-0x10000)&0x3FF+0xDC00
			fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// unsafeRune tells whether r is no part of a line of text: the classes Cc, Cf,
// Zl and Zp of Unicode.
func unsafeRune(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}
