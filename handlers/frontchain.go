package handlers

import (
	"net/http"
	"net/netip"
	"strings"

	"loginguard/guard"
)

// forwarded is the material from which the guard derives a client's address.
func (f *Front) forwarded(r *http.Request) *guard.Forwarded {
	header := "x-forwarded-for"
	if clients := f.server.rules(r.Context()).Clients; clients != nil {
		header = clients.Header()
	}
	return &guard.Forwarded{Peer: r.RemoteAddr, Header: header, Lines: r.Header.Values(header)}
}

// chain is the way of a request as far as it can be believed.
type chain struct {
	addrs   []netip.Addr // from the client to the peer; empty if the peer has no address
	trusted bool         // the peer is a trusted proxy
	header  string       // the one header that is read, in lower case
}

// chainOf walks from the peer to the client, by the rules of the guard: it
// asks the resolver about ever more of the list, until it finds the client.
func (f *Front) chainOf(r *http.Request) chain {
	clients := f.server.rules(r.Context()).Clients
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || clients == nil {
		return chain{}
	}
	way := chain{header: clients.Header(), trusted: clients.Hops() > 0 && clients.Trusted(peer.Addr())}
	lines := r.Header.Values(way.header)
	first, err := clients.FromForwarded(r.RemoteAddr, way.header, nil)
	client, err2 := clients.FromForwarded(r.RemoteAddr, way.header, lines)
	if err != nil || err2 != nil {
		return chain{}
	}
	way.addrs = []netip.Addr{first.Addr}
	elements := listElements(lines)
	for n := 1; n <= min(len(elements), clients.Hops()) && way.addrs[0] != client.Addr; n++ {
		at, err := clients.FromForwarded(r.RemoteAddr, way.header, elements[len(elements)-n:])
		if err != nil || at.Addr == way.addrs[0] {
			break
		}
		way.addrs = append([]netip.Addr{at.Addr}, way.addrs...)
	}
	if way.addrs[0] != client.Addr { // written so that it splits in another way
		way.addrs = []netip.Addr{client.Addr, first.Addr}
	}
	return way
}

// listElements splits the lines of a list header at its commas, but not at
// those in quotes.
func listElements(lines []string) []string {
	var list []string
	quoted, escaped := false, false
	for _, line := range lines {
		list = append(list, strings.FieldsFunc(line, func(c rune) bool {
			switch {
			case escaped:
				escaped = false
			case quoted && c == '\\':
				escaped = true
			case c == '"':
				quoted = !quoted
			}
			return c == ',' && !quoted
		})...)
	}
	return list
}

// text is the chain as X-Forwarded-For.
func (c chain) text() string {
	var list []string
	for _, a := range c.addrs {
		list = append(list, a.String())
	}
	return strings.Join(list, ", ")
}

// forwardedText is the chain as Forwarded (RFC 7239).
func (c chain) forwardedText(proto, host string) string {
	var list []string
	for _, a := range c.addrs {
		node := a.String()
		if a.Is6() {
			node = `"[` + node + `]"`
		}
		list = append(list, "for="+node)
	}
	if len(list) == 0 {
		return ""
	}
	host = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(host)
	list[len(list)-1] += `;host="` + host + `";proto=` + proto
	return strings.Join(list, ", ")
}

// origin returns the scheme and host under which the client asked: as a
// trusted proxy says, else as they arrived here.
func (c chain) origin(r *http.Request) (proto, host string) {
	proto, host = "http", r.Host
	if r.TLS != nil {
		proto = "https"
	}
	if !c.trusted {
		return proto, host
	}
	if p := r.Header.Values("X-Forwarded-Proto"); len(p) == 1 && (p[0] == "http" || p[0] == "https") {
		proto = p[0]
	}
	if h := r.Header.Values("X-Forwarded-Host"); len(h) == 1 && h[0] != "" {
		host = h[0]
	}
	return proto, host
}
