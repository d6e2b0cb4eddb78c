package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"loginguard/test/internal/client"
	"loginguard/test/internal/redisd"
	"loginguard/test/internal/service"
)

// TestAnAttemptIsOneCall counts what Redis is asked: one script for a check,
// one for its report, nothing repeated.
func TestAnAttemptIsOneCall(t *testing.T) {
	server := redisd.Start(t)
	s := service.Start(t, service.Options{Redis: server.URL()})
	signIn(t, s, client.Attempt{Account: "first", IP: "203.0.113.9"}) // loads the scripts
	before := calls(t, server, "evalsha")
	for i := range 50 {
		guess(t, s, client.Attempt{Account: fmt.Sprint("account", i), IP: address(i)})
	}
	if got := calls(t, server, "evalsha") - before; got != 100 {
		t.Errorf("50 checks and 50 reports were %d scripts, want 100", got)
	}
}

// TestUnansweredChargeIsNotRepeated stops Redis with an attempt on its way.
// Redis executes what it has received once it goes on, although the caller was
// told 503 long before; a client library that had tried again would charge
// twice.
func TestUnansweredChargeIsNotRepeated(t *testing.T) {
	server := redisd.Start(t)
	s := service.Start(t, service.Options{Redis: server.URL(), Env: realBudget})
	back(t, s, patient)
	for i := range 3 {
		server.Pause()
		unavailable(t, s.Check(client.Attempt{Account: "alice", IP: address(i)}))
		server.Resume()
		back(t, s, patient)
	}
	e := s.Explain(client.Attempt{Account: "alice", IP: address(100)})
	if left := e.Find("account", "").Remaining; left < 7 || left > 10 {
		t.Errorf("three attempts without an answer cost %d", 10-left)
	}
}

// TestLostReplyIsNotChargedTwice breaks the connection after Redis has charged
// an attempt and before it says so. Client libraries try again by themselves,
// unless they are told not to.
func TestLostReplyIsNotChargedTwice(t *testing.T) {
	server := redisd.Start(t)
	link, at := newLossy(t, server.Addr)
	s := service.Start(t, service.Options{Redis: "redis://" + at + "/0"})
	back(t, s, patient)
	for i := range 3 {
		link.lose.Store(1)
		unavailable(t, s.Check(client.Attempt{Account: "alice", IP: address(i)}))
		left := s.Explain(client.Attempt{Account: "alice", IP: address(100)}).Find("account", "").Remaining
		if left != 9-i {
			t.Errorf("%d are left after %d attempts whose answer was lost, want %d", left, i+1, 9-i)
		}
	}
}

// TestSameSubmissionIsChargedOnce is a caller whose HTTP library repeats a
// check that it got no answer to, and says so by the same id.
func TestSameSubmissionIsChargedOnce(t *testing.T) {
	onEachStore(t, service.Options{}, func(t *testing.T, s *service.Service) {
		a := client.Attempt{Account: "alice", IP: "203.0.113.9", ID: "submission-1"}
		first := s.Check(a)
		for use := 2; use <= 4; use++ {
			if again := s.Check(a); !again.Allowed() || again.Attempt != first.Attempt {
				t.Errorf("use %d of the id: answered %d, the same attempt %t", use, again.Status, again.Attempt == first.Attempt)
			}
		}
		if d := s.Check(a); d.Status != http.StatusConflict {
			t.Errorf("use 5 of the id was answered %d, want 409", d.Status)
		}
		if left := s.Explain(a).Find("account", "").Remaining; left != 9 {
			t.Errorf("%d are left after one submission, want 9", left)
		}
		report(t, s, first.Attempt, "failure")
		if r := s.Report(first.Attempt, "failure"); r.Status != http.StatusOK || r.Applied {
			t.Errorf("a repeated report was answered %d, applied %t", r.Status, r.Applied)
		}
		if r := s.Report(first.Attempt, "success"); r.Status != http.StatusOK || r.Applied {
			t.Errorf("a second, better report was answered %d, applied %t", r.Status, r.Applied)
		}
		if d := s.Check(a); !d.Allowed() || d.Attempt == first.Attempt {
			t.Errorf("the id after its report: answered %d, a new attempt %t", d.Status, d.Attempt != first.Attempt)
		}
	})
}

// TestSameSubmissionAtOnce sends the repeats in parallel, over two instances.
func TestSameSubmissionAtOnce(t *testing.T) {
	all := fleet(t, 2)
	attempts := make(map[string]int)
	for _, d := range storm(4, func(int) client.Attempt {
		return client.Attempt{Account: "alice", IP: "203.0.113.9", ID: "submission-1"}
	}, all...) {
		if !d.Allowed() {
			t.Fatalf("answered %d: %s", d.Status, d.Body)
		}
		attempts[d.Attempt]++
	}
	if len(attempts) != 1 {
		t.Errorf("one submission became %d attempts", len(attempts))
	}
	if left := all[0].Explain(client.Attempt{Account: "alice", IP: address(1)}).Find("account", "").Remaining; left != 9 {
		t.Errorf("%d are left after one submission, want 9", left)
	}
}

// TestIdForSomethingElseIsRefused changes one thing at a time under one id.
func TestIdForSomethingElseIsRefused(t *testing.T) {
	s := service.Start(t, service.Options{})
	first := client.Attempt{Account: "alice", IP: "203.0.113.9", ID: "submission-1", PasswordTag: "tag-1"}
	if d := s.Check(first); !d.Allowed() {
		t.Fatalf("answered %d", d.Status)
	}
	for name, change := range map[string]func(*client.Attempt){
		"account":   func(a *client.Attempt) { a.Account = "bob" },
		"address":   func(a *client.Attempt) { a.IP = "203.0.113.10" },
		"route":     func(a *client.Attempt) { a.Route = "mfa" },
		"tag":       func(a *client.Attempt) { a.PasswordTag = "tag-2" },
		"challenge": func(a *client.Attempt) { a.ChallengePassed = true },
	} {
		other := first
		change(&other)
		if d := s.Check(other); d.Status != http.StatusConflict {
			t.Errorf("another %s under the same id was answered %d, want 409", name, d.Status)
		}
	}
}

// TestURLCannotTurnRetriesOn: what decides about double charges is no option
// of the store's URL.
func TestURLCannotTurnRetriesOn(t *testing.T) {
	server := redisd.Start(t)
	for _, option := range []string{"max_retries=3", "max_retries=0", "read_timeout=10s", "pool_timeout=10s", "dial_timeout=10s"} {
		service.Refused(t, service.Options{Redis: server.URL() + "?" + option})
	}
}
