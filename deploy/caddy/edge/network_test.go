package edge

import (
	"net/netip"
	"testing"
)

func TestNetwork(t *testing.T) {
	l := lengths{ipv4: 32, ipv6: 64}
	for address, want := range map[string]string{
		"203.0.113.7":               "::ffff:203.0.113.7",
		"::ffff:203.0.113.7":        "::ffff:203.0.113.7",
		"::ffff:cb00:7107":          "::ffff:203.0.113.7",
		"::ffff:203.0.113.7%eth0":   "::ffff:203.0.113.7",
		"64:ff9b::203.0.113.7":      "::ffff:203.0.113.7",
		"2001:db8:1:2:3:4:5:6":      "2001:db8:1:2::",
		"2001:DB8:1:2:ffff:ffff::1": "2001:db8:1:2::",
		"fe80::1%eth0":              "fe80::",
		"fe80::1%203.0.113.7":       "fe80::",
		"::1":                       "::",
		"2001:db8:1:3:3:4:5:6":      "2001:db8:1:3::",
		"64:ff9b:1:0:0:0:203.0.1.1": "64:ff9b:1::",
		"255.255.255.255":           "::ffff:255.255.255.255",
	} {
		got, ok := l.network(address)
		if addr := netip.AddrFrom16(got); !ok || addr != netip.MustParseAddr(want) {
			t.Errorf("%s is of %s, %t, want %s", address, addr, ok, want)
		}
	}
}

func TestNetworkOfOtherLengths(t *testing.T) {
	l := lengths{ipv4: 24, ipv6: 48}
	for address, want := range map[string]string{
		"203.0.113.7":          "::ffff:203.0.113.0",
		"64:ff9b::203.0.113.7": "::ffff:203.0.113.0",
		"2001:db8:1:2::3":      "2001:db8:1::",
	} {
		if got, ok := l.network(address); !ok || netip.AddrFrom16(got) != netip.MustParseAddr(want) {
			t.Errorf("%s is of %s, %t, want %s", address, netip.AddrFrom16(got), ok, want)
		}
	}
}

func TestWhatIsNoAddressSharesOneBucket(t *testing.T) {
	l := lengths{ipv4: 32, ipv6: 64}
	for _, address := range []string{"", "@", "unix", "203.0.113.7:80", "[::1]", "203.0.113.010", "203.0.113.7, 203.0.113.8", " 203.0.113.7", "::1%"} {
		if got, ok := l.network(address); ok || got != unknown {
			t.Errorf("%q is of %s, %t", address, netip.AddrFrom16(got), ok)
		}
	}
}

func FuzzNetwork(f *testing.F) {
	for _, s := range []string{"203.0.113.7", "::ffff:203.0.113.7", "2001:db8:1:2:3:4:5:6", "fe80::1%eth0", "64:ff9b::1.2.3.4", "@", ""} {
		f.Add(s, uint8(32), uint8(64))
	}
	f.Fuzz(func(t *testing.T, s string, v4, v6 uint8) {
		l := lengths{ipv4: 1 + int(v4)%32, ipv6: 1 + int(v6)%128}
		got, ok := l.network(s)
		a, err := netip.ParseAddr(s)
		if ok != (err == nil) || !ok && got != unknown {
			t.Fatalf("%q: %v, %t with the address %v", s, got, ok, err)
		}
		// Every spelling of an address is of one network.
		if ok {
			if same, _ := l.network(a.String()); same != got {
				t.Errorf("%q and %s are of two networks", s, a)
			}
		}
	})
}
