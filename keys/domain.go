package keys

import (
	"net/netip"
	"strings"

	"golang.org/x/net/idna"
)

const (
	// acePrefix begins a label in the ASCII form of IDNA.
	acePrefix = "xn--"

	// maxDomain is the longest domain, in bytes, that is given to IDNA. A name
	// in the DNS has at most 253 octets as A-labels, and no character of a
	// U-label takes more than four bytes, so that a longer one is refused in
	// any case; its punycode would cost time in the square of the length.
	maxDomain = 4 * 253
)

// profile is UTS #46 processing for lookup, non-transitional: ß, final sigma
// and the joiners are letters of their own, as in IDNA2008 and in browsers
// since 2022, so that faß.example and fass.example are two domains.
//
// It is lenient otherwise, because the aim is to find the U-label and the
// A-label of whatever name exists and not to judge names: underscores and
// other ASCII symbols pass (StrictDomainName), hyphens may be anywhere
// (CheckHyphens), and the rule for mixed directions is not applied (BidiRule).
// The length limits of the DNS are checked, and with them empty labels.
var profile = idna.New(
	idna.MapForLookup(),
	idna.Transitional(false),
	idna.StrictDomainName(false),
	idna.CheckHyphens(false),
	idna.VerifyDNSLength(true),
)

// canonicalDomain returns the canonical form of what follows the last @ of an
// address, and whether it is a domain name or an address literal at all. s
// must have gone through clean and compose. The result is
//
//   - an address literal in brackets in the shortest text form of the address
//     (RFC 5952), without the tag "IPv6:" and with mapped IPv4 as IPv4;
//   - or the A-label form in lower case without the root dot;
//   - or, for what IDNA refuses, the folded text, likewise without the dot.
//
// White space is removed wherever it is: no domain has any. One dot at the end is
// removed. Two make an empty label, are refused, and both stay: removing one of
// them would leave a name that changes when it is made canonical once more.
func canonicalDomain(s string) (domain string, ok bool) {
	s = strings.ReplaceAll(s, " ", "")
	// The ideographic full stop separates labels (its half-width form became
	// this one, the full-width full stop became a dot in NFKC).
	s = strings.ReplaceAll(s, "\u3002", ".")
	// Unicode 15.1 gave the capital sharp s back to ß; the tables of before have
	// ss. The name must not depend on which of them the program was built with.
	s = strings.ReplaceAll(s, "\u1e9e", "\u00df")
	if strings.HasSuffix(s, "..") {
		return refusedDomain(s), false
	}
	s = strings.TrimSuffix(s, ".")
	if s == "" {
		return "", false
	}
	if literal, ok := addressLiteral(s); ok {
		return literal, true
	}
	if len(s) <= maxDomain {
		if ascii, err := profile.ToASCII(s); err == nil {
			return ascii, true
		}
	}
	// A joiner in a place where it means nothing is as ignorable as elsewhere.
	if strings.ContainsFunc(s, isJoiner) {
		return canonicalDomain(clean(s, dropJoiners))
	}
	return refusedDomain(s), false
}

// refusedDomain returns the form of a domain that is none: folded text.
func refusedDomain(s string) string {
	return strings.ReplaceAll(foldName(s), " ", "")
}

// addressLiteral returns the canonical form of the address literal s, such as
// [192.0.2.1], [IPv6:2001:db8::1] (RFC 5321, 4.1.3) or, as people write it
// too, [2001:db8::1].
func addressLiteral(s string) (literal string, ok bool) {
	const tag = "ipv6:"
	if len(s) < 2 || s[0] != '[' || s[len(s)-1] != ']' {
		return "", false
	}
	s = s[1 : len(s)-1]
	if len(s) >= len(tag) && strings.EqualFold(s[:len(tag)], tag) {
		s = s[len(tag):]
	}
	a, err := netip.ParseAddr(s)
	// A zone names an interface of one machine: it is nobody's mail domain.
	if err != nil || a.Zone() != "" {
		return "", false
	}
	return "[" + a.Unmap().String() + "]", true
}
