package edge

import "net/netip"

// key names a network: its first address in 16 bytes, IPv4 as ::ffff:a.b.c.d.
// An array without pointers, so that a full table costs the garbage collector
// nothing.
type key [16]byte

// unknown is the one bucket of all clients without an address, such as those
// on a Unix socket. No client on a network is 0.0.0.0.
var unknown = key(netip.IPv4Unspecified().As16())

// nat64 is the well-known prefix of RFC 6052. All of IPv4 stands behind it, in
// what would be a single /64.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// lengths says how many leading bits of an address make a network.
type lengths struct {
	ipv4 int // 1 to 32
	ipv6 int // 1 to 128
}

// network returns the network of an address as Caddy writes it. An
// IPv4-mapped address, or one of [nat64], is the IPv4 address in it, and a
// zone is dropped: whatever a client can vary at will must not be a fresh
// bucket. For anything that is no address it returns unknown and false.
func (l lengths) network(address string) (key, bool) {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return unknown, false
	}
	a = a.Unmap().WithZone("")
	if nat64.Contains(a) {
		b := a.As16()
		a = netip.AddrFrom4([4]byte(b[12:]))
	}
	bits := l.ipv6
	if a.Is4() {
		bits = l.ipv4
	}
	p, err := a.Prefix(bits)
	if err != nil {
		return unknown, false // not with lengths in their bounds
	}
	return p.Addr().As16(), true
}
