package e2e

import (
	"fmt"
	"strings"
	"testing"

	"loginguard/test/internal/client"
	"loginguard/test/internal/redisd"
	"loginguard/test/internal/service"
)

// TestRotatingTheNameMakesNoKeys tries a new name each time from one address:
// its limit denies after 30, and what is denied leaves no account behind.
func TestRotatingTheNameMakesNoKeys(t *testing.T) {
	server := redisd.Start(t)
	s := service.Start(t, service.Options{Redis: server.URL()})
	allowed := 0
	for from := 0; from < 2000; from += 50 {
		allowed += len(admitted(t, storm(50, func(i int) client.Attempt {
			return client.Attempt{Account: fmt.Sprint("name", from+i), IP: "203.0.113.9"}
		}, s)))
	}
	if allowed < 30 || allowed > 33 {
		t.Errorf("%d of 2000 were admitted, want 30 and what came back since", allowed)
	}
	// The address, its /24 and the global bucket, and an account for each.
	if keys := stored(server); len(keys) > allowed+3 {
		t.Errorf("%d keys for %d admitted attempts", len(keys), allowed)
	}
}

// TestKeysPerAttemptAreFew counts what one admitted attempt writes, whatever
// it carries.
func TestKeysPerAttemptAreFew(t *testing.T) {
	server := redisd.Start(t)
	s := service.Start(t, service.Options{Redis: server.URL()})
	d := s.Check(client.Attempt{Account: "alice", IP: "2001:db8::1", ID: "id", PasswordTag: "tag"})
	report(t, s, d.Attempt, "failure")
	// Account, host, site, subnet, global, password, the id and the marker of
	// the report.
	if keys := stored(server); len(keys) > 8 {
		t.Errorf("%d keys: %v", len(keys), keys)
	}
}

// TestMemoryStoreIsBounded sends denied attempts of many kinds to the memory
// store and looks at the process: its goroutines must not grow with what was
// asked.
func TestMemoryStoreIsBounded(t *testing.T) {
	s := service.Start(t, service.Options{})
	flood := func(round int) {
		for from := 0; from < 1000; from += 50 {
			storm(50, func(i int) client.Attempt {
				return client.Attempt{Account: fmt.Sprint("name", round, from+i), IP: "203.0.113.9", ID: fmt.Sprint(round, from+i)}
			}, s)
		}
	}
	flood(1)
	before := goroutines(t, s)
	flood(2)
	flood(3)
	s.Client().Close()
	service.Await(t, patient, "goroutines to end", func() bool { return goroutines(t, s) <= before+10 })
}

// goroutines returns how many the process has.
func goroutines(t *testing.T, s *service.Service) int {
	t.Helper()
	for _, line := range strings.Split(string(s.Page("/metrics").Body), "\n") {
		var n int
		if _, err := fmt.Sscanf(line, "go_goroutines %d", &n); err == nil {
			return n
		}
	}
	t.Fatal("no go_goroutines")
	return 0
}
