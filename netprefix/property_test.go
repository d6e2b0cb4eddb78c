package netprefix

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/yl2chen/cidranger"
	"pgregory.net/rapid"
)

// drawBlock draws blocks from a small part of each family, so that they meet.
func drawBlock(t *rapid.T) netip.Prefix {
	var a netip.Addr
	var bits int
	switch rapid.IntRange(0, 3).Draw(t, "family") {
	case 0: // around the IPv4-mapped addresses
		b := [16]byte{9: rapid.SampledFrom([]byte{0, 1}).Draw(t, "b9"), 10: 0xff, 11: rapid.SampledFrom([]byte{0xfe, 0xff}).Draw(t, "b11")}
		b[12] = rapid.Byte().Draw(t, "b12")
		a, bits = netip.AddrFrom16(b), rapid.IntRange(60, 100).Draw(t, "bits")
	case 1:
		b := [16]byte{0: 0x20, 1: 0x01, 15: rapid.Byte().Draw(t, "low")}
		a, bits = netip.AddrFrom16(b), rapid.IntRange(118, 128).Draw(t, "bits")
	case 2:
		a, bits = netip.AddrFrom4([4]byte{rapid.SampledFrom([]byte{0, 10, 255}).Draw(t, "high"), 0, 0, 0}), rapid.IntRange(0, 16).Draw(t, "bits")
	default:
		a, bits = netip.AddrFrom4([4]byte{192, 0, 2, rapid.Byte().Draw(t, "low")}), rapid.IntRange(22, 32).Draw(t, "bits")
	}
	p, err := ParsePrefix(netip.PrefixFrom(a, bits).Masked().String())
	if err != nil {
		t.Fatalf("a drawn block is refused: %v", err)
	}
	return p
}

// edges are the addresses at which an error of one would show.
func edges(blocks []netip.Prefix) []netip.Addr {
	list := []netip.Addr{addr("0.0.0.0"), addr("255.255.255.255"), addr("::"), addr("::1:0:0:0"), addr("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")}
	for _, p := range blocks {
		for _, a := range []netip.Addr{p.Addr().Prev(), p.Addr(), lastAddr(p), lastAddr(p).Next()} {
			if a.IsValid() {
				list = append(list, canonical(a))
			}
		}
	}
	return list
}

func TestClassifyEqualsLinearScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c TableConfig
		class := map[netip.Prefix]Class{sharedBlock: InPool}
		var blocks []netip.Prefix
		for range rapid.IntRange(0, 20).Draw(t, "n") {
			p := drawBlock(t)
			if _, taken := class[p]; taken {
				continue
			}
			blocks = append(blocks, p)
			first := 0
			if p.Bits() < 2 {
				first = 1 // exempt blocks that cover a family are refused
			}
			switch rapid.IntRange(first, 2).Draw(t, "class") {
			case 0:
				class[p], c.Exempt.CIDRs = Exempt, append(c.Exempt.CIDRs, p.String())
			case 1:
				class[p], c.Hosting.CIDRs = Hosting, append(c.Hosting.CIDRs, p.String())
			default:
				class[p] = InPool
				c.Pools = append(c.Pools, NamedBlocks{"p" + strings.NewReplacer(":", "_", "/", "-").Replace(p.String()), Blocks{CIDRs: []string{p.String()}}})
			}
		}
		table, err := NewTable(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range edges(append(blocks, sharedBlock)) {
			want, bits := None, -1
			for p, cl := range class {
				if p.Contains(a) && p.Bits() > bits {
					want, bits = cl, p.Bits()
				}
			}
			if got, _ := table.Classify(a); got != want {
				t.Fatalf("%s is %s, by linear scan %s", a, got, want)
			}
		}
	})
}

// The compiled index and one trie of all blocks agree, between the edges too.
func TestIndexEqualsTrie(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, trie := newBuilder(), cidranger.NewPCTrieRanger()
		var blocks []netip.Prefix
		for range rapid.IntRange(0, 30).Draw(t, "n") {
			p := drawBlock(t)
			if slices.Contains(blocks, p) {
				continue
			}
			blocks = append(blocks, p)
			l := listed{p, b.meaning(match{class: Hosting})}
			b.insert(l.prefix, l.meaning)
			if err := insertInto(trie, l); err != nil {
				t.Fatal(err)
			}
		}
		x, err := b.build()
		if err != nil {
			t.Fatal(err)
		}
		for i := range x.matches {
			x.matches[i].pool = string(rune('a' + i)) // tell the meanings apart
		}
		asked := edges(blocks)
		for range 20 {
			asked = append(asked, canonical(netip.AddrFrom16([16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "v6")))),
				netip.AddrFrom4([4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "v4"))))
		}
		for _, a := range asked {
			want, err := longest(trie, a)
			if err != nil {
				t.Fatal(err)
			}
			if got := x.lookup(a); got != x.matches[want] {
				t.Fatalf("%s: index %v, trie %v", a, got, x.matches[want])
			}
		}
	})
}

