package netprefix

import (
	"fmt"
	"net/netip"
	"strings"
)

// The values of [Client.Source]: what the address was read from.
const (
	SourceIP            = "ip"              // given by the caller
	SourcePeer          = "peer"            // the TCP peer
	SourceXForwardedFor = "x-forwarded-for" // the header of that name
	SourceForwarded     = "forwarded"       // the header of RFC 7239
)

// MaxHops is the largest number of proxies a walk can pass.
const MaxHops = 16

// Client is where an attempt comes from.
type Client struct {
	Addr   netip.Addr // one spelling per client: no zone, never IPv4-mapped, NAT64 translated
	Source string     // one of the Source constants
}

// ResolverConfig describes the proxies in front of the service. The zero value reads no header.
type ResolverConfig struct {
	Hops    int      // proxies between client and service, 0..[MaxHops]; 0: the peer is the client
	Trusted []string // blocks or addresses of these proxies; required when Hops > 0
	Header  string   // x-forwarded-for (also when empty) or forwarded, in any case
	NAT64   []string // prefixes of RFC 6052, such as 64:ff9b::/96
}

// Resolver finds client addresses. It is immutable and safe for concurrent use.
type Resolver struct {
	hops    int
	header  string
	trusted spans
	nat64   nat64
}

// NewResolver checks the configuration. The error is [Errors] and names every fault, by the keys
// below client_address: hops out of range, hops without trusted proxies, blocks that cannot be
// read, another header, and trusted blocks that together cover all of IPv4 or all of IPv6 (then
// each client would be trusted to name its own address).
func NewResolver(c ResolverConfig) (*Resolver, error) {
	var faults collector
	r := &Resolver{hops: c.Hops, header: strings.ToLower(c.Header)}
	if c.Hops < 0 || c.Hops > MaxHops {
		faults.addf("client_address.hops", "%d is out of range: want 0 to %d", c.Hops, MaxHops)
	}
	if c.Hops > 0 && len(c.Trusted) == 0 {
		faults.addf("client_address.hops", "%d needs client_address.trusted_proxies: without them anybody could name any address", c.Hops)
	}
	if r.header == "" {
		r.header = SourceXForwardedFor
	}
	if !knownHeader(r.header) {
		faults.addf("client_address.header", "%q is not supported: want %s or %s", clip(c.Header), SourceXForwardedFor, SourceForwarded)
	}
	r.trusted = trustedSpans(c.Trusted, &faults)
	r.nat64 = newNAT64(c.NAT64, &faults)
	if err := faults.err(); err != nil {
		return nil, err
	}
	return r, nil
}

// trustedSpans reads the blocks of the trusted proxies.
func trustedSpans(list []string, faults *collector) spans {
	const path = "client_address.trusted_proxies"
	var blocks []netip.Prefix
	for i, s := range list {
		p, err := ParsePrefix(s)
		switch {
		case err != nil:
			faults.addf(indexed(path, i), "%v", err)
		case p.Bits() == 0:
			faults.addf(indexed(path, i), "%q trusts every %s address: any client could then name its own address", clip(s), family(p.Addr()))
		default:
			blocks = append(blocks, p)
		}
	}
	merged := mergeBlocks(blocks)
	for _, s := range merged {
		// A single /0 was named above; here it is the union of many.
		if s.everything() {
			faults.addf(path, "the blocks together cover every %s address: any client could then name its own address", family(s.first))
		}
	}
	return merged
}

// FromIP reads an address that the caller determined. A port, brackets, a zone and blanks around
// it are understood and dropped.
func (r *Resolver) FromIP(ip string) (Client, error) {
	addr, ok := r.address(ip)
	if !ok {
		return Client{}, fmt.Errorf("%q is no IP address", clip(ip))
	}
	return Client{Addr: addr, Source: SourceIP}, nil
}

// FromForwarded finds the client behind proxies. peer is the address of the TCP connection, with
// or without its port; header says which header the lines are of, lines are its lines in the
// order received.
//
// From the peer it steps to the left, from element to element, as long as the address it stands
// on is a trusted proxy, at most as many steps as there are hops. It stays where it is when the
// list ends, and at an element that is no address: then the client is the proxy that reported the
// element. So an unreadable header shares the bucket of its proxy, and never opens a fresh one.
//
// Lines of the header that is not configured are not read. The error says that peer is no
// address, or that header is neither of the two.
func (r *Resolver) FromForwarded(peer, header string, lines []string) (Client, error) {
	addr, ok := r.address(peer)
	if !ok {
		return Client{}, fmt.Errorf("peer %q is no IP address", clip(peer))
	}
	client := Client{Addr: addr, Source: SourcePeer}
	if r.hops == 0 {
		return client, nil
	}
	if header = strings.ToLower(header); !knownHeader(header) {
		return Client{}, fmt.Errorf("header %q is not supported: want %s or %s", clip(header), SourceXForwardedFor, SourceForwarded)
	}
	if header != r.header {
		return client, nil
	}
	parse := r.address
	if header == SourceForwarded {
		parse = func(s string) (netip.Addr, bool) {
			a, ok := parseForwardedElement(s)
			return r.nat64.translate(a), ok
		}
	}
	return r.walk(client, newElements(lines, header == SourceForwarded), parse), nil
}

// walk is the one place where an element is chosen, for both headers.
func (r *Resolver) walk(at Client, list *elements, parse func(string) (netip.Addr, bool)) Client {
	for range r.hops {
		if !r.trusted.contains(at.Addr) {
			break
		}
		element, ok := list.next()
		if !ok {
			break
		}
		addr, ok := parse(element)
		if !ok {
			break
		}
		at = Client{Addr: addr, Source: r.header}
	}
	return at
}

// address reads an address as written outside of Forwarded.
func (r *Resolver) address(s string) (netip.Addr, bool) {
	addr, ok := parseNode(s, plainPort)
	if !ok {
		return netip.Addr{}, false
	}
	return r.nat64.translate(addr), true
}

// Hops is the configured number of proxies.
func (r *Resolver) Hops() int { return r.hops }

// Header is the one header that is read, in lower case; it is read only when Hops is not 0.
func (r *Resolver) Header() string { return r.header }

// Trusted reports whether an address belongs to a trusted proxy, in whatever form it is given.
func (r *Resolver) Trusted(a netip.Addr) bool {
	return r.trusted.contains(r.nat64.translate(canonical(a)))
}

func knownHeader(name string) bool {
	return name == SourceXForwardedFor || name == SourceForwarded
}

// canonical is the one form in which addresses are compared and looked up.
func canonical(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// family names an address's family in messages.
func family(a netip.Addr) string {
	if a.Is4() {
		return "IPv4"
	}
	return "IPv6"
}

// indexed is the path of one element of a list in the configuration.
func indexed(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }
