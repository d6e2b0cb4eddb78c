package netprefix

import (
	"net/netip"
	"slices"
	"sort"
)

// span is a contiguous range of addresses of one family, both ends included.
type span struct{ first, last netip.Addr }

// spans are disjoint, not adjacent, and in ascending order, IPv4 before IPv6.
type spans []span

// mergeBlocks joins overlapping and adjacent blocks into the fewest spans. Blocks have to be in
// the form of [ParsePrefix].
func mergeBlocks(blocks []netip.Prefix) spans {
	all := make([]span, len(blocks))
	for i, p := range blocks {
		all[i] = span{p.Addr(), lastAddr(p)}
	}
	slices.SortFunc(all, func(a, b span) int { return a.first.Compare(b.first) })
	merged := all[:0]
	for _, s := range all {
		if n := len(merged); n > 0 && merged[n-1].joins(s) {
			if s.last.Compare(merged[n-1].last) > 0 {
				merged[n-1].last = s.last
			}
			continue
		}
		merged = append(merged, s)
	}
	return merged
}

// everything reports whether the span is all addresses of its family.
func (s span) everything() bool { return s.first.IsUnspecified() && !s.last.Next().IsValid() }

// joins reports whether t, which does not begin before s, overlaps s or follows it without a gap.
// All of IPv6 compares greater than IPv4, and the last address of IPv4 has no next one, so the
// families never join.
func (s span) joins(t span) bool {
	return t.first.Compare(s.last) <= 0 || s.last.Next() == t.first
}

// blocks are the fewest CIDR blocks that make up the span, ascending.
func (s span) blocks() []netip.Prefix {
	var list []netip.Prefix
	for at := s.first; at.IsValid() && at.Compare(s.last) <= 0; {
		// Grow the block while it still begins here and does not pass the end.
		block := netip.PrefixFrom(at, at.BitLen())
		for block.Bits() > 0 {
			wider := netip.PrefixFrom(at, block.Bits()-1)
			if wider.Masked().Addr() != at || lastAddr(wider).Compare(s.last) > 0 {
				break
			}
			block = wider
		}
		list = append(list, block)
		at = lastAddr(block).Next()
	}
	return list
}

// find gives the index of the span that contains an address in canonical form, or -1.
func (s spans) find(a netip.Addr) int {
	i := sort.Search(len(s), func(i int) bool { return s[i].last.Compare(a) >= 0 })
	if i < len(s) && s[i].first.Compare(a) <= 0 {
		return i
	}
	return -1
}

// contains reports whether an address in canonical form is in one of the spans.
func (s spans) contains(a netip.Addr) bool { return s.find(a) >= 0 }
