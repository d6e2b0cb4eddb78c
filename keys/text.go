package keys

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

const (
	// graphemeJoiner is what the norm package puts into a run of combining
	// marks after the 30th (UAX #15, Stream-Safe Text Format).
	graphemeJoiner = '\u034f'

	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

// joiners says what clean does with the two zero-width joiners.
type joiners bool

const (
	dropJoiners joiners = false
	keepJoiners joiners = true
)

// isJoiner reports whether IDNA gives the ignorable r a meaning in some places.
func isJoiner(r rune) bool { return r == zeroWidthNonJoiner || r == zeroWidthJoiner }

// clean removes the control characters and the default-ignorable code points
// from s, and makes every white space a blank.
func clean(s string, j joiners) string {
	return strings.Map(func(r rune) rune {
		switch {
		case ' ' < r && r < 0x7f:
			return r
		case unicode.IsSpace(r): // exactly the property White_Space
			return ' '
		case unicode.IsControl(r):
			return -1
		case j == keepJoiners && isJoiner(r):
			return r
		case isIgnorable(r):
			return -1
		}
		return r
	}, s)
}

// collapse trims the blanks of a cleaned s and leaves one for each inner run.
func collapse(s string) string {
	if strings.Contains(s, "  ") {
		return strings.Join(strings.Fields(s), " ")
	}
	return strings.Trim(s, " ")
}

// compose returns s in NFKC, with at most 30 combining marks in a row.
//
// The norm package does not reorder marks across the 30th of a run: it inserts
// a grapheme joiner there. Removing that joiner alone would give a string that
// the next pass sorts differently, and a name of a thousand marks would take
// hundreds of passes to settle; keeping it would let it through into a name. So
// the rest of the run goes with it. In no writing system are there that many.
// s must be clean: a joiner found in the result is then never one of its own.
func compose(s string) string {
	if norm.NFKC.IsNormalString(s) {
		return s
	}
	s = norm.NFKC.String(s)
	if !strings.ContainsRune(s, graphemeJoiner) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	cutting := false
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == graphemeJoiner:
			cutting = true
		case cutting && norm.NFKC.PropertiesString(s[i:]).CCC() != 0:
			// Still in the run that is too long.
		default:
			cutting = false
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// foldName returns the canonical form of a name without regard to any @ in it.
// It cleans before it composes, because an ignorable between a letter and its
// accent keeps the two from becoming one.
func foldName(s string) string {
	return foldComposed(compose(clean(s, dropJoiners)))
}

// foldComposed is foldName of what is clean and composed already. Folding comes
// after composition, since a mark that folds to a letter (U+0345, the iota
// subscript) must be in its canonical place first, and is followed by another,
// since it takes characters apart.
func foldComposed(s string) string {
	if folded := fold(s); folded != s {
		s = compose(folded)
	}
	// Blanks last: NFKC makes some of accents that stand alone.
	return collapse(s)
}

// fold returns the full case folding of s (Unicode, CaseFolding.txt, statuses C
// and F), whatever the locale: the dotless i of Turkish is a letter of its own.
func fold(s string) string {
	// A Caser must not be shared between goroutines; making one is cheap.
	s = cases.Fold().String(s)
	return strings.Map(foldCherokee, s)
}

// foldCherokee maps the small Cherokee letters to the capital ones, which are
// their folded form, against the rule: the capitals were in Unicode first.
// cases.Fold exchanges the two instead (up to v0.44.0 of x/text at least), so
// that a name in Cherokee would become another one with every folding. On its
// result this is right, and it stays right once that is mended.
func foldCherokee(r rune) rune {
	switch {
	case 0xab70 <= r && r <= 0xabbf:
		return r - 0xab70 + 0x13a0
	case 0x13f8 <= r && r <= 0x13fd:
		return r - 0x13f8 + 0x13f0
	}
	return r
}
