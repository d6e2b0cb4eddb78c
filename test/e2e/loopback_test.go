package e2e

import (
	"net/http"
	"strings"
	"testing"

	"loginguard/test/internal/service"
)

// TestWithoutCallersOnlyThisMachineIsServed: a page in a browser on this
// machine must not get through by a name that its owner points here, or by a
// request of its own.
func TestWithoutCallersOnlyThisMachineIsServed(t *testing.T) {
	s := service.Start(t, service.Options{})
	for _, test := range []struct {
		host, origin string
		want         int
	}{
		{"", "", 200},
		{"localhost:8080", "", 200},
		{"127.0.0.1", "", 200},
		{"[::1]:8080", "", 200},
		{"localhost", "http://localhost:3000", 200},
		{"attacker.example.com", "", 403},
		{"attacker.example.com:8080", "", 403},
		{"localhost.attacker.example.com", "", 403},
		{"127.0.0.1.attacker.example.com", "", 403},
		{"192.0.2.1:8080", "", 403},
		{"0.0.0.0:8080", "", 403},
		{"localhost", "https://attacker.example.com", 403},
		{"localhost", "null", 403},
	} {
		h := http.Header{"Content-Type": {"application/json"}}
		if test.host != "" {
			h.Set("Host", test.host)
		}
		if test.origin != "" {
			h.Set("Origin", test.origin)
		}
		if r := s.Do("POST", "/v1/check", h, oneCheck); r.Status != test.want {
			t.Errorf("Host %q, Origin %q: answered %d, want %d: %s", test.host, test.origin, r.Status, test.want, r.Body)
		}
		if r := s.Operate("POST", "/v1/forget", h, `{"account":"alice"}`); r.Status != test.want {
			t.Errorf("admin, Host %q, Origin %q: answered %d, want %d: %s", test.host, test.origin, r.Status, test.want, r.Body)
		}
	}
}

// TestWithoutCallersOtherAddressesAreRefused at the start.
func TestWithoutCallersOtherAddressesAreRefused(t *testing.T) {
	for _, listen := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0"} {
		said := service.Refused(t, service.Options{Args: []string{"--api-listen", listen}})
		if !strings.Contains(said, "callers") || !strings.Contains(said, "--api-listen") {
			t.Errorf("%s was refused with: %s", listen, said)
		}
	}
	s := service.Start(t, service.Options{Config: withCallers(), Args: []string{"--api-listen", "0.0.0.0:0"}})
	if !strings.HasPrefix(s.API, "http://localhost:") {
		t.Errorf("a service on all addresses is announced as %s", s.API)
	}
}
