package netprefix

import (
	"net/netip"
	"strings"
)

// parseForwardedElement reads the for parameter of one element of a Forwarded header (RFC 7239):
//
//	For="[2001:db8:cafe::17]:4711";proto=https;by=203.0.113.43
//
// It reports false when the element names no address: no for, two of them, "unknown", an
// obfuscated identifier (_hidden), a bad port, or text that is no element at all. Beyond the
// grammar it takes what proxies are known to write: values outside quotes that need quotes
// (for=2001:db8::17, host=example.com:8080) and blanks around semicolons.
func parseForwardedElement(s string) (netip.Addr, bool) {
	var node string
	found := false
	for s != "" {
		name, value, rest, ok := nextParameter(s)
		if !ok {
			return netip.Addr{}, false
		}
		s = rest
		if !strings.EqualFold(name, "for") {
			continue
		}
		if found {
			return netip.Addr{}, false
		}
		node, found = value, true
	}
	if !found {
		return netip.Addr{}, false
	}
	return parseNode(node, obfuscatedPort)
}

// nextParameter reads one name=value and the semicolon behind it. Empty parameters (";;") are
// legal and come back without a name.
func nextParameter(s string) (name, value, rest string, ok bool) {
	s = strings.TrimLeft(s, blanks)
	end := leading(s, isTokenByte)
	name, s = s[:end], s[end:]
	if name != "" {
		if !strings.HasPrefix(s, "=") {
			return "", "", "", false
		}
		if value, s, ok = parameterValue(s[1:]); !ok {
			return "", "", "", false
		}
	}
	s = strings.TrimLeft(s, blanks)
	if s == "" {
		return name, value, "", true
	}
	if s[0] != ';' {
		return "", "", "", false
	}
	return name, value, s[1:], true
}

// parameterValue reads a quoted string or a bare value, and gives what follows it.
func parameterValue(s string) (value, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		end := leading(s, isBareByte)
		return s[:end], s[end:], end > 0
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:], true
		case c == '\\':
			if i++; i == len(s) {
				return "", "", false
			}
			b.WriteByte(s[i])
		case c < ' ' && c != '\t', c == 0x7f:
			return "", "", false
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false // the closing quote is missing
}

// leading is the length of the longest start of s that consists of such bytes.
func leading(s string, such func(byte) bool) int {
	for i := range len(s) {
		if !such(s[i]) {
			return i
		}
	}
	return len(s)
}

// isTokenByte: tchar of RFC 9110, 5.6.2.
func isTokenByte(c byte) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		return true
	}
	return strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

// isBareByte: what is taken in a value outside quotes, a token and the delimiters of addresses.
func isBareByte(c byte) bool {
	return isTokenByte(c) || c == ':' || c == '[' || c == ']' || c == '/'
}
