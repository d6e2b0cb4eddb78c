package keys

import (
	"strings"
	"testing"
)

// plain is a canonicaliser without e-mail rules.
var plain = &Canonicaliser{}

func TestCanonicalName(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "alice", "alice"},
		{"capitals", "ALiCE", "alice"},
		{"trailing blanks", "alice" + strings.Repeat(" ", 249), "alice"},
		{"leading blanks", "  alice", "alice"},
		{"inner run of blanks", "ann   lee", "ann lee"},
		{"one inner blank stays", "ann lee", "ann lee"},
		{"tab is white space, not a control", "ann\tlee", "ann lee"},
		{"line break is white space", "a\r\nDEL x", "a del x"},
		{"next line", "ann\u0085lee", "ann lee"},
		{"line and paragraph separators", "ann\u2028\u2029lee", "ann lee"},
		{"no-break and ideographic space", "ann\u00a0\u3000lee\u00a0", "ann lee"},
		{"ogham space, which NFKC leaves alone", "ann\u1680lee", "ann lee"},
		{"NUL inside", "al\x00ice", "alice"},
		{"NUL behind", "alice\x00", "alice"},
		{"escape sequence", "al\x1b[31mice", "al[31mice"},
		{"delete and C1 controls", "al\x7fi\u009bce", "alice"},
		{"soft hyphen", "al\u00adice", "alice"},
		{"zero width space and joiners", "a\u200bl\u200ci\u200dce", "alice"},
		{"byte order mark", "\ufeffalice", "alice"},
		{"bidirectional override", "\u202ealice\u202c", "alice"},
		{"variation selectors", "alice\ufe0f\U000e0100", "alice"},
		{"tags", "alice\U000e0061\U000e007f", "alice"},
		{"Hangul fillers", "\u3164al\u115fice\uffa0", "alice"},
		{"blanks that meet once an ignorable is gone", "ann \u200b lee", "ann lee"},
		{"decomposed", "Jose\u0301", "jos\u00e9"},
		{"accent behind an ignorable", "jose\u034f\u0301", "jos\u00e9"},
		{"accent behind a joiner", "jose\u200d\u0301", "jos\u00e9"},
		{"full case folding", "stra\u00dfe", "strasse"},
		{"capital sharp s", "STRA\u1e9eE", "strasse"},
		{"full width", "\uff21lice\uff11", "alice1"},
		{"ligature", "\ufb03x", "ffix"},
		{"Kelvin sign", "\u212aim", "kim"},
		{"final sigma", "\u039f\u03a3 \u03bf\u03c2", "\u03bf\u03c3 \u03bf\u03c3"},
		{"iota subscript", "\u1fb3", "\u03b1\u03b9"},
		{"iota subscript before its accent", "\u03b1\u0345\u0301", "\u03ac\u03b9"},
		{"iota subscript and a joiner before its accent", "\u03b1\u0345\u200d\u0301", "\u03ac\u03b9"},
		{"Turkish capital I keeps its dot", "\u0130", "i\u0307"},
		{"dotless i is a letter of its own", "\u0131", "\u0131"},
		{"small Cherokee folds to capitals", "\uab70\u13f8\u13a0", "\u13a0\u13f0\u13a0"},
		{"Cyrillic look-alike is not merged", "\u0430lice", "\u0430lice"},
		{"accent that NFKC turns into a blank", "\u00b4alice", "\u0301alice"},
		{"nothing", "", ""},
		{"nothing but blanks", " \t\u00a0", ""},
		{"nothing but controls", "\x00\x01", ""},
		{"nothing but ignorables", "\u200b\u3164\ufeff", ""},
		{"braces and separators are ordinary", "a:{B}c", "a:{b}c"},
		{"invalid UTF-8 is kept", "\xff\xfe@Example.com", "\xff\xfe@Example.com"},
		{"an encoded surrogate is invalid UTF-8", "\xed\xa0\x80", "\xed\xa0\x80"},
		{"the replacement character is text", "\ufffd", "\ufffd"},
		{"long", strings.Repeat("a", 5000), strings.Repeat("a", 5000)},
		{"30 marks in a row", "x" + strings.Repeat("\u0338", 30), "x" + strings.Repeat("\u0338", 30)},
		{"more marks in a row are cut", "x" + strings.Repeat("\u0338", 500) + "y", "x" + strings.Repeat("\u0338", 30) + "y"},
	}
	for _, tt := range tests {
		if got := plain.Canonical(tt.in); got != tt.want {
			t.Errorf("%s: Canonical(%q) = %q, want %q", tt.name, tt.in, got, tt.want)
		}
	}
}

