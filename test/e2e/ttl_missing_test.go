package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loginguard/test/internal/client"
	"loginguard/test/internal/redisd"
	"loginguard/test/internal/service"
)

// TestEveryKeyExpires uses all that writes to Redis and looks at every key. A
// counter without expiry is a refusal for ever.
func TestEveryKeyExpires(t *testing.T) {
	server := redisd.Start(t)
	s := service.Start(t, service.Options{Redis: server.URL()})
	everyKind(t, s)
	// Keys fails the test for a key that has no expiry.
	if keys := server.Keys(); len(keys) < 20 {
		t.Errorf("%d keys, too few for what was done: %v", len(keys), keys)
	}
}

// everyKind makes every kind of state there is: reports of each outcome, wrong
// tags, ids, devices, populations, strikes, unreported attempts, things
// forgotten and failures that nobody had asked about.
func everyKind(t *testing.T, s *service.Service) {
	t.Helper()
	for i, outcome := range []string{"success", "failure", "cancelled", ""} {
		a := client.Attempt{
			Account: fmt.Sprint("account", i), IP: address(i), ID: fmt.Sprint("submission", i),
			PasswordTag: fmt.Sprint("tag", i),
		}
		d := s.Check(a)
		if !d.Allowed() {
			t.Fatalf("answered %d: %s", d.Status, d.Body)
		}
		if outcome == "" {
			continue
		}
		r := client.Report{Attempt: d.Attempt, Outcome: outcome, RememberDevice: outcome == "success"}
		if outcome == "failure" {
			r.Reason = "bad_password"
		}
		done := s.Send(r)
		if !done.Applied {
			t.Fatalf("the report %s was answered %d: %s", outcome, done.Status, done.Body)
		}
		a.ID, a.Device = "", done.Device
		guess(t, s, a)
	}
	for _, route := range []string{"signup", "password_reset", "mfa"} {
		guess(t, s, client.Attempt{Account: "new", IP: "2001:db8::1", Route: route})
	}
	s.Send(client.Report{Account: "event", IP: "203.0.113.9", Outcome: "failure", Reason: "bad_password", PasswordTag: "tag"})
	s.Send(client.Report{Account: "event", IP: "203.0.113.9", Outcome: "success"})
	exhaust(t, s, "alice", 100)
	if f := s.Forget(client.Forget{Account: "bob", Scope: "credentials"}); !f.Applied {
		t.Fatalf("forget was answered %d: %s", f.Status, f.Body)
	}
}

