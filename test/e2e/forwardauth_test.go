package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"loginguard/test/internal/client"
	"loginguard/test/internal/service"
)

const proxyKey = "key-of-the-proxy"

// forwardAuthConfig is a configuration for a proxy on this machine.
func forwardAuthConfig(reports bool) string {
	sum := sha256.Sum256([]byte(proxyKey))
	return fmt.Sprintf(`
callers: [{name: proxy, key_sha256: %s, role: admin}]
client_address: {hops: 1, trusted_proxies: [127.0.0.1]}
forward_auth: {account_header: X-Login, reports: %t}
`, hex.EncodeToString(sum[:]), reports)
}

// askForward asks as the proxy does, for a client at an address.
func askForward(s *service.Service, profile, account, ip string) client.Reply {
	h := http.Header{"X-Api-Key": {proxyKey}, "X-Forwarded-For": {ip}}
	if account != "" {
		h.Set("X-Login", account)
	}
	return s.Do(http.MethodGet, "/v1/forward-auth/"+profile, h, "")
}

func TestForwardAuthWithReportsGuardsTheAccount(t *testing.T) {
	onEachStore(t, service.Options{Config: forwardAuthConfig(true)}, func(t *testing.T, s *service.Service) {
		proxy := s.With(proxyKey)
		// The owner signs in from home: nothing stays charged.
		home := askForward(s, "plain", "alice", "203.0.113.9")
		if home.Status != http.StatusOK || len(home.Body) > 0 {
			t.Fatalf("answered %d: %s", home.Status, home.Body)
		}
		if got := home.Header.Get("RateLimit-Policy"); strings.Contains(got, "account") || !strings.Contains(got, `"network-host";q=30`) {
			t.Errorf("strangers see %s", got)
		}
		if r := proxy.Report(home.Header.Get("X-Loginguard-Attempt"), "success"); !r.Applied {
			t.Fatalf("the report is answered %d: %s", r.Status, r.Body)
		}
		for i := range 10 {
			a := askForward(s, "nginx", "Alice", address(i))
			if a.Status != http.StatusOK {
				t.Fatalf("guess %d is answered %d: %s", i+1, a.Status, a.Body)
			}
			proxy.Report(a.Header.Get("X-Loginguard-Attempt"), "failure")
		}
		for profile, status := range map[string]int{"plain": 429, "nginx": 403, "envoy/login?account=bob": 429} {
			a := askForward(s, profile, "alice", address(99))
			if a.Status != status || a.Header.Get("Retry-After") == "" || a.Header.Get("X-Loginguard-Attempt") != "" {
				t.Errorf("%s: answered %d %v: %s", profile, a.Status, a.Header, a.Body)
			}
			if got := a.Header.Get("RateLimit"); strings.Contains(got, "account") || !strings.Contains(got, "network") {
				t.Errorf("%s: strangers see %s", profile, got)
			}
			if marked := a.Header.Get("X-Loginguard-Status"); profile == "nginx" && marked != "429" {
				t.Errorf("nginx: marked %q", marked)
			}
		}
		// The owner is let in, and whoever names no account has only a network.
		if a := askForward(s, "plain", "alice", "203.0.113.9"); a.Status != http.StatusOK || a.Header.Get("RateLimit") != "" {
			t.Errorf("the owner is answered %d and shown %q", a.Status, a.Header.Get("RateLimit"))
		}
		if a := askForward(s, "plain", "", address(99)); a.Status != http.StatusOK {
			t.Errorf("without an account: answered %d", a.Status)
		}
	})
}

func TestForwardAuthWithoutReportsChargesNoAccount(t *testing.T) {
	onEachStore(t, service.Options{Config: forwardAuthConfig(false)}, func(t *testing.T, s *service.Service) {
		for i := range 25 {
			if a := askForward(s, "plain", "alice", address(i)); a.Status != http.StatusOK || a.Header.Get("X-Loginguard-Attempt") == "" {
				t.Fatalf("request %d is answered %d: %s", i+1, a.Status, a.Body)
			}
		}
		e := s.With(proxyKey).Explain(client.Attempt{Account: "alice", IP: address(0)})
		if got := e.Find("account", "").Remaining; got != 10 {
			t.Errorf("the account has %d left, want all 10", got)
		}
		if got := e.Find("network", "host").Remaining; got != 29 {
			t.Errorf("the host has %d left, want 29", got)
		}
		// One host has its own limit, whatever accounts it names.
		for i := range 30 {
			askForward(s, "plain", fmt.Sprint("user", i), "20.9.9.7")
		}
		a := askForward(s, "plain", "another", "20.9.9.7")
		if a.Status != http.StatusTooManyRequests || !strings.HasPrefix(a.Header.Get("RateLimit"), `"network-host";r=0`) {
			t.Errorf("request 31 of a host is answered %d: %v", a.Status, a.Header)
		}
	})
}

func TestForwardAuthBelievesAddressesOfItsProxyOnly(t *testing.T) {
	s := service.Start(t, service.Options{Config: strings.Replace(forwardAuthConfig(false), "[127.0.0.1]", "[192.0.2.1]", 1)})
	for i := range 30 {
		askForward(s, "plain", "", address(i))
	}
	if a := askForward(s, "plain", "", address(31)); a.Status != http.StatusTooManyRequests {
		t.Errorf("a proxy that is not trusted chooses its clients' addresses: answered %d", a.Status)
	}
}