func TestCanonicalAddress(t *testing.T) {
	const munich = "u@xn--mnchen-3ya.example"
	tests := []struct{ name, in, want string }{
		{"capitals", "ViCtIm@eXaMpLe.com", "victim@example.com"},
		{"decomposed local part", "Jose\u0301@example.com", "jos\u00e9@example.com"},
		{"local part folds", "stra\u00dfe@example.com", "strasse@example.com"},
		{"full-width at sign", "alice\uff20example.com", "alice@example.com"},
		{"blanks around it", " alice@example.com\n", "alice@example.com"},
		{"blanks around the at sign", "alice @ example.com", "alice@example.com"},
		{"blank in the domain", "victim@example. com", "victim@example.com"},
		{"ignorable in the domain", "victim@exa\u00admple\u2060.com", "victim@example.com"},
		{"blank in the local part is kept", "vic tim@example.com", "vic tim@example.com"},
		{"run of blanks in the local part", "vic\u00a0\ttim@example.com", "vic tim@example.com"},
		{"plus and dots are kept without a rule", "a.b+c@gmail.com", "a.b+c@gmail.com"},
		{"root dot", "u@example.com.", "u@example.com"},
		{"root dot behind a blank", "u@example.com .", "u@example.com"},
		{"root dot before a joiner", "u@example.com.\u200d", "u@example.com"},
		{"only one root dot", "u@example.com..", "u@example.com.."},
		{"two dots and a joiner", "u@Example.com..\u200d", "u@example.com.."},
		{"nothing but dots", "u@..", "u@.."},
		{"U-label", "u@m\u00fcnchen.example", munich},
		{"U-label in capitals with root dot", "u@M\u00dcNCHEN.EXAMPLE.", munich},
		{"decomposed U-label", "u@mu\u0308nchen.example", munich},
		{"A-label", munich, munich},
		{"A-label in capitals", "u@XN--MNCHEN-3YA.example", munich},
		{"ideographic full stop", "u@m\u00fcnchen\u3002example", munich},
		{"half-width and full-width full stops", "u@m\u00fcnchen\uff61example\uff0e", munich},
		{"sharp s is a letter", "u@fa\u00df.example", "u@xn--fa-hia.example"},
		{"capital sharp s is the same letter", "u@FA\u1e9e.example", "u@xn--fa-hia.example"},
		{"double s is another domain", "u@fass.example", "u@fass.example"},
		{"final sigma is a letter", "u@\u03bf\u03c2.example", "u@xn--0xag.example"},
		{"capital sigma is the other one", "u@\u039f\u03a3.example", "u@xn--0xai.example"},
		{"joiner that means something", "u@\u0646\u0627\u0645\u0647\u200c\u0627\u06cc.com", "u@xn--mgba3gch31f060k.com"},
		{"joiner that means nothing", "u@exam\u200cple.com", "u@example.com"},
		{"joiner that means nothing beside a sharp s", "u@fa\u200d\u00df.example", "u@xn--fa-hia.example"},
		{"ideographic root dot", "u@example.com\u3002", "u@example.com"},
		{"ideographic full stops of a refused domain", "u@a\u3002\u3002B", "u@a..b"},
		{"underscore", "u@_a.m\u00fcnchen.example", "u@_a.xn--mnchen-3ya.example"},
		{"hyphens anywhere", "u@-r3---m\u00fcnchen.example", "u@xn---r3---mnchen-jlb.example"},
		{"invalid A-label stays", "u@XN--A.example", "u@xn--a.example"},
		{"A-label of plain ASCII stays", "u@xn--abc-.example", "u@xn--abc-.example"},
		{"label too long", "u@" + strings.Repeat("A", 64) + ".example", "u@" + strings.Repeat("a", 64) + ".example"},
		{"refused domain folds", "u@\u0301STRA\u00dfE", "u@\u0301strasse"},
		{"refused for an empty label", "u@a..\u00c4", "u@a..\u00e4"},
		{"domain far too long", "u@" + strings.Repeat("\u00c4", 2000), "u@" + strings.Repeat("\u00e4", 2000)},
		{"IPv4 literal", "u@[192.0.2.1]", "u@[192.0.2.1]"},
		{"IPv6 literal", "u@[2001:DB8:0:0::1]", "u@[2001:db8::1]"},
		{"tagged IPv6 literal", "u@[IPv6:2001:db8::1]", "u@[2001:db8::1]"},
		{"mapped IPv4 literal", "u@[ipv6:::ffff:192.0.2.1].", "u@[192.0.2.1]"},
		{"full-width literal", "u@\uff3b192.0.2.1\uff3d", "u@[192.0.2.1]"},
		{"literal with a zone", "u@[fe80::1%Eth0]", "u@[fe80::1%eth0]"},
		{"not an address", "u@[Hello]", "u@[hello]"},
		{"last at sign counts", "\"A@b\"@EXAMPLE.com", "\"a@b\"@example.com"},
		{"nothing before the at sign", "@Stra\u00dfe", "@strasse"},
		{"nothing behind the at sign", "alice@ ", "alice@"},
		{"nothing but a dot behind the at sign", "Alice@.", "alice@."},
		{"nothing visible behind the at sign", "alice@\u200d", "alice@"},
		{"nothing but the at sign", " @ ", "@"},
	}
	for _, tt := range tests {
		if got := plain.Canonical(tt.in); got != tt.want {
			t.Errorf("%s: Canonical(%q) = %q, want %q", tt.name, tt.in, got, tt.want)
		}
	}
}

func TestPlainNamesAreNotCopied(t *testing.T) {
	c := providers(t)
	for _, s := range []string{"alice", "alice@example.org", "a-b_c@sub.example.org", "alice@example.com"} {
		if n := testing.AllocsPerRun(100, func() { c.Canonical(s) }); n != 0 {
			t.Errorf("Canonical(%q) allocates %v times, want 0", s, n)
		}
	}
}

var benchNames = []struct{ name, account string }{
	{"Plain", "alice@example.com"},
	{"Capitals", "Alice@Example.com"},
	{"Rule", "a.lice+shop@gmail.com"},
	{"Unicode", "jos\u00e9@m\u00fcnchen.example"},
	// The longest that the API accepts, of letters, of a character that NFKC
	// makes eighteen of, and of a run of marks.
	{"LongLetters", strings.Repeat("\u00e9", 512)},
	{"LongExpanding", strings.Repeat("\ufdfa", 341)},
	{"LongMarks", strings.Repeat("\u0301\u0327", 256)},
	{"LongDomain", "u@" + strings.Repeat("\u00e9\u00ea", 253)},
}

func BenchmarkCanonical(b *testing.B) {
	c := providers(b)
	for _, bb := range benchNames {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.Canonical(bb.account)
			}
		})
	}
}
