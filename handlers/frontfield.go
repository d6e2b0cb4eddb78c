package handlers

import (
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// pair is one name and value of a form or query, decoded.
type pair struct{ name, value string }

// sameWord tells whether two names differ at most in case, or in characters
// that are forms of the same one.
func sameWord(a, b string) bool { return a == b || foldWord(a) == foldWord(b) }

func foldWord(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == 'ı':
			return 'i'
		case unicode.Is(unicode.Mn, r):
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(s))
}

// flatName is a name as PHP, Rack, Java and qs may store it: dots, blanks and
// brackets are all one separator (user[email], user.email, user_email), a NUL
// ends it, and blanks in front are not there.
func flatName(s string) string {
	s, _, _ = strings.Cut(s, "\x00")
	s = strings.TrimLeftFunc(foldWord(s), unicode.IsSpace)
	words := strings.FieldsFunc(s, func(r rune) bool {
		return r == '.' || r == '[' || r == ']' || r == '+' || unicode.IsSpace(r) || unicode.IsControl(r)
	})
	return strings.TrimRight(strings.Join(words, "_"), "_")
}

// sameField tells whether an application may take the field name for the field
// want, or for a part of it, as name[0] is of name.
func sameField(name, want string) bool {
	if name == want || flatName(name) == flatName(want) {
		return true
	}
	rest, found := strings.CutPrefix(foldWord(name), foldWord(want))
	return found && (strings.HasPrefix(rest, "[") || strings.HasPrefix(rest, "."))
}

// onlyField returns the value of the one field of the name.
func onlyField(list []pair, name string) (string, error) {
	found, value := false, ""
	for _, p := range list {
		switch {
		case !sameField(p.name, name):
		case p.name != name:
			return "", malformed("The body has a field that differs from that of the account in its spelling only.")
		case found:
			return "", malformed("The body names the account twice.")
		default:
			found, value = true, p.value
		}
	}
	if !found {
		return "", errNoAccount
	}
	return value, nil
}

// queryPairs reads a query as leniently as any application may: both & and ;
// separate, and what cannot be decoded stays as it is.
func queryPairs(query string) []pair {
	var list []pair
	for part := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' }) {
		name, value, _ := strings.Cut(part, "=")
		list = append(list, pair{lenientQuery(name), lenientQuery(value)})
	}
	return list
}

func lenientQuery(s string) string {
	return decodePercent(strings.ReplaceAll(s, "+", " "))
}

// queryNames tells whether a query has a field that an application may prefer
// to the one in the body, whose path is given as the words of its name. The
// first word alone is enough: many build user[email] and user[password] into
// one, whose halves may come from both places.
func queryNames(query string, words []string) bool {
	whole := flatName(strings.Join(words, "."))
	for _, p := range queryPairs(query) {
		first := p.name
		if i := strings.IndexAny(first, ".["); i > 0 {
			first = first[:i]
		}
		if flatName(p.name) == whole || flatName(first) == flatName(words[0]) {
			return true
		}
	}
	return false
}

// fieldWords splits the name of a form field into the words of its path.
func fieldWords(name string) []string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '[' || r == ']' || r == '.' })
	if len(words) == 0 {
		return []string{name}
	}
	return words
}

// urlencodedPairs reads a body of application/x-www-form-urlencoded strictly:
// what one application decodes and another leaves alone is refused.
func urlencodedPairs(body []byte) ([]pair, error) {
	if len(body) == 0 {
		return nil, nil
	}
	var list []pair
	for part := range strings.SplitSeq(string(body), "&") {
		if strings.Contains(part, ";") {
			return nil, malformed("The form has a ; that is not encoded, which some applications take for a separator.")
		}
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		n, err := url.QueryUnescape(name)
		if err != nil {
			return nil, malformed("The form has a % that encodes nothing.")
		}
		v, err := url.QueryUnescape(value)
		if err != nil {
			return nil, malformed("The form has a % that encodes nothing.")
		}
		list = append(list, pair{n, v})
	}
	return list, nil
}
