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

// onlyField returns the value of the one field of the name.
func onlyField(list []pair, want fieldName) (string, error) {
	found, value := false, ""
	for _, p := range list {
		switch {
		case !want.clashes(p.name):
		case p.name != want.name:
			return "", malformed("The body has another field that an application may take for that of the account, or for a part of it.")
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
// to the one in the body. The first word alone is enough: many build
// user[email] and user[password] into one, whose halves may come from both
// places.
func queryNames(query string, want fieldName) bool {
	for _, p := range queryPairs(query) {
		if want.clashes(p.name) || want.begins(p.name) {
			return true
		}
	}
	return false
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
