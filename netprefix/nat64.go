package netprefix

import (
	"net/netip"
	"slices"
)

// nat64 are the prefixes behind which IPv4 clients appear as IPv6 addresses (RFC 6052), longest
// first. Untranslated, all IPv4 clients behind 64:ff9b::/96 would be one /64.
type nat64 []netip.Prefix

// newNAT64 checks the configured prefixes. RFC 6052, 2.2 allows six lengths, and demands that
// bits 64 to 71 are zero, which concerns the prefix itself only at length 96.
func newNAT64(list []string, faults *collector) nat64 {
	var prefixes nat64
	for i, s := range list {
		path := indexed("client_address.nat64", i)
		p, err := ParsePrefix(s)
		switch {
		case err != nil:
			faults.addf(path, "%v", err)
		case p.Addr().Is4():
			faults.addf(path, "%q is IPv4: a NAT64 prefix is IPv6, such as 64:ff9b::/96", clip(s))
		case !slices.Contains([]int{32, 40, 48, 56, 64, 96}, p.Bits()):
			faults.addf(path, "%q has length %d: a NAT64 prefix has 32, 40, 48, 56, 64 or 96 bits (RFC 6052)", clip(s), p.Bits())
		case p.Addr().As16()[reservedOctet] != 0:
			faults.addf(path, "%q: bits 64 to 71 of a NAT64 prefix have to be zero (RFC 6052)", clip(s))
		default:
			prefixes = append(prefixes, p)
		}
	}
	slices.SortFunc(prefixes, func(a, b netip.Prefix) int { return b.Bits() - a.Bits() })
	return prefixes
}

// reservedOctet is the byte (bits 64 to 71) that an embedded IPv4 address steps over.
const reservedOctet = 8

// translate gives the IPv4 address embedded in a, or a itself. An address in the prefix whose
// reserved octet is not zero was made by no translator and stays what it is. The bits behind the
// IPv4 address are ignored, as RFC 6052 asks: they must not make one client many.
func (n nat64) translate(a netip.Addr) netip.Addr {
	if a.Is4() {
		return a
	}
	for _, p := range n {
		if !p.Contains(a) {
			continue
		}
		bytes := a.As16()
		if bytes[reservedOctet] != 0 {
			continue
		}
		var v4 [4]byte
		at := p.Bits() / 8
		for i := range v4 {
			if at == reservedOctet {
				at++
			}
			v4[i] = bytes[at]
			at++
		}
		return netip.AddrFrom4(v4)
	}
	return a
}
