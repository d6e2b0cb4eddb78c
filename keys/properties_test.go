package keys

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// fragments are what the steps of canonicalisation act on, apart from letters.
var fragments = []string{
	"@", "\uff20", ".", "\u3002", "\uff61", "+", " ", "\t", "\u00a0", "\u2028", "\x00", "\u0085", "\u00ad",
	"\u200b", "\u200c", "\u200d", "\u034f", "\u0301", "\u0308", "\u0338", "\u0345", "\u0327", "\u00b4", "\u037a",
	"\u1fb3", "\u00df", "\u1e9e", "\u0130", "\u03c2", "\u03a3", "\u212b", "\ufb03", "\uff21", "\u3164", "\u1100",
	"\u1161", "\u11a8", "\u094d", "\u0915", "\u0627", "\u0647", "[", "]", "[::1]", "[192.0.2.1]", "IPv6:", "xn--",
	"xn--mnchen-3ya", "m\u00fcnchen", "gmail.com", "googlemail.com", "example.com", "\ufe0f", "\U000e0041", "Alice", "%",
	"\xff", "\u2488", "\u2026", "\u0f73", "\u0390",
}

// drawAccount draws a string of fragments, letters and any runes.
func drawAccount(t *rapid.T) string {
	piece := rapid.OneOf(
		rapid.SampledFrom(fragments),
		rapid.StringMatching(`[!-~]{1,6}`),
		rapid.StringOfN(rapid.Rune(), 1, 4, -1),
	)
	s := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "")
	if rapid.IntRange(0, 9).Draw(t, "pile") == 0 {
		marks := rapid.SliceOfN(rapid.SampledFrom([]string{"\u0301", "\u0327", "\u0345", "\u0338", "\u0344"}), 20, 90)
		s += strings.Join(marks.Draw(t, "marks"), "") + "e"
	}
	return s
}

// providers is a canonicaliser with one rule of each sort.
func providers(t interface{ Fatal(...any) }) *Canonicaliser {
	c, err := NewCanonicaliser([]EmailRule{
		{Domain: "Gmail.com", DropPlus: true, DropDots: true, Aliases: []string{"googlemail.com"}},
		{Domain: "m\u00fcnchen.example", DropPlus: true},
		{Domain: "example.com", DropDots: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// checkCanonical checks what holds of the canonical form of any string.
func checkCanonical(t interface{ Fatalf(string, ...any) }, c *Canonicaliser, in string) {
	out := c.Canonical(in)
	if again := c.Canonical(out); again != out {
		t.Fatalf("not idempotent: %q -> %q -> %q", in, out, again)
	}
	// The short cut, and everything else if it was not taken, a second time.
	if slow := c.slow(in); slow != out {
		t.Fatalf("%q -> %q, the slow way %q", in, out, slow)
	}
	if !utf8.ValidString(in) {
		if out != in {
			t.Fatalf("raw bytes changed: %q -> %q", in, out)
		}
		return
	}
	if !utf8.ValidString(out) {
		t.Fatalf("text became raw bytes: %q -> %q", in, out)
	}
	if next := c.pass(out); next != out {
		t.Fatalf("not settled within %d passes: %q -> %q -> %q", maxPasses, in, out, next)
	}
	for _, r := range out {
		if unicode.IsControl(r) || isIgnorable(r) || unicode.IsSpace(r) && r != ' ' {
			t.Fatalf("%U left: %q -> %q", r, in, out)
		}
	}
	if strings.Contains(out, "  ") || strings.Trim(out, " ") != out {
		t.Fatalf("blanks left: %q -> %q", in, out)
	}
	if !norm.NFKC.IsNormalString(out) {
		t.Fatalf("not NFKC: %q -> %q", in, out)
	}
}

func TestCanonicalOfAnything(t *testing.T) {
	c := providers(t)
	rapid.Check(t, func(t *rapid.T) { checkCanonical(t, c, drawAccount(t)) })
}

func TestCanonicalOfPrintableASCII(t *testing.T) {
	c := providers(t)
	domain := rapid.SampledFrom([]string{
		"gmail.com", "GoogleMail.com", "example.com", "example.com.", "a..b", "a_b", "-a", "XN--mnchen-3ya.example", "[::1]", "",
	})
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[!-~]{0,12}`).Draw(t, "local")
		if rapid.Bool().Draw(t, "address") {
			s += "@" + domain.Draw(t, "domain")
		}
		checkCanonical(t, c, s)
	})
}

// A blank, control or ignorable put at either end of a name never makes
// another name, nor does writing it in capitals or decomposed.
func TestCanonicalIgnoresWhatCannotBeSeen(t *testing.T) {
	c := providers(t)
	invisible := rapid.StringOfN(rapid.SampledFrom([]rune(" \t\n\x00\u00a0\u00ad\u200b\u200d\u2028\ufeff\u3164\U000e0001")), 0, 5, -1)
	name := rapid.SampledFrom([]string{"alice", "alice@example.com", "jos\u00e9@m\u00fcnchen.example", "ann lee", "a.b+c@gmail.com"})
	rapid.Check(t, func(t *rapid.T) {
		s := name.Draw(t, "name")
		want := c.Canonical(s)
		for _, form := range []string{s, strings.ToUpper(s), norm.NFD.String(s), strings.ReplaceAll(s, "@", "\u00a0\uff20 ")} {
			in := invisible.Draw(t, "before") + form + invisible.Draw(t, "behind")
			if got := c.Canonical(in); got != want {
				t.Fatalf("Canonical(%q) = %q, want %q", in, got, want)
			}
		}
	})
}

// Every sort of character, among letters on both sides of an @ and, unless it is
// a letter itself, alone.
func TestCanonicalOfEverySortOfCharacter(t *testing.T) {
	for _, category := range []string{"L", "M", "N", "P", "S", "Z", "C"} {
		visit(unicode.Categories[category], func(r rune) {
			s := string(r)
			checkCanonical(t, plain, "a"+s+"\u0301@b"+s+"\u0301.example")
			if category != "L" {
				checkCanonical(t, plain, s)
			}
		})
	}
}

// All characters that the standard library takes for cases of one another.
func TestCanonicalMergesEveryCase(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		q := unicode.SimpleFold(r) // the next of the cycle that r is in
		if q == r {
			continue
		}
		if got, want := plain.Canonical(string(q)), plain.Canonical(string(r)); got != want {
			t.Errorf("Canonical(%U) = %+q, but Canonical(%U) = %+q", q, got, r, want)
		}
	}
}

// visit calls f for the characters of a table, all of those in small ranges and
// some of each large one: ideographs, syllables and other letters without case,
// private use.
func visit(table *unicode.RangeTable, f func(rune)) {
	each := func(lo, hi, stride rune) {
		switch n := hi - lo; {
		case n > 2000:
			stride *= 499
		case n > 60:
			stride *= 7
		}
		for r := lo; r <= hi; r += stride {
			f(r)
		}
	}
	for _, x := range table.R16 {
		if x.Lo != 0xd800 {
			each(rune(x.Lo), rune(x.Hi), rune(x.Stride))
		}
	}
	for _, x := range table.R32 {
		each(rune(x.Lo), rune(x.Hi), rune(x.Stride))
	}
}

func FuzzCanonical(f *testing.F) {
	for _, s := range fragments {
		f.Add(s)
		f.Add("a" + s + "b@c" + s + ".example")
	}
	f.Add("x" + strings.Repeat("\u0301\u0327", 40))
	c := providers(f)
	f.Fuzz(func(t *testing.T, s string) { checkCanonical(t, c, s) })
}
