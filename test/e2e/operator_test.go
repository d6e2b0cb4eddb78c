package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"loginguard/test/internal/client"
	"loginguard/test/internal/redisd"
	"loginguard/test/internal/service"
)

// TestForgetLetsAPersonIn clears the account's limits and nothing else.
func TestForgetLetsAPersonIn(t *testing.T) {
	onEachStore(t, service.Options{}, func(t *testing.T, s *service.Service) {
		home := client.Attempt{Account: "alice", IP: "203.0.113.9"}
		signIn(t, s, home)
		exhaust(t, s, "alice", 0)
		if f := s.Forget(client.Forget{Account: "  ALICE "}); f.Status != http.StatusOK {
			t.Fatalf("forget was answered %d: %s", f.Status, f.Body)
		}
		e := s.Explain(client.Attempt{Account: "alice", IP: address(50)})
		if l := e.Find("account", ""); l.Remaining != 10 || l.Strikes != 0 {
			t.Errorf("the account has %d left and %d strikes after forget", l.Remaining, l.Strikes)
		}
		if e := s.Explain(home); !e.Familiar {
			t.Error("forget of limits took the familiar place, too")
		}
		if e.Failures != 10 {
			t.Errorf("%d failures, want the 10 that there were", e.Failures)
		}
		exhaust(t, s, "alice", 100)
	})
}

// TestForgetCredentials is a password that was reset: nobody is at home any
// more, old devices are strangers, and attempts begun before teach nothing.
func TestForgetCredentials(t *testing.T) {
	onEachStore(t, service.Options{}, func(t *testing.T, s *service.Service) {
		home := client.Attempt{Account: "alice", IP: "203.0.113.9"}
		device := s.Send(client.Report{Attempt: s.Check(home).Attempt, Outcome: "success", RememberDevice: true}).Device
		begun := s.Check(client.Attempt{Account: "alice", IP: address(1)})
		if f := s.Forget(client.Forget{Account: "alice", Scope: "credentials"}); f.Status != http.StatusOK {
			t.Fatalf("forget was answered %d: %s", f.Status, f.Body)
		}
		if s.Explain(home).Familiar {
			t.Error("the network is still familiar")
		}
		if s.Explain(client.Attempt{Account: "alice", IP: address(2), Device: device}).Find("device", "").Limit != "" {
			t.Error("the device is still known")
		}
		s.Report(begun.Attempt, "success")
		if s.Explain(client.Attempt{Account: "alice", IP: address(1)}).Familiar {
			t.Error("an attempt begun before made its network familiar")
		}
	})
}

// TestForgetNetwork clears one block's buckets, by CIDR and by a pool's name.
func TestForgetNetwork(t *testing.T) {
	onEachStore(t, service.Options{Config: "networks: {pools: [{name: carrier-a, cidrs: [198.51.100.0/24]}]}\n"}, func(t *testing.T, s *service.Service) {
		const from = "203.0.113.9"
		for i := range 31 {
			guess(t, s, client.Attempt{Account: fmt.Sprint("account", i), IP: from})
		}
		denied(t, s.Check(client.Attempt{Account: "late", IP: from}))
		if f := s.Forget(client.Forget{Network: "203.0.113.9/32"}); f.Status != http.StatusOK {
			t.Fatalf("forget was answered %d: %s", f.Status, f.Body)
		}
		e := s.Explain(client.Attempt{Account: "late", IP: from})
		if host, subnet := e.Find("network", "host").Remaining, e.Find("network", "subnet").Remaining; host != 30 || subnet > 71 {
			t.Errorf("the address has %d left, its /24 %d, want 30 and the 70 it had", host, subnet)
		}
		guess(t, s, client.Attempt{Account: "alice", IP: "198.51.100.7"})
		if f := s.Forget(client.Forget{Network: "carrier-a"}); f.Status != http.StatusOK {
			t.Fatalf("forget of the pool was answered %d: %s", f.Status, f.Body)
		}
		for _, l := range s.Explain(client.Attempt{Account: "late", IP: "198.51.100.7"}).Limits {
			if l.Level == "pool" && l.Remaining != 100 {
				t.Errorf("the pool has %d left, want 100", l.Remaining)
			}
		}
	})
}

