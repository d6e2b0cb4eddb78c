package netprefix

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// edge is a usual front: proxies in private space and one public relay.
var edge = []string{"10.0.0.0/8", "198.51.100.0/24", "127.0.0.0/8", "::1", "2001:db8:f00::/48", "fe80::/10"}

func TestClientFromXForwardedFor(t *testing.T) {
	for _, tc := range []struct {
		name   string
		hops   int
		peer   string
		lines  []string
		want   string
		source string // empty: x-forwarded-for
	}{
		{"no hops read no header", 0, "203.0.113.9:50001", []string{"192.0.2.5"}, "203.0.113.9", "peer"},
		{"no hops and a trusted peer read no header", 0, "10.0.0.1", []string{"192.0.2.5"}, "10.0.0.1", "peer"},
		{"the proxy's entry, not the one the client wrote", 1, "10.0.0.1", []string{"192.0.2.69, 203.0.113.9"}, "203.0.113.9", ""},
		{"a proxy's own address in the client's part", 1, "10.0.0.1", []string{"192.0.2.66, 10.0.0.1, 203.0.113.9"}, "203.0.113.9", ""},
		{"an edge that overwrites", 1, "10.0.0.1", []string{"203.0.113.9"}, "203.0.113.9", ""},
		{"an untrusted peer names nobody", 1, "203.0.113.9", []string{"192.0.2.5"}, "203.0.113.9", "peer"},
		{"the claimed address being trusted is nothing", 1, "203.0.113.9", []string{"10.0.0.5"}, "203.0.113.9", "peer"},

		{"two hops: second from the right", 2, "10.0.0.1", []string{"192.0.2.4, 203.0.113.9, 198.51.100.5"}, "203.0.113.9", ""},
		{"two hops: a trusted address at the end of the walk", 2, "10.0.0.1", []string{"192.0.2.4, 198.51.100.1, 198.51.100.5"}, "198.51.100.1", ""},
		{"two hops: past the inner balancer", 2, "10.0.0.2", []string{"203.0.113.9, 10.0.0.1"}, "203.0.113.9", ""},
		{"three hops", 3, "10.0.0.1", []string{"203.0.113.9, 198.51.100.20, 198.51.100.40"}, "203.0.113.9", ""},
		{"one hop too few is a proxy", 1, "10.0.0.1", []string{"203.0.113.9, 198.51.100.20, 198.51.100.40"}, "198.51.100.40", ""},
		{"one hop too many stops at the untrusted client", 3, "10.0.0.1", []string{"192.0.2.66, 203.0.113.9, 198.51.100.40"}, "203.0.113.9", ""},
		{"the list ends before the hops do", 5, "10.0.0.1", []string{"10.0.0.3"}, "10.0.0.3", ""},
		{"no header at all is the peer", 1, "10.0.0.1", nil, "10.0.0.1", "peer"},

		{"all lines, in order", 1, "10.0.0.1", []string{"192.0.2.1, 192.0.2.2", "203.0.113.9"}, "203.0.113.9", ""},
		{"a walk across lines", 2, "10.0.0.1", []string{"192.0.2.1, 203.0.113.9", "10.0.0.3"}, "203.0.113.9", ""},
		{"a trailing comma adds no entry", 1, "10.0.0.1", []string{"192.0.2.1, 203.0.113.9,"}, "203.0.113.9", ""},
		{"an empty line adds no entry", 1, "10.0.0.1", []string{"203.0.113.9", "", " \t "}, "203.0.113.9", ""},
		{"empty elements add no entry", 2, "10.0.0.1", []string{"203.0.113.9,, ,10.0.0.3"}, "203.0.113.9", ""},
		{"a line of separators is unusable", 1, "10.0.0.1", []string{"192.0.2.1", ","}, "10.0.0.1", "peer"},
		{"a line of separators and blanks is unusable", 1, "10.0.0.1", []string{"192.0.2.1", " , ,"}, "10.0.0.1", "peer"},

		{"port", 1, "10.0.0.1:4711", []string{"203.0.113.9:38792"}, "203.0.113.9", ""},
		{"brackets", 1, "10.0.0.1", []string{"[2001:db8:1:2::9]"}, "2001:db8:1:2::9", ""},
		{"brackets and port", 1, "10.0.0.1", []string{"[2001:db8:1:2::9]:38792"}, "2001:db8:1:2::9", ""},
		{"long spelling", 1, "10.0.0.1", []string{"2001:0DB8:0:0:0:0:0:1"}, "2001:db8::1", ""},
		{"blanks", 1, "10.0.0.1", []string{" \t203.0.113.9 \t"}, "203.0.113.9", ""},
		{"zone with blanks and parentheses to the left", 1, "10.0.0.1", []string{"fe80::1%vEthernet (Adapter 1), 203.0.113.9"}, "203.0.113.9", ""},
		{"zone is dropped", 1, "10.0.0.1", []string{"fe80::1%x"}, "fe80::1", ""},
		{"zone with odd text is dropped", 1, "10.0.0.1", []string{"fe80::1%vEthernet (Adapter: 1)"}, "fe80::1", ""},
		{"zone in brackets is dropped", 1, "10.0.0.1", []string{"[fe80::1%eth0]:80"}, "fe80::1", ""},
		{"peer with a zone is trusted", 1, "[fe80::1%eth0]:4711", []string{"203.0.113.9"}, "203.0.113.9", ""},
		{"IPv6 proxy", 1, "[2001:db8:f00::2]:4711", []string{"203.0.113.9"}, "203.0.113.9", ""},
		{"IPv6 loopback", 1, "[::1]:5000", []string{"203.0.113.9"}, "203.0.113.9", ""},
		{"IPv4-mapped peer is trusted", 1, "[::ffff:198.51.100.7]:80", []string{"203.0.113.9"}, "203.0.113.9", ""},
		{"IPv4-mapped", 1, "10.0.0.1", []string{"::ffff:192.0.2.1"}, "192.0.2.1", ""},
		{"IPv4-mapped in hexadecimal", 1, "10.0.0.1", []string{"::ffff:c000:201"}, "192.0.2.1", ""},
		{"IPv4-mapped in full", 1, "10.0.0.1", []string{"0:0:0:0:0:FFFF:C000:0201"}, "192.0.2.1", ""},
		{"IPv6 that ends in a dotted quad is IPv6", 1, "10.0.0.1", []string{"2001:db8:1:2::192.0.2.1"}, "2001:db8:1:2::c000:201", ""},
		{"an IPv4-mapped proxy in the list is trusted", 2, "10.0.0.1", []string{"203.0.113.9, ::ffff:10.0.0.3"}, "203.0.113.9", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := mustResolver(t, ResolverConfig{Hops: tc.hops, Trusted: edge})
			got, err := r.FromForwarded(tc.peer, "X-Forwarded-For", tc.lines)
			if err != nil {
				t.Fatal(err)
			}
			want := Client{addr(tc.want), tc.source}
			if want.Source == "" {
				want.Source = SourceXForwardedFor
			}
			if got != want {
				t.Errorf("client = %v, want %v", got, want)
			}
		})
	}
}

