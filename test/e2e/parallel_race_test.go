package e2e

import (
	"fmt"
	"testing"

	"loginguard/test/internal/client"
	"loginguard/test/internal/redisd"
	"loginguard/test/internal/service"
)

// fleet starts n instances: on one new Redis, or one alone on memory for n 0.
func fleet(t *testing.T, n int) []*service.Service {
	t.Helper()
	if n == 0 {
		return []*service.Service{service.Start(t, service.Options{})}
	}
	url := redisd.Start(t).URL()
	var all []*service.Service
	for range n {
		all = append(all, service.Start(t, service.Options{Redis: url}))
	}
	return all
}

var fleets = []struct {
	name      string
	instances int
}{{"memory", 0}, {"two instances on redis", 2}}

// TestParallelGuessesShareOneBudget sends 300 checks for one account at the
// same moment, each from another network: limiters that read, decide and write
// in separate steps let most of them through.
func TestParallelGuessesShareOneBudget(t *testing.T) {
	for _, f := range fleets {
		t.Run(f.name, func(t *testing.T) {
			answers := storm(300, func(i int) client.Attempt {
				return client.Attempt{Account: "alice", IP: address(i)}
			}, fleet(t, f.instances)...)
			if got := len(admitted(t, answers)); got != 10 {
				t.Errorf("%d of 300 parallel guesses were admitted, want 10", got)
			}
			for _, d := range answers {
				if !d.Allowed() && d.Limit != "account" {
					t.Errorf("denied by %s, want account", d.Limit)
				}
			}
		})
	}
}

func TestParallelGuessesAtThreeAccounts(t *testing.T) {
	for _, f := range fleets {
		t.Run(f.name, func(t *testing.T) {
			answers := storm(900, func(i int) client.Attempt {
				return client.Attempt{Account: fmt.Sprint("account", i%3), IP: address(i)}
			}, fleet(t, f.instances)...)
			for account := range 3 {
				var own []client.Decision
				for i := account; i < len(answers); i += 3 {
					own = append(own, answers[i])
				}
				if got := len(admitted(t, own)); got != 10 {
					t.Errorf("account %d: %d of 300 were admitted, want 10", account, got)
				}
			}
		})
	}
}

func TestThreeInstancesInTurnShareOneBudget(t *testing.T) {
	all := fleet(t, 3)
	var answers []client.Decision
	for i := range 45 {
		answers = append(answers, all[i%3].Check(client.Attempt{Account: "alice", IP: address(i)}))
	}
	if got := len(admitted(t, answers)); got != 10 {
		t.Errorf("%d were admitted, want 10", got)
	}
}

// TestChargedFromCheckUntilReport holds back the reports: what is being
// verified counts, so that slow password hashing opens no gap.
func TestChargedFromCheckUntilReport(t *testing.T) {
	onEachStore(t, service.Options{}, func(t *testing.T, s *service.Service) {
		guesses := func(from int) []string {
			return admitted(t, storm(40, func(i int) client.Attempt {
				return client.Attempt{Account: "alice", IP: address(from + i)}
			}, s))
		}
		first := guesses(0)
		if len(first) != 10 {
			t.Fatalf("%d were admitted, want 10", len(first))
		}
		if more := guesses(100); len(more) != 0 {
			t.Fatalf("%d more were admitted while 10 were being verified", len(more))
		}
		for _, attempt := range first {
			report(t, s, attempt, "success")
		}
		// From networks of which the account knows nothing.
		if again := guesses(200); len(again) != 10 {
			t.Errorf("%d were admitted after the 10 were given back, want 10", len(again))
		}
	})
}

// TestParallelSignInsAreNoOffence is an owner whose programs all sign in at
// once.
func TestParallelSignInsAreNoOffence(t *testing.T) {
	for _, n := range []int{4, 6} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			onEachStore(t, service.Options{}, func(t *testing.T, s *service.Service) {
				owner := client.Attempt{Account: "alice", IP: "203.0.113.9"}
				attempts := admitted(t, storm(n, func(int) client.Attempt { return owner }, s))
				if len(attempts) != n {
					t.Fatalf("%d of %d were admitted", len(attempts), n)
				}
				for _, a := range attempts {
					report(t, s, a, "success")
				}
				// A stranger's view, since the owner is at home now.
				if left := s.Explain(client.Attempt{Account: "alice", IP: address(1)}).Find("account", "").Remaining; left != 10 {
					t.Errorf("the account has %d left, want 10", left)
				}
			})
		})
	}
}
