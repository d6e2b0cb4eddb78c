package e2e

import (
	"fmt"
	"strings"
	"testing"

	"loginguard/test/internal/client"
	"loginguard/test/internal/service"
)

// TestSuccessGivesBackItsOwnChargeOnly is the owner who signs in during an
// attack: it must not refresh the attacker's budget.
func TestSuccessGivesBackItsOwnChargeOnly(t *testing.T) {
	onEachStore(t, service.Options{}, func(t *testing.T, s *service.Service) {
		guesses := 0
		attack := func(from int) {
			for i := range 20 {
				if guess(t, s, client.Attempt{Account: "alice", IP: address(from + i)}).Allowed() {
					guesses++
				}
				if guesses == 9 && i == 8 {
					return
				}
			}
		}
		attack(0)
		for range 3 {
			signIn(t, s, client.Attempt{Account: "alice", IP: "198.51.100.7"})
		}
		attack(100)
		if guesses != 10 {
			t.Errorf("the attacker had %d guesses around three sign-ins of the owner, want 10", guesses)
		}
	})
}

// TestOwnAccountBuysNoGuesses is the attacker who signs in to an account of
// his own between guesses, from the address that he guesses from.
func TestOwnAccountBuysNoGuesses(t *testing.T) {
	onEachStore(t, service.Options{}, func(t *testing.T, s *service.Service) {
		const from = "203.0.113.66"
		guesses := 0
		for i := range 40 {
			d := guess(t, s, client.Attempt{Account: fmt.Sprint("victim", i), IP: from})
			if d.Allowed() {
				guesses++
			} else if denied(t, d); d.Limit != "network" || d.Level != "host" {
				t.Fatalf("denied by %s %s, want network host", d.Limit, d.Level)
			}
			if own := s.Check(client.Attempt{Account: "mallory", IP: from}); own.Allowed() {
				report(t, s, own.Attempt, "success")
			}
		}
		if guesses != 30 {
			t.Errorf("%d guesses from one address, want 30", guesses)
		}
	})
}

// TestSuccessesAreNoCredit is a well-used address that turns bad: a hundred
// sign-ins of one account are worth nothing at another.
func TestSuccessesAreNoCredit(t *testing.T) {
	onEachStore(t, service.Options{}, func(t *testing.T, s *service.Service) {
		const from = "203.0.113.9"
		for range 100 {
			signIn(t, s, client.Attempt{Account: "bob", IP: from})
		}
		for _, l := range s.Explain(client.Attempt{Account: "alice", IP: from}).Limits {
			if l.Remaining > l.Capacity {
				t.Errorf("%s %s has %d of %d", l.Limit, l.Level, l.Remaining, l.Capacity)
			}
		}
		for i := range 11 {
			d := guess(t, s, client.Attempt{Account: "alice", IP: from})
			if d.Allowed() != (i < 10) {
				t.Fatalf("guess %d was answered %d", i+1, d.Status)
			}
		}
		// The same account from a stranger's address is not familiar either.
		for i := range 11 {
			d := guess(t, s, client.Attempt{Account: "bob", IP: address(i)})
			if d.Allowed() != (i < 10) {
				t.Fatalf("guess %d at the account that signed in was answered %d", i+1, d.Status)
			}
		}
	})
}

func TestManySignInsInARowAreNeverDenied(t *testing.T) {
	onEachStore(t, service.Options{}, func(t *testing.T, s *service.Service) {
		for i := range 200 {
			signIn(t, s, client.Attempt{Account: "alice", IP: "203.0.113.9"})
			signIn(t, s, client.Attempt{Account: fmt.Sprint("colleague", i), IP: "198.51.100.9"})
		}
	})
}

// TestMistakesBetweenSignInsDoNotAddUp is the owner who mistypes before nearly
// every sign-in at home; familiar places have a budget of their own, so that
// the account's stays whole.
func TestMistakesBetweenSignInsDoNotAddUp(t *testing.T) {
	onEachStore(t, service.Options{}, func(t *testing.T, s *service.Service) {
		home := client.Attempt{Account: "alice", IP: "203.0.113.9"}
		signIn(t, s, home)
		for range 9 {
			if d := guess(t, s, home); !d.Allowed() || !d.Familiar {
				t.Fatalf("a mistake at home was answered %d, familiar %t", d.Status, d.Familiar)
			}
			if d := signIn(t, s, home); d.Failures != 1 {
				t.Errorf("%d failures since the last success, want 1", d.Failures)
			}
		}
		if left := s.Explain(client.Attempt{Account: "alice", IP: address(1)}).Find("account", "").Remaining; left != 10 {
			t.Errorf("strangers have %d left, want 10", left)
		}
	})
}

// TestNoRouteResetsLimits: there is no word that makes a success clear more
// than it was charged.
func TestNoRouteResetsLimits(t *testing.T) {
	for _, word := range []string{"reset", "account", "all", "ip"} {
		said := service.Refused(t, service.Options{Config: "routes: {login: {success: " + word + "}}\n"})
		if !strings.Contains(said, "routes.login.success") {
			t.Errorf("success: %s was refused with: %s", word, said)
		}
	}
}