// What is no address ends the walk at the proxy that reported it, wherever it stands.
func TestUnusableElementsEndTheWalk(t *testing.T) {
	for _, element := range []string{
		"1238909", "3221225985", "0xc0000201", "192.0.2.010", "0300.0.2.1", "192.0.2", "192.0.2.1.1", "192.0.2.256",
		"unknown", "_hidden", "localhost", "unix:", "-", "null", `"192.0.2.1"`,
		"192.0.2.1:", "192.0.2.1:+443", "192.0.2.1:99999", "192.0.2.1:080808", "192.0.2.1:_p8", "192.0.2.1:8 0",
		"[192.0.2.1]", "[2001:db8::1", "2001:db8::1]", "[2001:db8::1]x", "[2001:db8::1]:", "[]", "2001:db8:1",
		"192.0.2.1%eth0", "fe80::1%", "2001", ":80", "192.0.2.1\u00a0", "192.0.2.1\x00", "for=192.0.2.1",
	} {
		t.Run(element, func(t *testing.T) {
			r := mustResolver(t, ResolverConfig{Hops: 2, Trusted: edge})
			got, err := r.FromForwarded("10.0.0.1", "x-forwarded-for", []string{"192.0.2.66, " + element})
			if err != nil {
				t.Fatal(err)
			}
			if want := (Client{addr("10.0.0.1"), SourcePeer}); got != want {
				t.Errorf("reported by the peer: client = %v, want %v", got, want)
			}
			got, err = r.FromForwarded("10.0.0.1", "x-forwarded-for", []string{"192.0.2.66, " + element + ", 10.0.0.3"})
			if err != nil {
				t.Fatal(err)
			}
			if want := (Client{addr("10.0.0.3"), SourceXForwardedFor}); got != want {
				t.Errorf("reported by the inner proxy: client = %v, want %v", got, want)
			}
			if _, err := r.FromIP(element); err == nil {
				t.Error("FromIP took it for an address")
			}
		})
	}
}

