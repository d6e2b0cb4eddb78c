package policy

import (
	"net/netip"
	"testing"

	"pgregory.net/rapid"
)

func TestNameBelowTheCoarsestNetwork(t *testing.T) {
	for _, c := range [][3]string{
		{"203.0.113.0/24", "203.0.113.0/24", ""},
		{"203.0.113.0/24", "203.0.113.9/32", ":9"},
		{"203.0.113.0/24", "203.0.113.0/32", ":0"},
		{"203.0.112.0/23", "203.0.113.9/32", ":113.9"},
		{"10.0.0.0/8", "10.1.0.0/16", ":1/16"},
		{"2001:db8:1::/48", "2001:db8:1:2::/64", ":2/64"},
		{"2001:db8:1::/48", "2001:db8:1::/64", ":0/64"},
		{"2001:db8:1::/48", "2001:db8:1:2ff::/56", ":2ff/56"},
		{"2001:db8:10::/44", "2001:db8:12::/64", ":12:0/64"},
		{"2001:db8:10::/44", "2001:db8:10:12::/64", ":10:12/64"},
		{"carrier-a", "100.64.0.7/32", ":100.64.0.7/32"},
		{"100.64.0.0/10", "100.64.0.7/32", ":64.0.7"},
		{"198.51.100.0/24", "198.51.101.9/32", ":198.51.101.9/32"},
		{"2001:db8:1::/48", "2001:db8:2:3::/64", ":2001:db8:2:3::/64"},
	} {
		if got := below(c[0], c[1]); got != c[2] {
			t.Errorf("%s below %s is %q, want %q", c[1], c[0], got, c[2])
		}
	}
}

// Two networks below one have one name only if they are one, also where a pool
// that has the name of its first block goes on behind it.
func TestNamesBelowOneNetworkDiffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		addr, most := netip.AddrFrom4([4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "v4"))), 32
		if rapid.Bool().Draw(t, "family") {
			six := [16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "v6"))
			six[0] |= 0x20 // IPv4 written as IPv6 is never a network: addresses are unmapped first
			addr, most = netip.AddrFrom16(six), 128
		}
		outer, _ := addr.Prefix(rapid.IntRange(1, most-1).Draw(t, "bits"))
		draw := func(name string) netip.Prefix {
			b := outer.Addr().AsSlice()
			// Few values, so that they are equal now and then.
			for i, r := range rapid.SliceOfN(rapid.SampledFrom([]byte{0, 0, 1, 2, 16}), len(b), len(b)).Draw(t, name) {
				b[i] ^= r
			}
			a, _ := netip.AddrFromSlice(b)
			p, _ := a.Prefix(rapid.IntRange(outer.Bits(), most).Draw(t, name+" bits"))
			return p
		}
		one, other := draw("one"), draw("other")
		a, b := below(outer.String(), one.String()), below(outer.String(), other.String())
		if (a == b) != (one == other) {
			t.Fatalf("in %s: %s is %q, %s is %q", outer, one, a, other, b)
		}
	})
}