// Merging and writing as blocks again covers the same addresses, with no two parts that touch.
func TestMergeCoversTheSameAddresses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var blocks []netip.Prefix
		for range rapid.IntRange(0, 20).Draw(t, "n") {
			blocks = append(blocks, drawBlock(t))
		}
		merged := mergeBlocks(blocks)
		var written []netip.Prefix
		for i, s := range merged {
			if i > 0 && merged[i-1].joins(s) {
				t.Fatalf("%v and %v were not joined", merged[i-1], s)
			}
			parts := s.blocks()
			if again := mergeBlocks(parts); len(again) != 1 || again[0] != s {
				t.Fatalf("%v written as %v is %v", s, parts, again)
			}
			for j := 1; j < len(parts); j++ {
				// Two equal halves of one block would be one block.
				if w := netip.PrefixFrom(parts[j-1].Addr(), max(parts[j-1].Bits()-1, 0)).Masked(); w.Contains(parts[j].Addr()) &&
					parts[j].Bits() == parts[j-1].Bits() && w.Addr() == parts[j-1].Addr() {
					t.Fatalf("%v and %v are one block", parts[j-1], parts[j])
				}
			}
			written = append(written, parts...)
		}
		covers := func(list []netip.Prefix, a netip.Addr) bool {
			for _, p := range list {
				if p.Contains(a) {
					return true
				}
			}
			return false
		}
		for _, a := range edges(append(blocks, written...)) {
			want := covers(blocks, a)
			if covers(written, a) != want || merged.contains(a) != want {
				t.Fatalf("%s: listed %v, written %v, merged %v", a, want, covers(written, a), merged.contains(a))
			}
		}
	})
}

// spoof draws what a client may write to the left of the proxies: anything, and often something
// that a parser may trip over.
func spoof() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`[ ,;="\\:%a-f0-9.\[\]]{0,40}`),
		rapid.SampledFrom([]string{"", ",", `"`, `\`, `for="`, `for=10.0.0.1;x="\`, "10.0.0.1", "for=10.0.0.1", "192.0.2.1,", "fe80::1%,", "unknown"}),
	)
}

// Whatever stands to the left of what the proxies wrote, the client stays the same.
func TestSpoofedPrefixNeverChangesTheClient(t *testing.T) {
	honest := map[string]string{
		SourceXForwardedFor: "203.0.113.9, 198.51.100.5",
		SourceForwarded:     `for="203.0.113.9:47";host="a,\"b\\";proto=http, for=198.51.100.5`,
	}
	want := addr("203.0.113.9")
	rapid.Check(t, func(t *rapid.T) {
		// More hops than proxies: the client's own address, untrusted, has to stop the walk.
		hops := rapid.IntRange(2, MaxHops).Draw(t, "hops")
		before := rapid.SliceOfN(spoof(), 0, 3).Draw(t, "lines before")
		prefix := spoof().Draw(t, "prefix")
		for header, chain := range honest {
			r, err := NewResolver(ResolverConfig{Hops: hops, Trusted: edge, Header: header})
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range []string{chain, prefix + ", " + chain, prefix + "," + chain} {
				got, err := r.FromForwarded("10.0.0.1", header, append(before[:len(before):len(before)], line))
				if err != nil {
					t.Fatal(err)
				}
				if got.Addr != want || got.Source != header {
					t.Fatalf("%s %q: client = %v", header, line, got)
				}
			}
		}
	})
}

// All spellings of one address are one client with one set of networks.
func TestSpellingsOfOneAddressAreOneClient(t *testing.T) {
	r := mustResolver(t, ResolverConfig{})
	table := mustTable(t, TableConfig{})
	rapid.Check(t, func(t *rapid.T) {
		var a netip.Addr
		var spellings []string
		if rapid.Bool().Draw(t, "v4") {
			a = netip.AddrFrom4([4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "bytes")))
			mapped := netip.AddrFrom16(a.As16())
			spellings = []string{a.String(), a.String() + ":80", mapped.String(), mapped.StringExpanded(), "[" + mapped.String() + "]:80", strings.ToUpper(mapped.StringExpanded())}
		} else {
			b := [16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "bytes"))
			b[0] |= 0x20 // never a mapped address
			a = netip.AddrFrom16(b)
			spellings = []string{a.String(), a.StringExpanded(), strings.ToUpper(a.String()), "[" + a.String() + "]", "[" + a.String() + "%z]:1", a.String() + "%any text"}
		}
		_, networks := table.Classify(a)
		for _, s := range spellings {
			got, err := r.FromIP(" " + s + "\t")
			if err != nil || got.Addr != a {
				t.Fatalf("%q is %v, %v; want %s", s, got, err, a)
			}
			if _, again := table.Classify(got.Addr); describe(again) != describe(networks) {
				t.Fatalf("%q has networks %v, want %v", s, again, networks)
			}
		}
		for _, n := range networks[:min(1, len(networks))] {
			p, err := netip.ParsePrefix(n.Name)
			if err != nil || p.Masked().String() != n.Name || !p.Contains(a) {
				t.Fatalf("network %q of %s is no canonical block around it", n.Name, a)
			}
		}
	})
}
