package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"loginguard/test/internal/client"
	"loginguard/test/internal/feed"
	"loginguard/test/internal/redisd"
	"loginguard/test/internal/service"
)

// attack makes the log of a day on which a dictionary is tried at a server, in
// the form that is recorded: most guesses at root, most from few addresses,
// with two people who sign in every now and then, one of whom mistypes.
func attack(n int) string {
	random := rand.New(rand.NewPCG(7, 11))
	var log strings.Builder
	at := time.Date(2026, 3, 1, 6, 0, 0, 0, time.UTC)
	add := func(account, ip, outcome, reason string) {
		at = at.Add(time.Duration(random.IntN(20)) * time.Second)
		line := map[string]any{"time": at.Format(time.RFC3339), "account": account, "ip": ip, "outcome": outcome}
		if random.IntN(2) == 0 {
			line["time"] = at.Unix()
		}
		if reason != "" {
			line["reason"] = reason
		}
		b, _ := json.Marshal(line) // of strings and a number, which cannot fail
		log.Write(append(b, '\n'))
	}
	add("alice", "203.0.113.9", "success", "") // each signed in the day before
	add("bob", "2001:db8:5:6::9", "success", "")
	for i := range n {
		from := address(i % 5)
		if random.IntN(5) == 0 {
			from = address(100 + random.IntN(1000))
		}
		switch random.IntN(10) {
		case 0, 1: // one of the addresses goes through a list of names
			add(fmt.Sprint("user", random.IntN(500)), address(0), "failure", "unknown_account")
		case 2:
			add("alice", from, "failure", "bad_password")
		default:
			add("root", from, "failure", "bad_password")
		}
		if i%20 == 0 {
			add("alice", "203.0.113.9", "success", "")
		}
		if i%60 == 0 {
			add("bob", "2001:db8:5:6::9", "failure", "bad_password")
			add("bob", "2001:db8:5:6::9", "success", "")
		}
	}
	return log.String()
}

// TestRecordedAttack feeds such a log through a running service on Redis: each
// line is decided, the accounts under attack give away their ten guesses, and
// no one who belongs there is denied.
func TestRecordedAttack(t *testing.T) {
	server := redisd.Start(t)
	s := service.Start(t, service.Options{Redis: server.URL()})
	log := attack(500)
	began := time.Now()
	got, err := feed.Run(context.Background(), s.Client(), strings.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Count(log, "\n"); got.Attempts != want || got.Failed() != 0 {
		t.Errorf("%d attempts with %v, want %d without an error", got.Attempts, got.Errors, want)
	}
	for _, account := range []string{"root", "alice"} {
		// Backoff lends one after 30 s, should the test have taken so long.
		if most := 10 + int(time.Since(began)/(30*time.Second)); got.Accounts[account].Guesses > most {
			t.Errorf("%d guesses at %s got through, want %d", got.Accounts[account].Guesses, account, most)
		}
	}
	if got.Accounts["root"].Guesses < 8 {
		t.Errorf("%d guesses at root got through: the networks should not have stopped them all", got.Accounts["root"].Guesses)
	}
	for limit, n := range got.People {
		t.Errorf("%d sign-ins with the right password were denied by %s", n, limit)
	}
	if got.Denied["account"] == 0 || got.Denied["network host"] == 0 {
		t.Errorf("denied by %v, want account and network host among them", got.Denied)
	}
	// A stranger's attempt at root is denied afterwards, too, on any instance.
	other := service.Start(t, service.Options{Redis: server.URL()})
	denied(t, other.Check(client.Attempt{Account: "root", IP: address(5000)}))
	stored(server)
}
