package e2e

import (
	"fmt"
	"testing"

	"loginguard/test/internal/client"
	"loginguard/test/internal/service"
)

// behindProxy believes one proxy on this machine.
const behindProxy = `
client_address: {hops: 1, trusted_proxies: [127.0.0.1], header: x-forwarded-for}
`

// through is the material of a request that came over the proxy.
func through(lines ...string) *client.Forwarded {
	return &client.Forwarded{Peer: "127.0.0.1", XForwardedFor: lines}
}

// TestUsersBehindOneProxyAreSeparate has everybody come from the proxy's
// address: each is limited by the address that the proxy saw.
func TestUsersBehindOneProxyAreSeparate(t *testing.T) {
	onEachStore(t, service.Options{Config: behindProxy}, func(t *testing.T, s *service.Service) {
		for user := range 4 {
			for i := range 31 {
				d := guess(t, s, client.Attempt{
					Account:   fmt.Sprintf("user%d-%d", user, i),
					Forwarded: through(address(user)),
				})
				if i < 30 && !d.Allowed() {
					t.Fatalf("user %d, attempt %d was answered %d: %s", user, i+1, d.Status, d.Body)
				}
				if i == 30 {
					denied(t, d)
				}
			}
		}
	})
}

// TestSpoofedPrefixStealsNothing puts a victim's address, or a new one each
// time, before what the proxy adds: the attacker stays who he is.
func TestSpoofedPrefixStealsNothing(t *testing.T) {
	s := service.Start(t, service.Options{Config: behindProxy})
	const victim, attacker = "203.0.113.9", "198.51.100.66"
	for i := range 33 {
		lines := [][]string{
			{victim + ", " + attacker},
			{fmt.Sprintf("%s, %s, %s", address(i), victim, attacker)},
			{victim, attacker},
			{victim + ",unknown,,\t" + attacker + ":4711"},
		}[i%4]
		d := guess(t, s, client.Attempt{Account: fmt.Sprint("account", i), Forwarded: through(lines...)})
		if d.Allowed() != (i < 30) {
			t.Fatalf("attempt %d with %q was answered %d", i+1, lines, d.Status)
		}
	}
	if d := s.Check(client.Attempt{Account: "victim", Forwarded: through(victim)}); !d.Allowed() {
		t.Errorf("the victim was answered %d: %s", d.Status, d.Body)
	}
}

// TestClientAddress asks explain which address was found, and from what.
func TestClientAddress(t *testing.T) {
	const (
		hops0 = ""
		hops2 = "client_address: {hops: 2, trusted_proxies: [10.0.0.0/8, 127.0.0.1]}\n"
		rfc   = "client_address: {hops: 1, trusted_proxies: [127.0.0.1, '::1'], header: forwarded}\n"
	)
	for _, test := range []struct {
		name, config string
		forwarded    *client.Forwarded
		ip           string
		client, from string
	}{
		{"the caller's word", hops0, nil, "203.0.113.9", "203.0.113.9", "ip"},
		{"mapped into IPv6", hops0, nil, "::ffff:203.0.113.9", "203.0.113.9", "ip"},
		{"no header is read without hops", hops0, through("203.0.113.9"), "", "127.0.0.1", "peer"},
		{"one hop", behindProxy, through("203.0.113.9"), "", "203.0.113.9", "x-forwarded-for"},
		{"a stranger's peer", behindProxy, &client.Forwarded{Peer: "192.0.2.1", XForwardedFor: []string{"203.0.113.9"}}, "", "192.0.2.1", "peer"},
		{"no header at all", behindProxy, &client.Forwarded{Peer: "127.0.0.1", XForwardedFor: []string{""}}, "", "127.0.0.1", "peer"},
		{"the header ends in rubbish", behindProxy, through("203.0.113.9, unknown"), "", "127.0.0.1", "peer"},
		{"the other header is not read", behindProxy, &client.Forwarded{Peer: "127.0.0.1", Forwarded: []string{"for=203.0.113.9"}}, "", "127.0.0.1", "peer"},
		{"two hops", hops2, through("203.0.113.9, 10.1.2.3"), "", "203.0.113.9", "x-forwarded-for"},
		{"two hops over two lines", hops2, through("198.51.100.1, 203.0.113.9", "10.1.2.3"), "", "203.0.113.9", "x-forwarded-for"},
		{"the second hop is not ours", hops2, through("203.0.113.9, 192.0.2.1"), "", "192.0.2.1", "x-forwarded-for"},
		{"RFC 7239", rfc, &client.Forwarded{Peer: "::1", Forwarded: []string{`for=192.0.2.1, for="[2001:db8::7]:4711";proto=https`}}, "", "2001:db8::7", "forwarded"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := service.Start(t, service.Options{Config: test.config})
			e := s.Explain(client.Attempt{Account: "alice", IP: test.ip, Forwarded: test.forwarded})
			if e.Client != test.client || e.ClientSource != test.from {
				t.Errorf("%s from %s, want %s from %s: %s", e.Client, e.ClientSource, test.client, test.from, e.Body)
			}
		})
	}
}

// TestCarrierPoolIsOneNetwork: those behind shared addresses have one budget
// that is the pool's, not the /24's.
func TestCarrierPoolIsOneNetwork(t *testing.T) {
	s := service.Start(t, service.Options{Config: `
networks:
  pools: [{name: carrier-a, cidrs: [203.0.113.0/24, "198.51.100.0/24"]}]
`})
	e := s.Explain(client.Attempt{Account: "alice", IP: "203.0.113.9"})
	if e.Class != "pool" || len(e.Networks) != 2 || e.Networks[1] != (client.Network{Level: "pool", Network: "carrier-a"}) {
		t.Errorf("class %s, networks %v", e.Class, e.Networks)
	}
	for i := range 105 {
		d := guess(t, s, client.Attempt{Account: fmt.Sprint("account", i), IP: []string{"203.0.113.", "198.51.100."}[i%2] + fmt.Sprint(i+1)})
		if i < 100 && !d.Allowed() {
			t.Fatalf("attempt %d was answered %d: %s", i+1, d.Status, d.Body)
		}
		if i >= 100 {
			denied(t, d)
			if d.Limit != "pool" && d.Level != "pool" {
				t.Errorf("denied by %s %s, want the pool", d.Limit, d.Level)
			}
		}
	}
}
