package e2e

import (
	"fmt"
	"testing"

	"loginguard/test/internal/client"
	"loginguard/test/internal/redisd"
	"loginguard/test/internal/service"
)

// TestNetworksPayForFailures tries many accounts once each: no account's limit
// is near, so the networks must stop it.
func TestNetworksPayForFailures(t *testing.T) {
	for _, test := range []struct {
		name    string
		route   string
		tries   int
		from    func(i int) string
		allowed int
		level   string
		wait    int // seconds until the bucket can pay again, at most
	}{
		{"one address", "login", 33, func(int) string { return "203.0.113.9" }, 30, "host", 120},
		{"one address, mapped into IPv6 every other time", "login", 33, func(i int) string {
			return []string{"203.0.113.9", "::ffff:203.0.113.9"}[i%2]
		}, 30, "host", 120},
		{"one IPv6 host with many addresses", "login", 33, func(i int) string { return fmt.Sprintf("2001:db8:1:2::%x", i+1) }, 30, "host", 120},
		{"one IPv6 customer with many networks", "login", 63, func(i int) string { return fmt.Sprintf("2001:db8:1:%x::1", i) }, 60, "site", 60},
		{"one /24", "login", 105, func(i int) string { return fmt.Sprintf("203.0.113.%d", i+1) }, 100, "subnet", 36},
		{"signups from one address", "signup", 7, func(int) string { return "203.0.113.9" }, 6, "host", 600},
	} {
		t.Run(test.name, func(t *testing.T) {
			onEachStore(t, service.Options{}, func(t *testing.T, s *service.Service) {
				for i := range test.tries {
					d := guess(t, s, client.Attempt{Account: fmt.Sprint("account", i), IP: test.from(i), Route: test.route})
					if i < test.allowed {
						if !d.Allowed() {
							t.Fatalf("attempt %d was answered %d: %s", i+1, d.Status, d.Body)
						}
						continue
					}
					denied(t, d)
					if d.Limit != "network" || d.Level != test.level {
						t.Errorf("attempt %d was denied by %s %s, want network %s", i+1, d.Limit, d.Level, test.level)
					}
					if most := test.wait*11/10 + 1; d.RetryAfter > most {
						t.Errorf("attempt %d waits %d s, want at most %d", i+1, d.RetryAfter, most)
					}
				}
			})
		})
	}
}

// TestManyNetworksOfOneBlock moves through the /64s of one /48, one account
// each: the /48 pays, and the attempts that it denies leave nothing behind.
func TestManyNetworksOfOneBlock(t *testing.T) { manyNetworks(t, 2048) }

func manyNetworks(t *testing.T, n int) {
	server := redisd.Start(t)
	s := service.Start(t, service.Options{Redis: server.URL()})
	allowed, batch := 0, 64 // which divides every n
	for from := 0; from < n; from += batch {
		answers := storm(batch, func(i int) client.Attempt {
			return client.Attempt{Account: fmt.Sprint("account", from+i), IP: fmt.Sprintf("2001:db8:7:%x::1", from+i)}
		}, s)
		allowed += len(admitted(t, answers))
	}
	if allowed < 100 || allowed > 100+n/50 {
		t.Errorf("%d of %d networks of one /48 were admitted, want its 100 and what came back since", allowed, n)
	}
	// An account, a host and a site for each, one /48 and the global bucket.
	if keys := len(stored(server)); keys > 3*allowed+2 {
		t.Errorf("%d keys for %d admitted attempts", keys, allowed)
	}
}
