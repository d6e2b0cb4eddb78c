package e2e

import (
	"flag"
	"fmt"
	"mime"
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"

	"loginguard/test/internal/client"
	"loginguard/test/internal/redisd"
	"loginguard/test/internal/service"
)

func TestMain(m *testing.M) {
	flag.Parse()
	// Those that run in parallel wait for time to pass, not for a processor.
	if err := flag.Set("test.parallel", "8"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(service.Main(m))
}

// onEachStore runs f against a service on the memory store and against one on
// a Redis of its own.
func onEachStore(t *testing.T, o service.Options, f func(t *testing.T, s *service.Service)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) { f(t, service.Start(t, o)) })
	t.Run("redis", func(t *testing.T) {
		o.Redis = redisd.Start(t).URL()
		f(t, service.Start(t, o))
	})
}

// address returns the i-th of 65,536 addresses, each in a /24 of its own.
func address(i int) string { return fmt.Sprintf("20.%d.%d.7", i>>8&255, i&255) }

// storm sends n checks at the same moment, to the services in turn, and
// returns their answers in the order of i.
func storm(n int, attempt func(i int) client.Attempt, services ...*service.Service) []client.Decision {
	answers := make([]client.Decision, n)
	begin := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-begin
			answers[i] = services[i%len(services)].Check(attempt(i))
		})
	}
	close(begin)
	all.Wait()
	return answers
}

// admitted checks that every answer is an allowance or a whole denial by 429,
// and returns the attempts that were allowed.
func admitted(t *testing.T, answers []client.Decision) []string {
	t.Helper()
	var attempts []string
	for _, d := range answers {
		if d.Allowed() {
			attempts = append(attempts, d.Attempt)
			continue
		}
		denied(t, d)
	}
	return attempts
}

// denied checks that an answer is a denial by 429 and complete.
func denied(t *testing.T, d client.Decision) {
	t.Helper()
	if d.Status != http.StatusTooManyRequests || d.Decision != "deny" || d.Limit == "" {
		t.Fatalf("status %d, decision %q, limit %q, want a denial by 429: %s", d.Status, d.Decision, d.Limit, d.Body)
	}
	wait(t, d)
}

// busy checks that an answer is a denial by 503 and complete.
func busy(t *testing.T, d client.Decision) {
	t.Helper()
	if d.Status != http.StatusServiceUnavailable || d.Decision != "deny" {
		t.Fatalf("status %d, decision %q, want a denial by 503: %s", d.Status, d.Decision, d.Body)
	}
	wait(t, d)
}

// wait checks that a denial says how long to wait, and the same twice.
func wait(t *testing.T, d client.Decision) {
	t.Helper()
	seconds, err := strconv.Atoi(d.Header.Get("Retry-After"))
	if err != nil || seconds < 1 || seconds > 3600 || seconds != d.RetryAfter {
		t.Errorf("Retry-After %q and retry_after %d, want the same whole seconds of 1 to 3600", d.Header.Get("Retry-After"), d.RetryAfter)
	}
	if kind, _, _ := mime.ParseMediaType(d.Header.Get("Content-Type")); kind != "application/problem+json" {
		t.Errorf("a denial is of type %q", kind)
	}
}

// guess is an attempt with a wrong password.
func guess(t *testing.T, s *service.Service, a client.Attempt) client.Decision {
	t.Helper()
	d := s.Check(a)
	if d.Allowed() {
		report(t, s, d.Attempt, "failure")
	}
	return d
}

// signIn is an attempt with the right password, and must be allowed.
func signIn(t *testing.T, s *service.Service, a client.Attempt) client.Decision {
	t.Helper()
	d := s.Check(a)
	if !d.Allowed() {
		t.Fatalf("a sign-in of %s from %s was answered %d: %s", a.Account, a.IP, d.Status, d.Body)
	}
	report(t, s, d.Attempt, "success")
	return d
}

// report reports an attempt, which must count.
func report(t *testing.T, s *service.Service, attempt, outcome string) {
	t.Helper()
	if r := s.Report(attempt, outcome); r.Status != http.StatusOK || !r.Applied {
		t.Fatalf("the report %s was answered %d: %s", outcome, r.Status, r.Body)
	}
}

// exhaust guesses at an account, each time from another network, until its
// limit is used up, and returns the denial. from is the first network.
func exhaust(t *testing.T, s *service.Service, account string, from int) client.Decision {
	t.Helper()
	for i := range 11 {
		d := guess(t, s, client.Attempt{Account: account, IP: address(from + i)})
		if i < 10 != d.Allowed() {
			t.Fatalf("guess %d at %s was answered %d: %s", i+1, account, d.Status, d.Body)
		}
		if i == 10 {
			denied(t, d)
			return d
		}
	}
	return client.Decision{}
}

// stored returns all that a Redis holds, without the key of the probe, which
// comes and goes.
func stored(server *redisd.Server) map[string]string {
	keys := server.Keys()
	delete(keys, "lg:probe")
	return keys
}
