package keys

import (
	"testing"
	"unicode"
)

// The library does not have the property itself, only what it is derived from
// (UCD, DerivedCoreProperties.txt).
func TestIgnorableTableIsTheUnicodeProperty(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		annotation := 0xfff9 <= r && r <= 0xfffb
		hieroglyph := 0x13430 <= r && r <= 0x13440
		want := unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Cf, unicode.Variation_Selector) &&
			!unicode.In(r, unicode.White_Space, unicode.Prepended_Concatenation_Mark) && !annotation && !hieroglyph
		if got := isIgnorable(r); got != want {
			t.Errorf("isIgnorable(%U) = %v, want %v", r, got, want)
		}
	}
}
