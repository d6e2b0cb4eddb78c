package netprefix

import (
	"net/netip"
	"strings"
)

// blanks are the characters HTTP calls optional white space (RFC 9110, 5.6.3). Nothing else is
// trimmed: an address next to a no-break space or a control character is malformed.
const blanks = " \t"

// portForm says which ports may follow an address.
type portForm bool

const (
	plainPort      portForm = false // digits only
	obfuscatedPort portForm = true  // or a name such as _p8 (RFC 7239, 6.3)
)

// parseNode reads an address as servers, proxies and load balancers write it: a, a:port, v6,
// [v6], [v6]:port, with blanks around it and with a zone. Port and zone are checked as far as
// needed to be sure that they are such, and dropped: a key made from them would be a fresh one
// per connection. IPv4-mapped addresses come back as IPv4, in whatever spelling.
func parseNode(s string, ports portForm) (netip.Addr, bool) {
	s = strings.Trim(s, blanks)
	if rest, ok := strings.CutPrefix(s, "["); ok {
		host, port, ok := strings.Cut(rest, "]")
		// Only IPv6 goes in brackets; [192.0.2.1] is nobody's notation.
		if !ok || !strings.Contains(host, ":") {
			return netip.Addr{}, false
		}
		if port != "" && !validPort(port, ports) {
			return netip.Addr{}, false
		}
		return parseAddr(host)
	}
	// A zone may hold any text, colons included, so the colons are counted before it.
	host, _, _ := strings.Cut(s, "%")
	if strings.Count(host, ":") == 1 {
		colon := strings.IndexByte(s, ':')
		if !validPort(s[colon:], ports) {
			return netip.Addr{}, false
		}
		s = s[:colon]
		// One colon is no IPv6 address: what stands before it has to be IPv4.
		if !strings.Contains(s, ".") {
			return netip.Addr{}, false
		}
	}
	return parseAddr(s)
}

// parseAddr reads a bare address and drops its zone. netip refuses leading zeros (192.0.2.010),
// hexadecimal parts and plain integers, which other parsers read as different addresses.
func parseAddr(s string) (netip.Addr, bool) {
	text, zone, zoned := strings.Cut(s, "%")
	if zoned && (zone == "" || !strings.Contains(text, ":")) {
		return netip.Addr{}, false
	}
	addr, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Addr{}, false
	}
	return addr.Unmap(), true
}

// validPort checks ":port". Ports have 1 to 5 digits and are at most 65535; nothing is read as a
// number by a lenient parser (+443, empty, 99999).
func validPort(s string, form portForm) bool {
	port, ok := strings.CutPrefix(s, ":")
	if !ok || port == "" {
		return false
	}
	if form == obfuscatedPort && port[0] == '_' {
		return len(port) > 1 && strings.Trim(port, obfuscatedBytes) == ""
	}
	if len(port) > 5 {
		return false
	}
	n := 0
	for _, c := range []byte(port) {
		if c < '0' || c > '9' {
			return false
		}
		n = n*10 + int(c-'0')
	}
	return n <= 65535
}

// obfuscatedBytes may stand in an obfuscated identifier (RFC 7239, 6.3).
const obfuscatedBytes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
