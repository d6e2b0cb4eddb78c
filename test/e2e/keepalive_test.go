package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"loginguard/test/internal/client"
	"loginguard/test/internal/service"
)

// TestEveryCheckOnOneConnectionCounts makes 1,000 checks on one connection,
// each of another account and network: the global limit has room for exactly
// these.
func TestEveryCheckOnOneConnectionCounts(t *testing.T) {
	onEachStore(t, service.Options{Config: `
limits: {global: {capacity: 1000, refill: 6/1h}}
`}, func(t *testing.T, s *service.Service) {
		var dials atomic.Int32
		one := &http.Client{Transport: &http.Transport{
			MaxConnsPerHost: 1,
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				dials.Add(1)
				return (&net.Dialer{}).DialContext(ctx, network, address)
			},
		}}
		defer one.CloseIdleConnections()
		for i := range 1001 {
			body, err := json.Marshal(client.Attempt{Account: fmt.Sprint("account", i), IP: address(i)})
			if err != nil {
				t.Fatal(err)
			}
			r, err := one.Post(s.API+"/v1/check", "application/json", strings.NewReader(string(body)))
			if err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(r.Body)
			r.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
			want := http.StatusOK
			if i == 1000 {
				want = http.StatusServiceUnavailable
			}
			if r.StatusCode != want {
				t.Fatalf("check %d was answered %d, want %d: %s", i+1, r.StatusCode, want, answer)
			}
			if i == 1000 && !strings.Contains(string(answer), `"limit":"global"`) {
				t.Errorf("denied by: %s", answer)
			}
		}
		if n := dials.Load(); n != 1 {
			t.Errorf("%d connections, want 1", n)
		}
		// People at home do not notice.
		left := s.Explain(client.Attempt{Account: "new", IP: "203.0.113.9"}).Find("global", "").Remaining
		if left != 0 {
			t.Errorf("global has %d left", left)
		}
	})
}

// TestGlobalLimitSparesFamiliarPlaces uses the budget for strangers up.
func TestGlobalLimitSparesFamiliarPlaces(t *testing.T) {
	onEachStore(t, service.Options{Config: `
limits: {global: {capacity: 20, refill: 6/1h, per_user: 0}}
`}, func(t *testing.T, s *service.Service) {
		home := client.Attempt{Account: "alice", IP: "203.0.113.9"}
		signIn(t, s, home)
		for i := range 22 {
			d := guess(t, s, client.Attempt{Account: fmt.Sprint("account", i), IP: address(i)})
			if i < 20 != d.Allowed() {
				t.Fatalf("attempt %d was answered %d: %s", i+1, d.Status, d.Body)
			}
			if i >= 20 {
				busy(t, d)
				if d.Limit != "global" || d.Reason != "" {
					t.Errorf("limit %q, reason %q", d.Limit, d.Reason)
				}
			}
		}
		signIn(t, s, home)
	})
}