func TestOnlyTheConfiguredHeaderIsRead(t *testing.T) {
	xff := mustResolver(t, ResolverConfig{Hops: 1, Trusted: edge})
	forwarded := mustResolver(t, ResolverConfig{Hops: 1, Trusted: edge, Header: "Forwarded"})
	peer := Client{addr("10.0.0.1"), SourcePeer}
	if got, err := xff.FromForwarded("10.0.0.1", SourceForwarded, []string{"for=192.0.2.66"}); err != nil || got != peer {
		t.Errorf("Forwarded where X-Forwarded-For is configured: %v, %v", got, err)
	}
	if got, err := forwarded.FromForwarded("10.0.0.1", SourceXForwardedFor, []string{"192.0.2.66"}); err != nil || got != peer {
		t.Errorf("X-Forwarded-For where Forwarded is configured: %v, %v", got, err)
	}
	for _, header := range []string{"x-real-ip", "X_Forwarded_For", "X.Forwarded.For", ""} {
		if got, err := xff.FromForwarded("10.0.0.1", header, []string{"192.0.2.66"}); err == nil {
			t.Errorf("header %q gave %v, want an error", header, got)
		}
	}
}

func TestPeerThatIsNoAddress(t *testing.T) {
	for _, hops := range []int{0, 1} {
		r := mustResolver(t, ResolverConfig{Hops: hops, Trusted: edge})
		for _, peer := range []string{"", "@", "localhost:80", "192.0.2.1:x"} {
			if got, err := r.FromForwarded(peer, "x-forwarded-for", []string{"192.0.2.1"}); err == nil {
				t.Errorf("hops %d, peer %q: client = %v, want an error", hops, peer, got)
			}
		}
	}
}

func TestClientFromIP(t *testing.T) {
	r := mustResolver(t, ResolverConfig{})
	for in, want := range map[string]string{
		"203.0.113.9":        "203.0.113.9",
		"203.0.113.9:50001":  "203.0.113.9",
		"[2001:db8::1%e]:80": "2001:db8::1",
		"::ffff:c000:201":    "192.0.2.1",
	} {
		got, err := r.FromIP(in)
		if err != nil {
			t.Errorf("FromIP(%q): %v", in, err)
			continue
		}
		if want := (Client{addr(want), SourceIP}); got != want {
			t.Errorf("FromIP(%q) = %v, want %v", in, got, want)
		}
	}
}

// Behind one proxy each client has its own address, whatever the others write to their left.
func TestClientsBehindOneProxyAreApart(t *testing.T) {
	r := mustResolver(t, ResolverConfig{Hops: 1, Trusted: []string{"127.0.0.1"}})
	seen := map[Client]bool{}
	for _, line := range []string{"203.0.113.9", "203.0.113.9, 203.0.113.10", "192.0.2.1, 203.0.113.11", "203.0.113.12"} {
		c, err := r.FromForwarded("127.0.0.1:5", "x-forwarded-for", []string{line})
		if err != nil {
			t.Fatal(err)
		}
		seen[c] = true
	}
	if len(seen) != 4 {
		t.Errorf("four clients gave %d addresses: %v", len(seen), seen)
	}
}

