package netprefix

import (
	"strings"
	"testing"
)

func TestForwardedElement(t *testing.T) {
	for _, tc := range []struct {
		name, in, want string // want empty: names no address
	}{
		{"token", `for=192.0.2.43`, "192.0.2.43"},
		{"quoted", `for="192.0.2.43:4711"`, "192.0.2.43"},
		{"IPv6", `For="[2001:db8:cafe::17]:4711";proto=http;by=203.0.113.43`, "2001:db8:cafe::17"},
		{"IPv6 without port", `for="[2001:db8::17]"`, "2001:db8::17"},
		{"name in any case", `fOr=198.51.100.17`, "198.51.100.17"},
		{"by and host are not for", `by=203.0.113.43;host="192.0.2.66";for=198.51.100.17`, "198.51.100.17"},
		{"obfuscated port", `for="192.0.2.43:_p8";proto=https`, "192.0.2.43"},
		{"obfuscated port on IPv6", `for="[2001:db8::17]:_p8"`, "2001:db8::17"},
		{"escaped quotes elsewhere", `host="a\"b\\";for=192.0.2.43`, "192.0.2.43"},
		{"escapes inside the address", `for="19\2.0.2.43"`, "192.0.2.43"},
		{"semicolon and equals in a string", `host="x;for=192.0.2.66";for=192.0.2.43`, "192.0.2.43"},
		{"empty parameters", `;;for=192.0.2.43;`, "192.0.2.43"},
		{"blanks around semicolons", `proto=http ; for=192.0.2.43`, "192.0.2.43"},
		{"host with a port, unquoted", `for=192.0.2.43;host=example.com:8080`, "192.0.2.43"},
		{"unquoted IPv6", `for=2001:db8::17;proto=http`, "2001:db8::17"},
		{"unquoted mapped IPv4", `for=::ffff:192.0.2.1`, "192.0.2.1"},
		{"unquoted port", `for=192.0.2.1:443`, "192.0.2.1"},

		{"unknown", `for=unknown`, ""},
		{"unknown with a port", `for="unknown:abc"`, ""},
		{"unknown with a port, unquoted", `for=unknown:abc`, ""},
		{"obfuscated", `for=_hidden`, ""},
		{"obfuscated with a port", `for="_SEVKISEK:_p8"`, ""},
		{"port with a sign", `for="192.0.2.1:+443"`, ""},
		{"empty port", `for="192.0.2.1:"`, ""},
		{"port out of range", `for="192.0.2.1:99999"`, ""},
		{"obfuscated port without a name", `for="192.0.2.1:_"`, ""},
		{"obfuscated port with other characters", `for="192.0.2.1:_p 8"`, ""},
		{"two for", `for=192.0.2.1;for=192.0.2.1`, ""},
		{"two for in other case", `for=192.0.2.1;FOR=192.0.2.2`, ""},
		{"no for", `proto=https;by=203.0.113.43`, ""},
		{"an address alone", `192.0.2.1`, ""},
		{"no value", `for=`, ""},
		{"empty string", `for=""`, ""},
		{"blank before equals", `for =192.0.2.1`, ""},
		{"blank behind equals", `for= 192.0.2.1`, ""},
		{"string not closed", `for="192.0.2.1`, ""},
		{"string ends in an escape", `for="192.0.2.1\`, ""},
		{"text behind a string", `for="192.0.2.1"x`, ""},
		{"control character in a string", "host=\"a\x01\";for=192.0.2.1", ""},
		{"a fault in another parameter", `for=192.0.2.1;proto`, ""},
		{"nothing", ``, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, ok := parseForwardedElement(tc.in)
			if tc.want == "" {
				if ok {
					t.Errorf("%s gave %s, want no address", tc.in, got)
				}
				return
			}
			if !ok || got != addr(tc.want) {
				t.Errorf("%s gave %s (%v), want %s", tc.in, got, ok, tc.want)
			}
		})
	}
}

func TestClientFromForwardedHeader(t *testing.T) {
	const two = `For="[2001:db8:cafe::17]:4711";proto=http;by=203.0.113.43, fOr=198.51.100.17 `
	for _, tc := range []struct {
		name  string
		hops  int
		lines []string
		want  string
	}{
		{"one hop", 1, []string{two}, "198.51.100.17"},
		{"two hops", 2, []string{two}, "2001:db8:cafe::17"},
		{"the same elements as X-Forwarded-For", 2, []string{"for=192.0.2.4, for=198.51.100.1, for=198.51.100.5"}, "198.51.100.1"},
		{"lines are joined", 2, []string{`for=203.0.113.9`, `for="198.51.100.5:80"`}, "203.0.113.9"},
		{"comma in a string", 1, []string{`for=192.0.2.66, for=203.0.113.9;host="a,b"`}, "203.0.113.9"},
		{"escaped quote and comma in a string", 1, []string{`for=192.0.2.66, for=203.0.113.9;host="a\",for=192.0.2.7\\"`}, "203.0.113.9"},
		{"unknown ends the walk", 2, []string{"for=192.0.2.66, for=unknown, for=198.51.100.5"}, "198.51.100.5"},
		{"hidden peer", 2, []string{"for=192.0.2.66, for=_x"}, "10.0.0.1"},
		{"element without for", 2, []string{"for=192.0.2.66, proto=https"}, "10.0.0.1"},
		{"line of separators", 1, []string{"for=192.0.2.66", ","}, "10.0.0.1"},
		{"X-Forwarded-For syntax", 1, []string{"203.0.113.9"}, "10.0.0.1"},

		// What the client wrote to the left must not swallow what the proxy appended.
		{"client opens a string", 1, []string{`for="192.0.2.66, for=203.0.113.9`}, "203.0.113.9"},
		{"client opens a string, proxy quotes", 1, []string{`for=192.0.2.66;x=", for="203.0.113.9:80"`}, "203.0.113.9"},
		{"client ends in an escape", 1, []string{`for=192.0.2.66;x="\, for="203.0.113.9:80"`}, "203.0.113.9"},
		{"client opens a string on its own line", 1, []string{`for="192.0.2.66`, `for=203.0.113.9`}, "203.0.113.9"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := mustResolver(t, ResolverConfig{Hops: tc.hops, Trusted: edge, Header: SourceForwarded})
			got, err := r.FromForwarded("10.0.0.1", "Forwarded", tc.lines)
			if err != nil {
				t.Fatal(err)
			}
			want := Client{addr(tc.want), SourceForwarded}
			if tc.want == "10.0.0.1" {
				want.Source = SourcePeer
			}
			if got != want {
				t.Errorf("client = %v, want %v", got, want)
			}
		})
	}
}

// Both headers go through one selection: the same chain gives the same client.
func TestBothHeadersChooseTheSameElement(t *testing.T) {
	chain := []string{"192.0.2.4", "203.0.113.9", "unknown", "198.51.100.1", "198.51.100.5"}
	for hops := range len(chain) + 2 {
		xff := mustResolver(t, ResolverConfig{Hops: hops, Trusted: edge})
		forwarded := mustResolver(t, ResolverConfig{Hops: hops, Trusted: edge, Header: SourceForwarded})
		a, errA := xff.FromForwarded("10.0.0.1", "x-forwarded-for", []string{strings.Join(chain, ", ")})
		b, errB := forwarded.FromForwarded("10.0.0.1", "forwarded", []string{"for=" + strings.Join(chain, ", for=")})
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if a.Addr != b.Addr {
			t.Errorf("hops %d: %v by X-Forwarded-For, %v by Forwarded", hops, a, b)
		}
	}
}