// TestDeniedAttemptsWriteNothing sends 300 more guesses at an account that
// must wait: they add no key, move no bucket and lengthen no expiry.
func TestDeniedAttemptsWriteNothing(t *testing.T) {
	server := redisd.Start(t)
	s := service.Start(t, service.Options{Redis: server.URL()})
	exhaust(t, s, "alice", 0)
	before, ends := stored(server), expiries(t, server)
	for _, d := range storm(300, func(i int) client.Attempt { return client.Attempt{Account: "alice", IP: address(100 + i)} }, s) {
		denied(t, d)
	}
	if diff := cmp.Diff(before, stored(server)); diff != "" {
		t.Errorf("300 denied attempts changed (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(ends, expiries(t, server)); diff != "" {
		t.Errorf("300 denied attempts moved expiries (-before +after):\n%s", diff)
	}
}

// expiries returns when each key expires, in Unix milliseconds.
func expiries(t *testing.T, server *redisd.Server) map[string]time.Duration {
	t.Helper()
	c := server.Client()
	defer c.Close()
	ends := make(map[string]time.Duration)
	for key := range stored(server) {
		end, err := c.PExpireTime(context.Background(), key).Result()
		if err != nil {
			t.Fatal(err)
		}
		ends[key] = end
	}
	return ends
}

// TestLostExpiryIsRepaired takes the expiry from every key, as an operator's
// tool or a restored dump may: the next use gives it back.
func TestLostExpiryIsRepaired(t *testing.T) {
	server := redisd.Start(t)
	s := service.Start(t, service.Options{Redis: server.URL()})
	a := client.Attempt{Account: "alice", IP: "203.0.113.9"}
	guess(t, s, a)
	for key := range stored(server) {
		// Markers of settled attempts are read by a repeated report only.
		if !strings.Contains(key, ":t:") {
			server.Do("PERSIST", key)
		}
	}
	guess(t, s, a)
	server.Keys() // fails the test for a key that has no expiry
}

// TestLostExpiryIsRepairedOnce: a denied attempt gives it back as well, or the
// account would be closed for ever, and those that follow do not prolong it.
func TestLostExpiryIsRepairedOnce(t *testing.T) {
	server := redisd.Start(t)
	s := service.Start(t, service.Options{Redis: server.URL()})
	exhaust(t, s, "alice", 0)
	key := "lg:{" + s.Explain(client.Attempt{Account: "alice", IP: "203.0.113.9"}).Account + "}"
	server.Do("PERSIST", key)
	denied(t, s.Check(client.Attempt{Account: "alice", IP: address(20)}))
	repaired := expiries(t, server)[key]
	if repaired <= 0 {
		t.Fatalf("a denied attempt left %s without expiry", key)
	}
	for i := range 100 {
		denied(t, s.Check(client.Attempt{Account: "alice", IP: address(21 + i)}))
	}
	if now := expiries(t, server)[key]; now != repaired {
		t.Errorf("100 denied attempts moved the expiry by %s", now-repaired)
	}
}

// TestNoPlainAccountInRedis looks for the names themselves in every key and
// value: a copy of the database must not be a list of customers.
func TestNoPlainAccountInRedis(t *testing.T) {
	server := redisd.Start(t)
	s := service.Start(t, service.Options{Redis: server.URL()})
	names := []string{"Planted.Owner@Example.com", "planted-user", "plantedß", "pl\u0430nted"}
	for i, name := range names {
		a := client.Attempt{Account: name, IP: address(i), ID: "id-" + fmt.Sprint(i), PasswordTag: "planted-tag"}
		d := signIn(t, s, a)
		a.ID = ""
		guess(t, s, a)
		if d.Attempt == "" {
			t.Fatal("no attempt")
		}
		exhaust(t, s, name, 100*(i+1))
	}
	c := server.Client()
	defer c.Close()
	for key := range stored(server) {
		value, err := c.Dump(context.Background(), key).Result()
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{key, value} {
			text = strings.ToLower(text)
			for _, secret := range []string{"planted", "example.com", "nted", "id-0"} {
				if strings.Contains(text, secret) {
					t.Errorf("%q is in key %s with value %q", secret, key, value)
				}
			}
		}
	}
}

// TestUnreportedAttemptsLeaveTheStore makes a thousand attempts that nobody
// reports, with short limits: what they wrote is gone when those are full
// again.
func TestUnreportedAttemptsLeaveTheStore(t *testing.T) {
	t.Parallel()
	server := redisd.Start(t)
	s := service.Start(t, service.Options{Redis: server.URL(), Config: `
attempt_ttl: 1s
limits:
  account: {capacity: 5, refill: 5/500ms, backoff: {base: 1s, factor: 2, max: 1s, forget: 1s}}
  network:
    host: {capacity: 30, refill: 60/1s}
    subnet: {capacity: 100, refill: 200/1s}
  global: {capacity: 1000, refill: 2000/1s}
`})
	for from := 0; from < 1000; from += 50 {
		storm(50, func(i int) client.Attempt {
			return client.Attempt{Account: fmt.Sprint("account", from+i), IP: address(from + i), ID: fmt.Sprint(from + i)}
		}, s)
	}
	service.Await(t, 20*time.Second, "the keys of 1000 attempts to expire", func() bool { return len(stored(server)) == 0 })
}
