package netprefix

import (
	"net"
	"net/netip"
	"testing"

	"github.com/yl2chen/cidranger"
)

// The habits of cidranger that this package works around. When one of these fails after an
// update, the library has changed: look whether the work-around is still needed and right.
func TestCidrangerStillBehavesAsWorkedAround(t *testing.T) {
	insert := func(r cidranger.Ranger, p string, match int) {
		t.Helper()
		prefix := netip.MustParsePrefix(p)
		block := net.IPNet{IP: prefix.Addr().AsSlice(), Mask: net.CIDRMask(prefix.Bits(), prefix.Addr().BitLen())}
		if err := r.Insert(&entry{block, match}); err != nil {
			t.Fatalf("inserting %s: %v", p, err)
		}
	}
	found := func(r cidranger.Ranger, a string) []cidranger.RangerEntry {
		t.Helper()
		list, err := r.ContainingNetworks(addr(a).AsSlice())
		if err != nil {
			t.Fatal(err)
		}
		return list
	}

	r := cidranger.NewPCTrieRanger()
	insert(r, "::ffff:192.0.2.0/120", 1)
	if n := len(found(r, "192.0.2.1")) + len(found(r, "::ffff:192.0.2.1")); n != 0 {
		t.Errorf("a block of mapped addresses now matches %d times", n)
	}

	r = cidranger.NewPCTrieRanger()
	_, mapped, err := net.ParseCIDR("::ffff:0:0/96")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Insert(cidranger.NewBasicRangerEntry(*mapped)); err != nil {
		t.Fatal(err)
	}
	if len(found(r, "203.0.113.9")) == 0 {
		t.Error("::ffff:0:0/96 as net.ParseCIDR gives it is no longer all of IPv4")
	}

	r = cidranger.NewPCTrieRanger()
	insert(r, "192.0.2.0/24", 1)
	insert(r, "192.0.2.0/24", 2)
	if list := found(r, "192.0.2.1"); len(list) != 1 || list[0].(*entry).match != 2 {
		t.Errorf("of two equal blocks it no longer keeps the last alone: %v", list)
	}

	r = cidranger.NewPCTrieRanger()
	insert(r, "192.0.2.0/25", 1)
	insert(r, "192.0.2.128/25", 1)
	if list, err := r.CoveredNetworks(net.IPNet{IP: net.IP{192, 0, 2, 0}, Mask: net.CIDRMask(24, 32)}); err != nil || len(list) != 2 {
		t.Errorf("adjacent blocks are no longer apart: %v, %v", list, err)
	}

	insert(r, "192.0.0.0/16", 3)
	list := found(r, "192.0.2.1")
	if len(list) != 2 || list[0].(*entry).match != 3 || list[1].(*entry).match != 1 {
		t.Errorf("the longest match is no longer the last of the list: %v", list)
	}

	ip := addr("192.0.2.1").AsSlice()
	if n := testing.AllocsPerRun(100, func() { _, _ = r.ContainingNetworks(ip) }); n == 0 {
		t.Error("look-ups no longer allocate: the compiled index may be superfluous")
	}
}

// The same inputs through our table.
func TestTableIsFreeOfCidrangerTraps(t *testing.T) {
	t.Run("a block of mapped addresses is the IPv4 block", func(t *testing.T) {
		table := mustTable(t, TableConfig{Hosting: Blocks{CIDRs: []string{"::ffff:192.0.2.0/120"}}})
		for _, a := range []string{"192.0.2.1", "::ffff:192.0.2.1", "::ffff:c000:201"} {
			if class, _ := table.Classify(addr(a)); class != Hosting {
				t.Errorf("%s is %s, want hosting", a, class)
			}
		}
		if class, _ := table.Classify(addr("192.0.3.1")); class != None {
			t.Errorf("192.0.3.1 is %s, want none", class)
		}
	})
	t.Run("blocks around the mapped addresses are IPv6 only", func(t *testing.T) {
		table := mustTable(t, TableConfig{
			Hosting: Blocks{CIDRs: []string{"::fffe:0:0/96"}},
			Exempt:  Blocks{CIDRs: []string{"::/64"}},
		})
		for a, want := range map[string]Class{
			"::fffe:1:1": Hosting, "::1": Exempt, "::1:0:0:1": Exempt, "::1:0:0:0": Exempt,
			"0.0.0.1": None, "203.0.113.9": None, "::ffff:203.0.113.9": None, "0:0:0:1::": None,
		} {
			if class, _ := table.Classify(addr(a)); class != want {
				t.Errorf("%s is %s, want %s", a, class, want)
			}
		}
	})
	t.Run("equal blocks in two classes are a fault", func(t *testing.T) {
		_, err := NewTable(TableConfig{
			Hosting: Blocks{CIDRs: []string{"192.0.2.0/24"}},
			Exempt:  Blocks{CIDRs: []string{"::ffff:192.0.2.0/120"}},
		})
		if got := faultsOf(t, err); len(got) != 1 {
			t.Errorf("faults: %v", got)
		}
	})
	t.Run("adjacent blocks are one pool", func(t *testing.T) {
		table := mustTable(t, TableConfig{Unnamed: Blocks{CIDRs: []string{"192.0.2.0/25", "192.0.2.128/25"}}})
		_, low := table.Classify(addr("192.0.2.1"))
		_, high := table.Classify(addr("192.0.2.200"))
		if want := (Network{Pool, "192.0.2.0/24"}); low[1] != want || high[1] != want {
			t.Errorf("pools: %v and %v, want %v", low[1], high[1], want)
		}
	})
	t.Run("look-ups allocate the answer only", func(t *testing.T) {
		table := mustTable(t, TableConfig{})
		for _, a := range []string{"192.0.2.1", "2001:db8::1", "100.64.0.1"} {
			a := addr(a)
			if n := testing.AllocsPerRun(100, func() { table.index.lookup(a) }); n != 0 {
				t.Errorf("index.lookup(%s) allocates %v times", a, n)
			}
			if n := testing.AllocsPerRun(100, func() { table.Classify(a) }); n > 2 {
				t.Errorf("Classify(%s) allocates %v times, want at most 2", a, n)
			}
		}
	})
}
