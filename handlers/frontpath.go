package handlers

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Servers do not agree on which paths are the same page. Some decode twice,
// some read \ as /, cut a segment at ; (RFC 3986, 3.3), drop the dots and
// blanks at its end (Windows), ignore the case, or find /login behind
// /login.json or /index.php/login ([page], [behindPrograms]). The front does not know which of these the application does, so
// it reads a path in the most lenient way that it knows and guards what comes
// out. What then still has more than one meaning is refused.

// maxDecodings is how often a path may be percent-encoded. Twice happens by
// mistake; more is an attempt at a way around.
const maxDecodings = 3

// notAPath is the answer to a path with more than one meaning.
func notAPath() *problem {
	return plain(400, "path_spelling", "The path has more than one meaning. "+
		"Send it without dot segments, control characters and repeated encoding.")
}

// spellings returns the ways to read an escaped path, each as its segments in
// lower case with a / in front, "" for the root. The error is a *problem.
//
// Dot segments are refused and not resolved: before or after decoding, before
// or after //, with or without the ;x behind them lead to different pages, and
// no client sends them, since it has to resolve them itself (RFC 3986, 5.2.4).
//
// Parameters are cut before decoding by some (Tomcat) and after it by others,
// so that /;x%2Fy/login has both /y/login and /login in it.
func spellings(escaped string) ([]string, error) {
	levels, ok := decodings(escaped)
	if !ok {
		return nil, notAPath()
	}
	var list []string
	add := func(path string) bool {
		trimmed, dotted, ok := spelling(path)
		for _, s := range []string{trimmed, dotted} {
			if ok && !slices.Contains(list, s) {
				list = append(list, s)
			}
		}
		return ok
	}
	if !add(levels[len(levels)-1]) {
		return nil, notAPath()
	}
	for _, path := range levels {
		if !add(cutParameters(path)) {
			return nil, notAPath()
		}
		// And as it is for those to whom all behind the first of them is no path.
		if at := parameters.FindStringIndex(path); at != nil {
			add(path[:at[0]])
		}
	}
	return list, nil
}

// spelling reads a path that was decoded, maybe not fully; not ok when it has
// more than one meaning. Dots at the end of a segment are gone in trimmed and
// kept in dotted, except at the end of all.
func spelling(path string) (trimmed, dotted string, ok bool) {
	levels, ok := decodings(path)
	path = levels[len(levels)-1]
	if !ok || strings.ContainsFunc(path, unicode.IsControl) || wideEscape.MatchString(path) {
		return "", "", false
	}
	path = norm.NFKD.String(lenientUTF8(path))
	return segments(strings.ReplaceAll(path, `\`, "/"))
}

// wideEscape is an escape that only some servers of Microsoft decode.
var wideEscape = regexp.MustCompile(`%[uU][0-9a-fA-F]{4}`)

// decodings returns a path as it is, and decoded once, twice and so on until
// nothing is left to decode; not ok when that takes too often.
func decodings(s string) ([]string, bool) {
	list := []string{s}
	for range maxDecodings {
		d := decodePercent(s)
		if d == s {
			return list, true
		}
		s = d
		list = append(list, s)
	}
	return list, decodePercent(s) == s
}

// decodePercent decodes every %XX and leaves any other % as it is.
func decodePercent(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			hi, lo := hexDigit(s[i+1]), hexDigit(s[i+2])
			if hi >= 0 && lo >= 0 {
				b.WriteByte(byte(hi<<4 | lo))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// lenientUTF8 decodes as a careless reader does: longer forms than needed mean
// the same character (C0 AF is a slash, Nimda's way in), and bytes that are no
// character are not there.
func lenientUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for s != "" {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			r, n = overlong(s)
		}
		if r >= 0 {
			b.WriteRune(r)
		}
		s = s[n:]
	}
	return b.String()
}

// overlong decodes a sequence at the start of s that is longer than it needs
// to be. It returns -1, and one byte to skip, for all else.
func overlong(s string) (rune, int) {
	more, r := 0, rune(0)
	switch c := s[0]; {
	case c&0xE0 == 0xC0:
		more, r = 1, rune(c&0x1F)
	case c&0xF0 == 0xE0:
		more, r = 2, rune(c&0x0F)
	case c&0xF8 == 0xF0:
		more, r = 3, rune(c&0x07)
	default:
		return -1, 1
	}
	if len(s) <= more {
		return -1, 1
	}
	for i := 1; i <= more; i++ {
		if s[i]&0xC0 != 0x80 {
			return -1, 1
		}
		r = r<<6 | rune(s[i]&0x3F)
	}
	if r > unicode.MaxRune || r >= 0xD800 && r <= 0xDFFF {
		return -1, 1
	}
	return r, more + 1
}

// parameters begin where a segment ends for some: at ; ? or #, or at :: where a
// stream of NTFS is named (index.php::$DATA).
var parameters = regexp.MustCompile(`[;?#]|::`)

// cutParameters cuts every segment where its parameters begin.
func cutParameters(path string) string {
	if !parameters.MatchString(path) {
		return path
	}
	list := strings.Split(path, "/")
	for i, s := range list {
		if at := parameters.FindStringIndex(s); at != nil {
			list[i] = s[:at[0]]
		}
	}
	return strings.Join(list, "/")
}

// segments reduces every segment of a path to what two spellings of one page
// have in common, and leaves empty ones out; not ok when one is made of dots.
func segments(path string) (trimmed, dotted string, ok bool) {
	var b, d strings.Builder
	for s := range strings.SplitSeq(path, "/") {
		reduced := strings.Map(reduce, s)
		kept := strings.TrimRight(reduced, ".")
		if kept == "" {
			if reduced != "" {
				return "", "", false
			}
			continue
		}
		b.WriteString("/" + kept)
		d.WriteString("/" + reduced)
	}
	return b.String(), strings.TrimRight(d.String(), "."), true
}

// reduce maps a character in normal form NFKD to one that stands for all that
// somebody may take for it, -1 for none: accents, blanks and punctuation
// distinguish no pages.
func reduce(r rune) rune {
	switch {
	case r == 'ı': // upper case I in every locale
		return 'i'
	case r == '-' || r == '.' || r == '_' || r == '~':
		return r
	case unicode.IsLetter(r) || unicode.IsNumber(r):
		return unicode.ToLower(r)
	}
	return -1
}