// TestForgetWhatCannotBe is refused rather than ignored.
func TestForgetWhatCannotBe(t *testing.T) {
	s := service.Start(t, service.Options{})
	for _, f := range []client.Forget{
		{}, {Account: "alice", Network: "203.0.113.0/24"}, {Account: "alice", Scope: "everything"},
		{Network: "203.0.113.0/23"}, {Network: "carrier-b"}, {Network: "203.0.113.0/24", Scope: "credentials"}, {Account: " "},
	} {
		if r := s.Forget(f); r.Status != http.StatusUnprocessableEntity {
			t.Errorf("%+v was answered %d: %s", f, r.Status, r.Body)
		}
	}
}

// TestExplain says all about an attempt, and charges nothing for it.
func TestExplain(t *testing.T) {
	onEachStore(t, service.Options{Config: `
networks: {exempt: {cidrs: [192.0.2.10]}, hosting: {cidrs: [198.51.100.0/24]}}
overrides:
  - {limit: network, level: host, match: {network: 20.0.9.7/32}, capacity: 99, refill: 99/1h, reason: an exam hall}
`}, func(t *testing.T, s *service.Service) {
		for i := range 3 {
			guess(t, s, client.Attempt{Account: "alice", IP: address(i)})
		}
		for range 20 {
			e := s.Explain(client.Attempt{Account: "Alice", IP: "2001:db8:1:2::7"})
			if e.Status != http.StatusOK || e.Decision != "allow" || e.Class != "none" || e.Familiar || e.Failures != 3 || len(e.Account) != 22 {
				t.Fatalf("%d: %s", e.Status, e.Body)
			}
			want := []client.Network{{Level: "host", Network: "2001:db8:1:2::/64"}, {Level: "site", Network: "2001:db8:1::/56"}, {Level: "subnet", Network: "2001:db8:1::/48"}}
			if !slices.Equal(e.Networks, want) {
				t.Errorf("networks %v, want %v", e.Networks, want)
			}
			if l := e.Find("account", ""); l.Capacity != 10 || l.Remaining != 7 || l.Mode != "enforce" || l.WouldDeny {
				t.Errorf("account: %+v", l)
			}
		}
		if l := s.Explain(client.Attempt{Account: "alice", IP: address(9)}).Find("network", "host"); l.Capacity != 99 || l.Override != "an exam hall" {
			t.Errorf("overridden: %+v", l)
		}
		if e := s.Explain(client.Attempt{Account: "alice", IP: "192.0.2.10"}); e.Class != "exempt" || e.Find("network", "host").Limit != "" || e.Find("account", "").Limit == "" {
			t.Errorf("exempt: %s", e.Body)
		}
		if e := s.Explain(client.Attempt{Account: "alice", IP: "198.51.100.7"}); e.Class != "hosting" || e.Find("network", "host").Capacity != 8 {
			t.Errorf("hosting: %s", e.Body)
		}
		if e := s.Explain(client.Attempt{Account: "alice", IP: "100.64.1.2"}); e.Class != "pool" || e.Networks[len(e.Networks)-1].Network != "shared" {
			t.Errorf("shared address space: %s", e.Body)
		}
		d := exhaust(t, s, "bob", 100)
		e := s.Explain(client.Attempt{Account: "bob", IP: address(150)})
		if e.Decision != "deny" || e.Limit != "account" || e.RetryAfter < 1 || e.RetryAfter > d.RetryAfter+3 {
			t.Errorf("a denied account: %s", e.Body)
		}
	})
}

// TestForgetIsSeenByAllInstances asks one and looks at another.
func TestForgetIsSeenByAllInstances(t *testing.T) {
	url := redisd.Start(t).URL()
	one, two := service.Start(t, service.Options{Redis: url}), service.Start(t, service.Options{Redis: url})
	exhaust(t, one, "alice", 0)
	denied(t, two.Check(client.Attempt{Account: "alice", IP: address(50)}))
	two.Forget(client.Forget{Account: "alice"})
	if d := one.Check(client.Attempt{Account: "alice", IP: address(51)}); !d.Allowed() {
		t.Errorf("answered %d: %s", d.Status, d.Body)
	}
}
