package netprefix

import (
	"net/netip"
	"regexp"
	"strings"
	"testing"
)

// addressLike finds everything in a header that could be an address.
var addressLike = regexp.MustCompile(`[0-9A-Fa-f:.]+`)

// written reports whether an address stands somewhere in the text, by other means than the parser
// under test.
func written(text string, a netip.Addr) bool {
	text = strings.ReplaceAll(text, `\`, "") // escapes inside quoted strings
	for _, s := range addressLike.FindAllString(text, -1) {
		if b, err := netip.ParseAddr(s); err == nil && b.Unmap() == a {
			return true
		}
		if b, err := netip.ParseAddrPort(s); err == nil && b.Addr().Unmap() == a {
			return true
		}
		// An obfuscated port leaves its colon behind.
		if b, err := netip.ParseAddr(strings.TrimSuffix(s, ":")); err == nil && b.Unmap() == a {
			return true
		}
	}
	return false
}

// FuzzFromForwarded: no input panics, and the client is the peer or an address that stands in the
// header; never one put together from pieces.
func FuzzFromForwarded(f *testing.F) {
	for _, s := range []string{
		"", ",", "192.0.2.1, 203.0.113.9", "203.0.113.9:38792\n10.0.0.3", "[2001:db8::9]:80, ::ffff:10.0.0.2", "fe80::1%a b, unknown",
		`for=192.0.2.43`, `For="[2001:db8:cafe::17]:4711";proto=http;by=203.0.113.43, fOr=198.51.100.17`, `for="192.0.2.1:_p8"`,
		`for="a\"b, for=10.0.0.1`, `for=2001:db8::17`, "for=_hidden, for=unknown;;", `for="19\2.0.2.1";host="x,y"`,
	} {
		f.Add("10.0.0.1:4711", s, uint8(3))
	}
	f.Add("[::1]:5", "10.0.0.2", uint8(16))
	f.Add("fe80::1%eth0", "10.0.0.2", uint8(1))
	f.Fuzz(func(t *testing.T, peer, header string, hops uint8) {
		lines := strings.Split(header, "\n")
		for _, name := range []string{SourceXForwardedFor, SourceForwarded} {
			c := ResolverConfig{Hops: int(hops % (MaxHops + 1)), Trusted: edge, Header: name}
			r, err := NewResolver(c)
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.FromForwarded(peer, name, lines)
			if err != nil {
				continue
			}
			if !got.Addr.IsValid() || got.Addr.Is4In6() || got.Addr.Zone() != "" {
				t.Fatalf("%s: client %v is not canonical", name, got)
			}
			switch got.Source {
			case SourcePeer:
				if own, err := r.FromIP(peer); err != nil || own.Addr != got.Addr {
					t.Fatalf("%s: client %v is not the peer %v", name, got, own)
				}
			case name:
				if !written(header, got.Addr) {
					t.Fatalf("%s: client %v does not stand in %q", name, got, header)
				}
			default:
				t.Fatalf("source %q", got.Source)
			}
			if r.Hops() == 0 && got.Source != SourcePeer {
				t.Fatalf("a header was read without hops: %v", got)
			}
			again, err := r.FromForwarded(peer, name, lines)
			if err != nil || again != got {
				t.Fatalf("%s: %v, then %v (%v)", name, got, again, err)
			}
		}
	})
}

// FuzzParsePrefix: what is taken is a block in the one form that the table works with, and its
// text is taken again.
func FuzzParsePrefix(f *testing.F) {
	for _, s := range []string{"", " ", "10.0.0.0/8", "10/8", "10.0.0.5/8", "10.0.0.0/33", "::/0", "::ffff:192.0.2.0/120", "::ffff:0:0/96",
		"::fffe:0:0/95", "192.0.2.1", "::1", "fe80::1%eth0", "fe80::%x/64", "192.0.2.010", "10.0.0.0/08", "2001:db8::/+32", "::ffff:1.2.3.4"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePrefix(s)
		if err != nil {
			if len(err.Error()) > 600 {
				t.Fatalf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		if !p.IsValid() || p != p.Masked() || p.Addr().Zone() != "" || (p.Addr().Is4In6() && p.Bits() >= mappedBits) {
			t.Fatalf("%q is %v, not in canonical form", s, p)
		}
		if again, err := ParsePrefix(p.String()); err != nil || again != p {
			t.Fatalf("%q is %v, which reads as %v, %v", s, p, again, err)
		}
		if last := lastAddr(p); !p.Contains(p.Addr()) || (!p.Contains(last) && !last.Is4In6()) || p.Contains(last.Next()) {
			t.Fatalf("%v ends at %v", p, last)
		}
	})
}

// FuzzListFile: every block is in canonical form, every line gives at most one block or fault, and
// lines come in order.
func FuzzListFile(f *testing.F) {
	for _, s := range []string{"", "\ufeff", "10.0.0.0/8\n", "\ufeff10.0.0.0/8 # x\r\n#\r\n\r\n2001:db8::/32", "10/8\n10.0.0.5/8\n", "\x00", "a#b\n#\n 192.0.2.1\t"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		last := 0
		step := func(line int) {
			if line <= last || line > strings.Count(s, "\n")+1 {
				t.Fatalf("line %d after line %d of %q", line, last, s)
			}
			last = line
		}
		err := parseList(strings.NewReader(s),
			func(line int, p netip.Prefix) {
				step(line)
				if !p.IsValid() || p != p.Masked() {
					t.Fatalf("line %d: %v is not in canonical form", line, p)
				}
			},
			func(line int, msg string) {
				step(line)
				if msg == "" {
					t.Fatalf("line %d: a fault without words", line)
				}
			})
		if err != nil {
			t.Fatalf("a short list as a whole: %v", err)
		}
	})
}
