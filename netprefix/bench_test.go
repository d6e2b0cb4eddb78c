package netprefix

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"github.com/yl2chen/cidranger"
)

// bigConfig has n distinct blocks of mixed lengths, as lists of carriers and data centres do.
func bigConfig(b testing.TB, n int) TableConfig {
	b.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	seen := map[netip.Prefix]bool{sharedBlock: true}
	var lists [2]strings.Builder
	for len(seen) <= n {
		a, bits := netip.AddrFrom4([4]byte{byte(random.Uint32()), byte(random.Uint32()), byte(random.Uint32()), byte(random.Uint32())}), 16+random.IntN(13)
		if random.IntN(5) == 0 {
			a, bits = netip.AddrFrom16([16]byte{0x2a, byte(random.Uint32()), byte(random.Uint32()), byte(random.Uint32()), byte(random.Uint32()), byte(random.Uint32())}), 29+random.IntN(20)
		}
		p, _ := a.Prefix(bits)
		if !seen[p] {
			seen[p] = true
			fmt.Fprintln(&lists[len(seen)%2], p)
		}
	}
	return TableConfig{
		Hosting: Blocks{Files: []string{writeList(b, lists[0].String())}},
		Pools:   []NamedBlocks{{"carriers", Blocks{Files: []string{writeList(b, lists[1].String())}}}},
	}
}

func BenchmarkNewTable50000(b *testing.B) {
	c := bigConfig(b, 50_000)
	b.ReportAllocs()
	for b.Loop() {
		mustTable(b, c)
	}
}

func benchmarkAddrs() []netip.Addr {
	random := rand.New(rand.NewPCG(3, 4))
	list := make([]netip.Addr, 1024)
	for i := range list {
		list[i] = netip.AddrFrom4([4]byte{byte(random.Uint32()), byte(random.Uint32()), byte(random.Uint32()), byte(i)})
		if i%4 == 0 {
			list[i] = netip.AddrFrom16([16]byte{0x2a, byte(random.Uint32()), byte(random.Uint32()), byte(i), 15: 1})
		}
	}
	return list
}

func BenchmarkClassify50000(b *testing.B) {
	table := mustTable(b, bigConfig(b, 50_000))
	addrs := benchmarkAddrs()
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		table.Classify(addrs[i%len(addrs)])
		i++
	}
}

// The index alone, and one cidranger trie of all blocks: for addresses in some
// block and for addresses anywhere.
func BenchmarkLookup50000(b *testing.B) {
	blocks, x, trie := compiledAndTrie(b, 50_000)
	for _, kind := range []struct {
		name  string
		addrs []netip.Addr
	}{{"anywhere", benchmarkAddrs()}, {"listed", firstAddrs(blocks)}} {
		b.Run("index/"+kind.name, func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				x.lookup(kind.addrs[i%len(kind.addrs)])
				i++
			}
		})
		b.Run("cidranger/"+kind.name, func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if _, err := longest(trie, kind.addrs[i%len(kind.addrs)]); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

// compiledAndTrie holds the same n blocks both ways.
func compiledAndTrie(b *testing.B, n int) ([]block, *index, cidranger.Ranger) {
	b.Helper()
	build, trie := newBuilder(), cidranger.NewPCTrieRanger()
	c := bigConfig(b, n)
	var faults collector
	meanings := []int{build.meaning(match{class: Hosting}), build.meaning(match{class: Exempt})}
	all := append(c.Hosting.read(keysBelow("a"), &faults), c.Pools[0].read(keysBelow("b"), &faults)...)
	for i, l := range all {
		build.insert(l.prefix, meanings[i%2])
		if err := insertInto(trie, listed{l.prefix, meanings[i%2]}); err != nil {
			b.Fatal(err)
		}
	}
	x, err := build.build()
	if err != nil {
		b.Fatal(err)
	}
	return all, x, trie
}

// firstAddrs are the first addresses of blocks from all over the list.
func firstAddrs(blocks []block) []netip.Addr {
	list := make([]netip.Addr, 1024)
	for i := range list {
		list[i] = blocks[i*len(blocks)/len(list)].prefix.Addr()
	}
	return list
}

// One trie of all blocks, as NewTable would build it without groups and index.
func BenchmarkTrie50000(b *testing.B) {
	c := bigConfig(b, 50_000)
	var faults collector
	all := append(c.Hosting.read(keysBelow("a"), &faults), c.Pools[0].read(keysBelow("b"), &faults)...)
	b.ReportAllocs()
	for b.Loop() {
		trie := cidranger.NewPCTrieRanger()
		for _, l := range all {
			if err := insertInto(trie, listed{l.prefix, 1}); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkFromForwarded(b *testing.B) {
	for header, line := range map[string]string{
		SourceXForwardedFor: "192.0.2.1, 203.0.113.9:4711, 10.0.0.3",
		SourceForwarded:     `for=192.0.2.1, for="[2001:db8::9]:4711";proto=https;host="example.com", for=10.0.0.3`,
	} {
		b.Run(header, func(b *testing.B) {
			r := mustResolver(b, ResolverConfig{Hops: 2, Trusted: edge, Header: header})
			lines := []string{line}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.FromForwarded("10.0.0.1:4711", header, lines); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
