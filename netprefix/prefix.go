package netprefix

import (
	"fmt"
	"net/netip"
	"strings"
)

// mappedBits is the length of ::ffff:0:0/96, the block of IPv4-mapped IPv6 addresses (RFC 4291,
// 2.5.5.2).
const mappedBits = 96

// ParsePrefix reads a block in CIDR notation, or one address as the block that holds only it.
//
// It is strict, since a block that means something else than its author thought either trusts
// too much or matches nothing: no shorthand (10/8), no blanks, no zones, no leading zeros, and
// no host bits (10.0.0.5/8; the error shows the block 10.0.0.0/8). A block of IPv4-mapped
// addresses (::ffff:192.0.2.0/120) is the IPv4 block (192.0.2.0/24), because addresses are always
// looked up in their IPv4 form.
func ParsePrefix(s string) (netip.Prefix, error) {
	if strings.TrimSpace(s) == "" {
		return netip.Prefix{}, fmt.Errorf("blank entry: want a block such as 203.0.113.0/24 or 2001:db8::/32")
	}
	if !strings.Contains(s, "/") {
		addr, err := netip.ParseAddr(s)
		if err != nil || addr.Zone() != "" {
			return netip.Prefix{}, notABlock(s)
		}
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	p, err := netip.ParsePrefix(s)
	if err != nil {
		return netip.Prefix{}, notABlock(s)
	}
	if masked := p.Masked(); masked.Addr() != p.Addr() {
		return netip.Prefix{}, fmt.Errorf("%q has host bits set: write %s for the block, or the address without a length",
			clip(s), unmapPrefix(masked))
	}
	return unmapPrefix(p), nil
}

func notABlock(s string) error {
	return fmt.Errorf("%q is no address block: want one such as 203.0.113.0/24 or 2001:db8::/32, or one address", clip(s))
}

// unmapPrefix turns a block inside ::ffff:0:0/96 into the IPv4 block it stands for. A shorter
// block that contains all of ::ffff:0:0/96 stays IPv6: it names IPv6 addresses.
func unmapPrefix(p netip.Prefix) netip.Prefix {
	if p.Addr().Is4In6() && p.Bits() >= mappedBits {
		return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-mappedBits)
	}
	return p
}

// lastAddr is the highest address of a block.
func lastAddr(p netip.Prefix) netip.Addr {
	bytes := p.Addr().As16()
	// IPv4 addresses occupy the last 32 of the 128 bits.
	first := p.Bits() + 128 - p.Addr().BitLen()
	for bit := first; bit < 128; {
		if bit%8 == 0 {
			bytes[bit/8] = 0xff
			bit += 8
			continue
		}
		bytes[bit/8] |= 1 << (7 - bit%8)
		bit++
	}
	last := netip.AddrFrom16(bytes)
	if p.Addr().Is4() {
		return last.Unmap()
	}
	return last
}

// clip shortens foreign text for an error message.
func clip(s string) string {
	const longest = 64
	if len(s) <= longest {
		return s
	}
	return s[:longest] + "..."
}
