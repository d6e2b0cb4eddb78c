package handlers

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Applications do not agree on what the name of a field means, either.
// user[email] is a path of two words to PHP, Rack and qs, and so is user.email
// to Java and .NET, of which PHP makes user_email. What is not well formed each
// repairs in its own way: PHP drops what follows a ] or a NUL, qs what stands
// between two brackets, Rack a bracket too many or too few, Spring quotes and
// marks (user['email'], !email), Zope reads :string as a type, and some parsers
// make userName of user_name. So names are compared by the letters and digits
// of their words, and all but - and _ ends a word.

// fieldName is the name of a field, made ready to find others that an
// application may take for it.
type fieldName struct {
	name  string   // as it must be spelled
	words []string // of its path, in lower case and with nothing but letters and digits
	flat  string   // the words in one
}

// newFieldName reads the name of a form's field.
func newFieldName(name string) fieldName {
	return newFieldPath(name, strings.FieldsFunc(name, func(r rune) bool { return r == '[' || r == ']' || r == '.' }))
}

// newFieldPath is a field whose path is known, such as that of a JSON pointer.
func newFieldPath(name string, path []string) fieldName {
	f := fieldName{name: name}
	for _, word := range path {
		if w := bareWord(word); w != "" {
			f.words = append(f.words, w)
		}
	}
	f.flat = strings.Join(f.words, "")
	return f
}

// clashes tells whether an application may store the field name where it
// stores f, below it (user[email][0]) or in its place (user). Nor may f stand
// behind a prefix: ASP.NET prefers model.Email to Email when it looks for a
// parameter called model.
func (f fieldName) clashes(name string) bool {
	if f.flat == "" { // a name of signs only
		return f.name != "" && strings.HasPrefix(foldWord(name), foldWord(f.name))
	}
	for _, path := range fieldPaths(name) {
		for i := range path {
			if startsWith(path[i:], f.flat) {
				return true
			}
		}
		whole := strings.Join(path, "")
		for i := 1; i < len(f.words); i++ {
			if whole == strings.Join(f.words[:i], "") {
				return true
			}
		}
	}
	return false
}

// begins tells whether name may be a part of the same thing as f, as
// user[password] is of what user[email] is a part.
func (f fieldName) begins(name string) bool {
	return len(f.words) > 0 && slices.ContainsFunc(fieldPaths(name), func(path []string) bool {
		return startsWith(path, f.words[0])
	})
}

// startsWith tells whether some first words make the text.
func startsWith(words []string, text string) bool {
	for _, w := range words {
		var found bool
		if text, found = strings.CutPrefix(text, w); !found {
			return false
		}
		if text == "" {
			return true
		}
	}
	return false
}

// innerBrackets are what qs looks for in a name; it skips all between them.
var innerBrackets = regexp.MustCompile(`\[[^\[\]]*\]`)

// fieldPaths returns the ways to read a name, each as the words of a path:
// with everything in it, with what is in brackets only, and with the brackets
// up to where one does not follow another, where PHP stops; and all that again
// for what is in front of a NUL.
func fieldPaths(name string) [][]string {
	name = foldWord(name)
	paths := [][]string{fieldWords(name)}
	if before, _, found := strings.Cut(name, "\x00"); found {
		paths = append(paths, fieldPaths(before)...)
	}
	found := innerBrackets.FindAllStringIndex(name, -1)
	if len(found) == 0 {
		return paths
	}
	all := fieldWords(name[:found[0][0]])
	var first []string
	for i, at := range found {
		if i > 0 && first == nil && found[i-1][1] != at[0] {
			first = slices.Clone(all)
		}
		all = append(all, fieldWords(name[at[0]:at[1]])...)
	}
	paths = append(paths, all)
	if first != nil {
		paths = append(paths, first)
	}
	return paths
}

// fieldWords splits a name wherever something stands that is no part of a
// word.
func fieldWords(name string) []string {
	var words []string
	for w := range strings.FieldsFuncSeq(name, func(r rune) bool { return !wordRune(r) && r != '_' && r != '-' }) {
		if w = bareWord(w); w != "" {
			words = append(words, w)
		}
	}
	return words
}

// bareWord is a word by its letters and digits.
func bareWord(s string) string {
	return strings.Map(func(r rune) rune {
		if wordRune(r) {
			return r
		}
		return -1
	}, foldWord(s))
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }
