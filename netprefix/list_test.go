package netprefix

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func prefixes(list ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, s := range list {
		all = append(all, netip.MustParsePrefix(s))
	}
	return all
}

func listText(t testing.TB, list []netip.Prefix) string {
	t.Helper()
	var b strings.Builder
	if err := WriteList(&b, list); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestReadListGivesBlocksInTheOrderOfTheFile(t *testing.T) {
	list, err := ReadList(writeList(t, "# mine\n203.0.113.9\n2001:db8::/32 # v6\n\n192.0.2.0/24\n203.0.113.9/32\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := listText(t, list), "203.0.113.9/32\n2001:db8::/32\n192.0.2.0/24\n203.0.113.9/32\n"; got != want {
		t.Errorf("read %q, want %q", got, want)
	}
}

func TestReadListNamesEveryBadLine(t *testing.T) {
	name := writeList(t, "192.0.2.0/24\n10/8\nfine.example\n192.0.2.1/24\n")
	list, err := ReadList(name)
	if len(list) != 0 {
		t.Errorf("a bad file gives %v", list)
	}
	got := faultsOf(t, err)
	if len(got) != 3 {
		t.Fatalf("faults: %q", got)
	}
	for i, want := range []string{":2: ", ":3: ", ":4: "} {
		if !strings.HasPrefix(got[i], name+want) {
			t.Errorf("fault %d is %q, want the place %s%s", i, got[i], name, want)
		}
	}
	if got := faultsOf(t, func() error { _, err := ReadList(filepath.Join(t.TempDir(), "none")); return err }()); len(got) != 1 {
		t.Errorf("a missing file: %q", got)
	}
}

func TestAggregateAndSort(t *testing.T) {
	in := prefixes("2001:db8:1::/48", "192.0.2.128/25", "192.0.2.0/25", "2001:db8::/48", "192.0.2.0/25", "192.0.2.7/32")
	if diff := cmp.Diff("192.0.2.0/24\n2001:db8::/47\n", listText(t, Aggregate(in))); diff != "" {
		t.Errorf("aggregated (-want +got):\n%s", diff)
	}
	const sorted = "192.0.2.0/25\n192.0.2.7/32\n192.0.2.128/25\n2001:db8::/48\n2001:db8:1::/48\n"
	if diff := cmp.Diff(sorted, listText(t, SortBlocks(in))); diff != "" {
		t.Errorf("sorted (-want +got):\n%s", diff)
	}
	if in[0] != netip.MustParsePrefix("2001:db8:1::/48") {
		t.Error("the blocks handed over were moved")
	}
}

// Whatever the blocks are, aggregating keeps every address and adds none, and
// what is written is read back.
func TestAggregateKeepsAddressesAndListsReadBack(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		var in []netip.Prefix
		for range rapid.IntRange(0, 12).Draw(r, "n") {
			a := netip.AddrFrom4([4]byte{192, 0, 2, byte(rapid.IntRange(0, 255).Draw(r, "last"))})
			bits := rapid.IntRange(25, 32).Draw(r, "bits")
			if rapid.Bool().Draw(r, "six") {
				a = netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, 15: byte(rapid.IntRange(0, 255).Draw(r, "low"))})
				bits += 96
			}
			p, _ := a.Prefix(bits)
			in = append(in, p)
		}
		out := Aggregate(in)
		has := func(list []netip.Prefix, a netip.Addr) bool {
			for _, p := range list {
				if p.Contains(a) {
					return true
				}
			}
			return false
		}
		for i := range 256 {
			for _, a := range []netip.Addr{netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}),
				netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, 15: byte(i)})} {
				if has(in, a) != has(out, a) {
					r.Fatalf("%s: %v before, %v after: %v became %v", a, has(in, a), has(out, a), in, out)
				}
			}
		}
		if len(out) > len(SortBlocks(in)) {
			r.Fatalf("%d blocks became %d", len(in), len(out))
		}
		name := filepath.Join(dir, "list.txt")
		if err := os.WriteFile(name, []byte(listText(t, out)), 0o600); err != nil {
			r.Fatal(err)
		}
		back, err := ReadList(name)
		if err != nil {
			r.Fatal(err)
		}
		if listText(t, back) != listText(t, out) {
			r.Fatalf("wrote %v, read %v", out, back)
		}
	})
}
