package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"loginguard/test/internal/client"
	"loginguard/test/internal/redisd"
	"loginguard/test/internal/service"
)

// quick is a policy whose waits pass while a test runs.
const quick = `
limits:
  account: {capacity: 5, refill: 5/20s, backoff: {base: 1s, factor: 2, max: 4s, forget: 30s}}
`

// TestAllowedAnswersHaveNoRetryAfter: it would be read as a denial.
func TestAllowedAnswersHaveNoRetryAfter(t *testing.T) {
	onEachStore(t, service.Options{}, func(t *testing.T, s *service.Service) {
		for i := range 10 {
			d := s.Check(client.Attempt{Account: "alice", IP: address(i)})
			if v, there := d.Header["Retry-After"]; !d.Allowed() || there || d.RetryAfter != 0 {
				t.Errorf("answered %d with Retry-After %q and retry_after %d", d.Status, v, d.RetryAfter)
			}
		}
	})
}

// TestFirstWaitIsHalfAMinute, on the default limits.
func TestFirstWaitIsHalfAMinute(t *testing.T) {
	onEachStore(t, service.Options{}, func(t *testing.T, s *service.Service) {
		d := exhaust(t, s, "alice", 0)
		if d.RetryAfter < 30 || d.RetryAfter > 33 {
			t.Errorf("the first wait on an account is %d s, want 30 and up to a tenth", d.RetryAfter)
		}
		if d.Limit != "account" || !strings.HasSuffix(d.Type, "#quota-exceeded") || d.Title == "" || d.Detail == "" {
			t.Errorf("limit %q, type %q, title %q, detail %q", d.Limit, d.Type, d.Title, d.Detail)
		}
	})
}

// TestDeniedAttemptsNeverLengthenAWait hammers on an account that must wait:
// the wait without its random part only shrinks.
func TestDeniedAttemptsNeverLengthenAWait(t *testing.T) {
	onEachStore(t, service.Options{}, func(t *testing.T, s *service.Service) {
		left := reset(t, exhaust(t, s, "alice", 0))
		for i := range 200 {
			d := s.Check(client.Attempt{Account: "alice", IP: address(20 + i)})
			denied(t, d)
			if now := reset(t, d); now > left {
				t.Fatalf("denied attempt %d waits %d s, the one before %d", i+1, now, left)
			} else {
				left = now
			}
		}
		if strikes := s.Explain(client.Attempt{Account: "alice", IP: address(300)}).Find("account", "").Strikes; strikes != 1 {
			t.Errorf("%d strikes after one wait that has not ended, want 1", strikes)
		}
	})
}

// reset returns RateLimit-Reset, which on a denial is the wait without its
// random part.
func reset(t *testing.T, d client.Decision) int {
	t.Helper()
	n, err := strconv.Atoi(d.Header.Get("RateLimit-Reset"))
	if err != nil {
		t.Fatalf("RateLimit-Reset: %v", err)
	}
	return n
}

// TestWaitingSuffices waits as long as a denial says, hammering on all the
// while, and is then let in once; the wait after that is twice as long.
func TestWaitingSuffices(t *testing.T) {
	for _, store := range []string{"memory", "redis"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			s := startOn(t, store, service.Options{Config: quick})
			tries := 0
			try := func() client.Decision {
				tries++
				return guess(t, s, client.Attempt{Account: "alice", IP: address(tries)})
			}
			for i := range 5 {
				if d := try(); !d.Allowed() {
					t.Fatalf("guess %d was answered %d", i+1, d.Status)
				}
			}
			for _, base := range []int{1, 2} {
				d := try()
				denied(t, d)
				if got := reset(t, d); got != base {
					t.Errorf("a wait of %d s, want %d", got, base)
				}
				over := time.After(time.Duration(d.RetryAfter) * time.Second)
				again := time.NewTicker(100 * time.Millisecond)
				defer again.Stop()
				let := 0
			waiting:
				for {
					select {
					case <-over:
						break waiting
					case <-again.C:
						// Retry-After is a little longer than the wait, so that
						// the hammering itself may be what is let in.
						if try().Allowed() {
							let++
							break waiting
						}
					}
				}
				if let == 0 && !try().Allowed() {
					t.Fatal("denied after the wait that was asked for")
				}
			}
		})
	}
}

// startOn starts a service on a store by name.
func startOn(t *testing.T, store string, o service.Options) *service.Service {
	t.Helper()
	if store == "redis" {
		o.Redis = redisd.Start(t).URL()
	}
	return service.Start(t, o)
}

// TestShortWaitsAreAWholeSecond: a wait of 100 ms cut to 0 would say "now",
// exactly when the service is busiest.
func TestShortWaitsAreAWholeSecond(t *testing.T) {
	onEachStore(t, service.Options{Config: `
limits: {network: {host: {capacity: 10, refill: 10/2s}}}
`}, func(t *testing.T, s *service.Service) {
		denials := 0
		for i := range 40 {
			d := s.Check(client.Attempt{Account: fmt.Sprint("account", i), IP: "203.0.113.9"})
			if d.Allowed() {
				continue
			}
			denied(t, d)
			if denials++; d.RetryAfter != 1 {
				t.Errorf("Retry-After %d for a wait of 200 ms at most, want 1", d.RetryAfter)
			}
		}
		if denials == 0 {
			t.Error("nothing was denied")
		}
	})
}

// TestRetryAfterIsSpreadUpwards: all who are denied at the same moment come
// back at different ones, none before it can succeed.
func TestRetryAfterIsSpreadUpwards(t *testing.T) {
	onEachStore(t, service.Options{}, func(t *testing.T, s *service.Service) {
		// 30 signups' worth of tokens: the sixth empties the address for 10 min.
		const from = "203.0.113.9"
		for i := range 6 {
			guess(t, s, client.Attempt{Account: fmt.Sprint("account", i), IP: from, Route: "signup"})
		}
		seen := make(map[int]bool)
		for _, d := range storm(200, func(i int) client.Attempt {
			return client.Attempt{Account: fmt.Sprint("late", i), IP: from, Route: "signup"}
		}, s) {
			denied(t, d)
			least := reset(t, d)
			if most := least + least/10 + 1; d.RetryAfter < least || d.RetryAfter > most {
				t.Errorf("Retry-After %d for a wait of %d s, want up to a tenth more", d.RetryAfter, least)
			}
			seen[d.RetryAfter] = true
		}
		if len(seen) < 10 {
			t.Errorf("200 answers share %d values of Retry-After", len(seen))
		}
	})
}

// TestWaitsThatAreLockoutsAreRefused, and costs that could never be paid.
func TestWaitsThatAreLockoutsAreRefused(t *testing.T) {
	for _, test := range []struct{ config, path string }{
		{"limits: {account: {backoff: {max: 87600h}}}", "limits.account.backoff.max"},
		{"limits: {account: {backoff: {max: 9223372037s}}}", "limits.account.backoff.max"},
		{"limits: {account: {refill: 1/2h}}", "limits.account.refill"},
		{"limits: {network: {host: {capacity: 4}}}", "limits.network.host"},
		{"routes: {login: {cost: 31}}", "routes.login.cost"},
		{"attempt_ttl: 9223372037s", "attempt_ttl"},
	} {
		said := service.Refused(t, service.Options{Config: test.config + "\n"})
		if !strings.Contains(said, test.path) {
			t.Errorf("%s was refused with: %s", test.config, said)
		}
	}
}
