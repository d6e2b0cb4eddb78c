package netprefix

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sort"

	"github.com/yl2chen/cidranger"
)

// match is what a listed block means for an address in it.
type match struct {
	class Class
	pool  string // name of the pool, for class InPool
}

// entry is a block in the trie.
type entry struct {
	block net.IPNet
	match int // index into index.matches
}

// Network implements cidranger.RangerEntry.
func (e *entry) Network() net.IPNet { return e.block }

// builder collects blocks and lets cidranger decide the longest match among them.
//
// Blocks and addresses have to be in the form of [ParsePrefix]: a cidranger trie goes by the
// length of a net.IP and would take ::ffff:192.0.2.0/120 for a block of IPv4 that no address
// matches, and ::ffff:0:0/96 for all of IPv4. Of two equal blocks it keeps the last, so callers
// find those.
type builder struct {
	blocks  []listed
	matches []match
}

// listed is a block and the number of what it means.
type listed struct {
	prefix  netip.Prefix
	meaning int
}

func newBuilder() *builder {
	return &builder{matches: []match{{}}} // 0: no block
}

// meaning gives the number under which blocks of one meaning are inserted.
func (b *builder) meaning(m match) int {
	b.matches = append(b.matches, m)
	return len(b.matches) - 1
}

func (b *builder) insert(p netip.Prefix, meaning int) {
	b.blocks = append(b.blocks, listed{p, meaning})
}

// insertInto adds a block to a trie.
func insertInto(trie cidranger.Ranger, l listed) error {
	block := net.IPNet{IP: l.prefix.Addr().AsSlice(), Mask: net.CIDRMask(l.prefix.Bits(), l.prefix.Addr().BitLen())}
	if err := trie.Insert(&entry{block, l.meaning}); err != nil {
		return fmt.Errorf("inserting %s: %w", l.prefix, err)
	}
	return nil
}

// longest asks a trie for the meaning of the longest block around an address, 0 for none.
func longest(trie cidranger.Ranger, a netip.Addr) (int, error) {
	found, err := trie.ContainingNetworks(a.AsSlice())
	if err != nil {
		return 0, fmt.Errorf("looking up %s: %w", a, err)
	}
	if len(found) == 0 {
		return 0, nil
	}
	return found[len(found)-1].(*entry).match, nil
}

// index is the answer of the trie for every address, as a sorted list of the addresses where the
// answer changes. The trie allocates on every look-up and follows a pointer per bit; this is a
// binary search in one piece of memory, and the tries are gone after the build.
type index struct {
	starts  []netip.Addr // ascending from 0.0.0.0, IPv4 before IPv6
	answers []int32      // index into matches, from starts[i] up to the next start
	matches []match
}

// build compiles the blocks. Blocks inside one outermost block get a trie of their own: inserting
// compares networks as text at every level, so that one trie for half a million blocks takes tens
// of seconds and most of a gigabyte, and blocks in different groups never contain one another.
func (b *builder) build() (*index, error) {
	slices.SortFunc(b.blocks, func(p, q listed) int { return comparePrefixes(p.prefix, q.prefix) })
	x := &index{matches: b.matches}
	x.change(netip.IPv4Unspecified(), 0)
	six, _ := slices.BinarySearchFunc(b.blocks, netip.IPv6Unspecified(), func(l listed, a netip.Addr) int {
		return l.prefix.Addr().Compare(a)
	})
	if err := x.compile(b.blocks[:six]); err != nil {
		return nil, err
	}
	x.change(netip.IPv6Unspecified(), 0)
	if err := x.compile(b.blocks[six:]); err != nil {
		return nil, err
	}
	return x, nil
}

// comparePrefixes orders blocks by their first address, IPv4 before IPv6, and the wider of two that
// begin alike first.
func comparePrefixes(p, q netip.Prefix) int {
	return cmp.Or(p.Addr().Compare(q.Addr()), cmp.Compare(p.Bits(), q.Bits()))
}

// compile appends the answers for sorted blocks of one family, group by group.
func (x *index) compile(blocks []listed) error {
	for len(blocks) > 0 {
		outer, n := blocks[0].prefix, 1
		for n < len(blocks) && outer.Contains(blocks[n].prefix.Addr()) {
			n++
		}
		if err := x.compileGroup(outer, blocks[:n]); err != nil {
			return err
		}
		blocks = blocks[n:]
	}
	return nil
}

// compileGroup asks a trie of the blocks inside outer at each address where the longest match may
// change: where a block begins and behind its end.
func (x *index) compileGroup(outer netip.Prefix, blocks []listed) error {
	trie := cidranger.NewPCTrieRanger()
	bounds := make([]netip.Addr, 0, 2*len(blocks)+1)
	for _, l := range blocks {
		if err := insertInto(trie, l); err != nil {
			return err
		}
		bounds = append(bounds, l.prefix.Addr())
		if next := lastAddr(l.prefix).Next(); next.IsValid() {
			bounds = append(bounds, next)
		}
	}
	if outer.Contains(afterMapped) {
		bounds = append(bounds, afterMapped)
	}
	slices.SortFunc(bounds, netip.Addr.Compare)
	for _, a := range slices.Compact(bounds) {
		answer, err := longest(trie, a)
		if err != nil {
			return err
		}
		x.change(a, answer)
	}
	return nil
}

// afterMapped follows ::ffff:0:0/96. Asked about an address of that block the trie answers for
// IPv4. That does no harm, since none is ever looked up as IPv6, as long as the wrong answer ends
// with the block: here the trie is always asked again.
var afterMapped = netip.MustParseAddr("::1:0:0:0")

// change says what the answer is from a on. A group that begins where the last one ended
// overrules the end of that one.
func (x *index) change(a netip.Addr, answer int) {
	n := len(x.starts)
	switch {
	case n > 0 && x.starts[n-1] == a:
		x.answers[n-1] = int32(answer)
	case n > 0 && x.answers[n-1] == int32(answer):
		// No change.
	default:
		x.starts = append(x.starts, a)
		x.answers = append(x.answers, int32(answer))
	}
}

// lookup gives what the longest block around an address in canonical form means.
func (x *index) lookup(a netip.Addr) match {
	// The first start behind a; there is one before it, since the list begins with the lowest
	// address there is.
	i := sort.Search(len(x.starts), func(i int) bool { return x.starts[i].Compare(a) > 0 })
	return x.matches[x.answers[i-1]]
}
