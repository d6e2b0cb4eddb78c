package chaos

import (
	"fmt"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"

	"loginguard/test/internal/client"
	"loginguard/test/internal/service"
	"loginguard/test/internal/topology"
)

// TestClusterEndToEnd runs three instances of the program on a cluster: 200
// parallel guesses at one account are exactly 10, the global limit is in
// shards, a sign-in gives back what it was charged at every group and makes its
// network familiar, and a check that is sent twice is one.
func TestClusterEndToEnd(t *testing.T) {
	c := topology.StartCluster(t)
	var services []*service.Service
	for range 3 {
		services = append(services, service.Start(t, service.Options{Redis: c.URL()}))
	}
	working(t, services...)
	c.Flush()

	var (
		all     sync.WaitGroup
		allowed atomic.Int64
	)
	for i := range 200 {
		all.Go(func() {
			d := services[i%3].Check(client.Attempt{Account: "alice", IP: address(i)})
			switch {
			case d.Allowed():
				allowed.Add(1)
			case d.Status == 429 && d.RetryAfter >= 1:
			case d.Status == 503 && d.Limit == "global":
				// Attempts under way are counted at the account's shard until
				// the account denies them: strict, for a moment.
			default:
				t.Errorf("answered %d: %s", d.Status, d.Body)
			}
		})
	}
	all.Wait()
	if n := allowed.Load(); n != 10 {
		t.Errorf("%d of 200 guesses were allowed, want 10", n)
	}
	// An account has its shard; many accounts have all of them.
	for i := range 40 {
		if d := services[i%3].Check(client.Attempt{Account: fmt.Sprint("account", i), IP: address(i)}); !d.Allowed() {
			t.Errorf("account %d was answered %d: %s", i, d.Status, d.Body)
		}
	}
	shard := regexp.MustCompile(`^lg:\{default:[0-7]\}:g$`)
	shards := 0
	for key := range c.Values(t) {
		if shard.MatchString(key) {
			shards++
		}
		if key == "lg:{default}:g" {
			t.Error("the global limit is one key")
		}
	}
	if shards < 4 {
		t.Errorf("%d shards of the global limit, want several", shards)
	}

	c.Flush()
	home := client.Attempt{Account: "bob", IP: "203.0.113.9", ID: "one"}
	first, again := services[0].Check(home), services[1].Check(home)
	if !first.Allowed() || !again.Allowed() || first.Attempt != again.Attempt {
		t.Fatalf("the same check was answered %d and %d: %s %s", first.Status, again.Status, first.Body, again.Body)
	}
	if left := services[2].Explain(home).Find("account", "").Remaining; left != 9 {
		t.Errorf("%d are left, want 9", left)
	}
	if a := services[2].Report(first.Attempt, "success"); !a.Applied {
		t.Fatalf("the report was answered %d: %s", a.Status, a.Body)
	}
	if a := services[0].Report(first.Attempt, "failure"); a.Applied {
		t.Error("a second report was applied")
	}
	e := services[1].Explain(client.Attempt{Account: "bob", IP: "203.0.113.9"})
	if !e.Familiar {
		t.Errorf("the network is not familiar: %s", e.Body)
	}
	for _, l := range services[1].Explain(client.Attempt{Account: "carol", IP: "203.0.113.9"}).Limits {
		if l.Remaining != l.Capacity {
			t.Errorf("%s %s: %d of %d are left, want all", l.Limit, l.Level, l.Remaining, l.Capacity)
		}
	}
	if f := services[0].Forget(client.Forget{Network: "203.0.113.0/24"}); f.Status != 200 {
		t.Errorf("forget was answered %d: %s", f.Status, f.Body)
	}
}
