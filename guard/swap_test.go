package guard

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"loginguard/policy"
)

// sized returns rules that are told apart by every capacity and lifetime: all
// end in the same digit.
func sized(t *testing.T, digit int64) Rules {
	c := policy.Defaults()
	c.AttemptTTL = time.Duration(100+digit) * time.Second
	l := &c.Limits
	for limit, capacity := range map[*policy.Limit]int64{
		&l.Account: 10, &l.Host: 1000, &l.Subnet: 10_000, &l.Global: 100_000, &l.Password: 1000,
	} {
		limit.Capacity, limit.PerUser = capacity+digit, 0
	}
	return newRules(t, c)
}

func TestEveryDecisionUsesOneSetOfRules(t *testing.T) {
	b := newBench(t)
	sets := []Rules{sized(t, 1), sized(t, 2)}
	b.Swap(sets[0])
	var (
		workers sync.WaitGroup
		stop    = make(chan struct{})
		swapped sync.WaitGroup
		mu      sync.Mutex
		seen    = map[int64]int{}
	)
	swapped.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				b.Swap(sets[i%2])
			}
		}
	})
	for w := range 4 {
		workers.Go(func() {
			for i := range 300 {
				q := tagged(fmt.Sprintf("user%d-%d", w, i), home, fmt.Sprintf("tag%d-%d", w, i))
				d, err := b.Check(context.Background(), idp, q)
				if err != nil || d.Verdict != Allow {
					t.Errorf("decided %s, %v", d.Verdict, err)
					return
				}
				digit := int64(d.ExpiresIn/time.Second) % 10
				for _, m := range d.Meters {
					if m.Capacity%10 != digit {
						t.Errorf("one decision has the lifetime of rules %d and the %s %s of others: %d", digit, m.Limit, m.Level, m.Capacity)
					}
				}
				mu.Lock()
				seen[digit]++
				mu.Unlock()
				if _, err := b.Report(context.Background(), idp, Report{Attempt: d.Attempt, Outcome: Success}); err != nil {
					t.Errorf("report: %v", err)
				}
			}
		})
	}
	workers.Wait()
	close(stop)
	swapped.Wait()
	if seen[1] == 0 || seen[2] == 0 || seen[1]+seen[2] != 1200 {
		t.Errorf("decisions by rules %v, want 1200 by both", seen)
	}
}

func TestAttemptIsSettledUnderOtherRules(t *testing.T) {
	b := newBench(t)
	d := b.allowed(from("alice", home))
	c := policy.Defaults()
	c.Limits.Account.Mode = policy.Off
	c.Limits.Global.Capacity = 500
	c.Routes["login"] = policy.Route{Cost: 4, Success: policy.SuccessNone}
	b.Swap(newRules(t, c))
	b.report(Report{Attempt: d.Attempt, Outcome: Success})
	b.Swap(newRules(t, policy.Defaults()))
	e := b.explain(from("alice", home))
	if !e.Familiar {
		t.Error("the success taught nothing, want what the route said when the attempt began")
	}
	for _, l := range b.explain(from("alice", away)).Limits {
		if l.Remaining != l.Capacity {
			t.Errorf("%s %s has %d of %d tokens, want all given back", l.Limit, l.Level, l.Remaining, l.Capacity)
		}
	}
}

func TestRulesAreThoseInForce(t *testing.T) {
	b := newBench(t)
	r := sized(t, 3)
	b.Swap(r)
	if b.Rules() != r {
		t.Error("the rules are not the ones that were put in force")
	}
}