func TestHeaderIsBounded(t *testing.T) {
	r := mustResolver(t, ResolverConfig{Hops: 2, Trusted: edge})
	peer := Client{addr("10.0.0.1"), SourcePeer}
	inner := Client{addr("10.0.0.3"), SourceXForwardedFor}
	client := Client{addr("203.0.113.9"), SourceXForwardedFor}
	manyEmpty := strings.Repeat(",", maxHeaderElements)
	blank := strings.Repeat(" ", maxHeaderBytes)
	for _, tc := range []struct {
		name  string
		lines []string
		want  Client
	}{
		{"a long prefix that is never reached", []string{strings.Repeat("192.0.2.1, ", 100_000) + "203.0.113.9, 10.0.0.3"}, client},
		{"more empty elements than are looked at", []string{"203.0.113.9, 10.0.0.3" + manyEmpty}, peer},
		{"as many empty elements as are looked at", []string{"203.0.113.9, 10.0.0.3" + manyEmpty[:maxHeaderElements-2]}, client},
		{"empty lines count", append([]string{"203.0.113.9"}, make([]string, maxHeaderElements)...), peer},
		{"an element beyond the bytes", []string{"203.0.113.9," + blank[:maxHeaderBytes-12] + ",10.0.0.3"}, inner},
		{"an element cut by the bound is not an element", []string{"1203.0.113.9," + blank[:maxHeaderBytes-21] + ",10.0.0.3"}, inner},
		{"a line beyond the bytes", []string{"203.0.113.9", blank}, peer},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := r.FromForwarded("10.0.0.1", "x-forwarded-for", tc.lines)
			if err != nil {
				t.Fatal(err)
			}
			if got != tc.want {
				t.Errorf("client = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestNAT64(t *testing.T) {
	// The table of RFC 6052, 2.4, all for 192.0.2.33.
	r := mustResolver(t, ResolverConfig{Hops: 1, Trusted: []string{"198.51.100.0/24"}, NAT64: []string{
		"2001:db8::/32", "2001:db8:100::/40", "2001:db8:122::/48", "2001:db8:122:300::/56", "2001:db8:122:344::/64",
		"2001:db8:122:344::/96", "64:ff9b::/96"}})
	for in, want := range map[string]string{
		"2001:db8:c000:221::":          "192.0.2.33",
		"2001:db8:1c0:2:21::":          "192.0.2.33",
		"2001:db8:122:c000:2:2100::":   "192.0.2.33",
		"2001:db8:122:3c0:0:221::":     "192.0.2.33",
		"2001:db8:122:344:c0:2:2100::": "192.0.2.33",
		"2001:db8:122:344::192.0.2.33": "192.0.2.33",
		"64:ff9b::192.0.2.33":          "192.0.2.33",
		"64:ff9b::c000:201":            "192.0.2.1",
		"64:ff9b::cb00:7109%eth0":      "203.0.113.9",
		"64:ff9b:1::c000:201":          "64:ff9b:1::c000:201",
		"2001:db9::1":                  "2001:db9::1",
		// What follows the embedded address does not make another client.
		"2001:db8:c000:221::77": "192.0.2.33",
		// A reserved octet that is not zero is no translated address.
		"2001:db8:c000:221:100::": "2001:db8:c000:221:100::",
	} {
		got, err := r.FromIP(in)
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if got.Addr != addr(want) {
			t.Errorf("%s is %s, want %s", in, got.Addr, want)
		}
	}
	got, err := r.FromForwarded("[64:ff9b::198.51.100.1]:443", "x-forwarded-for", []string{"64:ff9b::203.0.113.9"})
	if want := (Client{addr("203.0.113.9"), SourceXForwardedFor}); err != nil || got != want {
		t.Errorf("translated proxy and client: %v, %v; want %v", got, err, want)
	}
	if !r.Trusted(addr("64:ff9b::198.51.100.1")) {
		t.Error("a translated proxy is not trusted")
	}
	plain := mustResolver(t, ResolverConfig{})
	if got, _ := plain.FromIP("64:ff9b::c000:201"); got.Addr != addr("64:ff9b::c000:201") {
		t.Errorf("translated without a configured prefix: %v", got)
	}
}

func TestTrustedBlocksOfMappedAddresses(t *testing.T) {
	r := mustResolver(t, ResolverConfig{Hops: 1, Trusted: []string{"::ffff:192.0.2.0/120"}})
	for _, a := range []string{"192.0.2.1", "::ffff:192.0.2.1"} {
		if !r.Trusted(addr(a)) {
			t.Errorf("%s is not trusted", a)
		}
	}
	if r.Trusted(addr("192.0.3.1")) {
		t.Error("192.0.3.1 is trusted")
	}
}

func TestResolverFaults(t *testing.T) {
	const (
		hops    = "client_address.hops: "
		trusted = "client_address.trusted_proxies"
	)
	for _, tc := range []struct {
		name   string
		config ResolverConfig
		want   []string // each is the start of a fault
	}{
		{"nothing to fault", ResolverConfig{Hops: 16, Trusted: []string{"10.0.0.0/8", "10.0.0.0/8", "192.0.2.1"}, Header: "FORWARDED"}, nil},
		{"hops without proxies", ResolverConfig{Hops: 1}, []string{hops + "1 needs client_address.trusted_proxies"}},
		{"negative hops", ResolverConfig{Hops: -1}, []string{hops + "-1 is out of range"}},
		{"many hops", ResolverConfig{Hops: 17, Trusted: edge}, []string{hops + "17 is out of range"}},
		{"another header", ResolverConfig{Header: "x-real-ip"}, []string{`client_address.header: "x-real-ip" is not supported`}},
		{"blocks that mean nothing", ResolverConfig{Hops: 1, Trusted: []string{"10/8", "10.0.0.5/8", "", "10.0.0.0/33", "192.0.2.010"}}, []string{
			trusted + `[0]: "10/8" is no address block`, trusted + `[1]: "10.0.0.5/8" has host bits set: write 10.0.0.0/8`,
			trusted + `[2]: blank entry`, trusted + `[3]: "10.0.0.0/33" is no address block`, trusted + `[4]: "192.0.2.010" is no address block`}},
		{"blank and everything", ResolverConfig{Hops: 1, Trusted: []string{"  ", "0.0.0.0/0", "::/0"}}, []string{
			trusted + `[0]: blank entry`, trusted + `[1]: "0.0.0.0/0" trusts every IPv4 address`, trusted + `[2]: "::/0" trusts every IPv6 address`}},
		{"all of IPv4 as mapped addresses", ResolverConfig{Trusted: []string{"::ffff:0:0/96"}}, []string{trusted + `[0]: "::ffff:0:0/96" trusts every IPv4`}},
		{"all of IPv4 in two halves", ResolverConfig{Hops: 1, Trusted: []string{"128.0.0.0/1", "10.0.0.0/8", "0.0.0.0/1"}}, []string{
			trusted + ": the blocks together cover every IPv4 address"}},
		{"all of IPv4 in many blocks", ResolverConfig{Hops: 1, Trusted: allBut("0.0.0.0", 32, "0.0.0.0")}, []string{
			trusted + ": the blocks together cover every IPv4 address"}},
		{"all of IPv4 but one address", ResolverConfig{Hops: 1, Trusted: allBut("0.0.0.0", 32)}, nil},
		{"all of IPv6 in two halves", ResolverConfig{Hops: 1, Trusted: []string{"8000::/1", "::/1"}}, []string{
			trusted + ": the blocks together cover every IPv6 address"}},
		{"NAT64 prefixes", ResolverConfig{NAT64: []string{"64:ff9b::/97", "10.0.0.0/8", "x", "2001:db8:0:0:100::/96", "64:ff9b::"}}, []string{
			`client_address.nat64[0]: "64:ff9b::/97" has length 97`, `client_address.nat64[1]: "10.0.0.0/8" is IPv4`,
			`client_address.nat64[2]: "x" is no address block`, `client_address.nat64[3]: "2001:db8:0:0:100::/96": bits 64 to 71`,
			`client_address.nat64[4]: "64:ff9b::" has length 128`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := NewResolver(tc.config)
			got := faultsOf(t, err)
			if len(got) != len(tc.want) {
				t.Fatalf("faults:\n%s\nwant %d", strings.Join(got, "\n"), len(tc.want))
			}
			for i, want := range tc.want {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("fault %d:\n got %s\nwant %s...", i, got[i], want)
				}
			}
		})
	}
}

// allBut gives blocks for every IPv4 address but the given one, and the extra blocks.
func allBut(missing string, bits int, extra ...string) []string {
	hole := addr(missing).As4()
	list := extra
	for b := bits; b > 0; b-- {
		// The other half of the block of b-1 bits around the hole.
		other := hole
		other[(b-1)/8] ^= 1 << (7 - (b-1)%8)
		p, _ := netip.AddrFrom4(other).Prefix(b)
		list = append(list, p.String())
	}
	return list
}

func TestResolverTellsItsConfiguration(t *testing.T) {
	r := mustResolver(t, ResolverConfig{Hops: 2, Trusted: edge, Header: "Forwarded"})
	if diff := cmp.Diff([]any{2, "forwarded"}, []any{r.Hops(), r.Header()}); diff != "" {
		t.Error(diff)
	}
	if r := mustResolver(t, ResolverConfig{}); r.Header() != SourceXForwardedFor {
		t.Errorf("header by default = %q", r.Header())
	}
}
