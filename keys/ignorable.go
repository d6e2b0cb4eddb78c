package keys

import "unicode"

// isIgnorable reports whether r has the Unicode property
// Default_Ignorable_Code_Point: it is meant to be invisible where it has no
// effect, so two names that differ in it look the same.
func isIgnorable(r rune) bool {
	// Nothing below the soft hyphen is ignorable, and most names end there.
	return r >= 0x00ad && unicode.Is(ignorable, r)
}

// ignorable is the property Default_Ignorable_Code_Point, from the file
// DerivedCoreProperties.txt of the Unicode Character Database, version 15.0.
// Whole blocks are reserved for future invisible characters, so that the set
// has changed little over the versions. The unicode package of the standard
// library has only the parts it is derived from, and a test compares the two.
var ignorable = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x00ad, Hi: 0x00ad, Stride: 1}, // soft hyphen
		{Lo: 0x034f, Hi: 0x034f, Stride: 1}, // combining grapheme joiner
		{Lo: 0x061c, Hi: 0x061c, Stride: 1}, // Arabic letter mark
		{Lo: 0x115f, Hi: 0x1160, Stride: 1}, // Hangul fillers, initial and medial
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1}, // Khmer inherent vowels
		{Lo: 0x180b, Hi: 0x180f, Stride: 1}, // Mongolian variation selectors, vowel separator
		{Lo: 0x200b, Hi: 0x200f, Stride: 1}, // zero width space and joiners, direction marks
		{Lo: 0x202a, Hi: 0x202e, Stride: 1}, // bidirectional embeddings and overrides
		{Lo: 0x2060, Hi: 0x206f, Stride: 1}, // word joiner, invisible operators, isolates
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, // Hangul filler
		{Lo: 0xfe00, Hi: 0xfe0f, Stride: 1}, // variation selectors 1 to 16
		{Lo: 0xfeff, Hi: 0xfeff, Stride: 1}, // byte order mark
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1}, // half-width Hangul filler
		{Lo: 0xfff0, Hi: 0xfff8, Stride: 1}, // reserved
	},
	R32: []unicode.Range32{
		{Lo: 0x1bca0, Hi: 0x1bca3, Stride: 1}, // shorthand format controls
		{Lo: 0x1d173, Hi: 0x1d17a, Stride: 1}, // musical beams, ties, slurs, phrases
		{Lo: 0xe0000, Hi: 0xe0fff, Stride: 1}, // tags, variation selectors 17 to 256, reserved
	},
}
