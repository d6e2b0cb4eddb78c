package chaos

import (
	"strings"
	"sync"
	"testing"
	"time"

	"loginguard/test/internal/client"
	"loginguard/test/internal/redisd"
	"loginguard/test/internal/service"
)

const (
	// fleet is how many instances share one Redis.
	fleet = 3

	// tokens is the capacity of each account here.
	tokens = 10

	// pressure is how many attempts an account gets under load: more than it
	// has tokens, and from every instance.
	pressure = 15
)

// slowRefill is [roomy] with accounts that get nothing back while a test runs.
var slowRefill = strings.Replace(roomy, "limits:\n",
	"limits:\n  account: {capacity: 10, refill: 10/10h, backoff: {base: 1h, factor: 1, max: 1h, forget: 6h}}\n", 1)

// TestKilledInstanceLosesNothing kills one of three instances under load, as
// the kernel does when memory is short. What it had admitted stays charged,
// for all others; nothing fails but what it was answering.
func TestKilledInstanceLosesNothing(t *testing.T) {
	b := balanced(t)
	b.busy(300)
	b.kill(1)
	b.busy(300)
	b.end()
	b.judge()
}

// TestRollingRestartLosesNothing restarts one instance after the other under
// load. By SIGTERM no request fails at all: what is taken is answered. By kill
// -9 those fail that the killed one was answering.
func TestRollingRestartLosesNothing(t *testing.T) {
	for _, way := range []struct {
		name string
		stop func(*balancer, int)
		most int // requests lost with each instance
	}{
		{"SIGTERM", (*balancer).terminate, 0},
		{"kill -9", (*balancer).kill, callers},
	} {
		t.Run(way.name, func(t *testing.T) {
			b := balanced(t)
			for i := range fleet {
				b.busy(100)
				way.stop(b, i)
				b.busy(100)
				b.start(i)
			}
			b.busy(100)
			b.end()
			b.judge()
			if n := len(b.lost); n > fleet*way.most {
				t.Errorf("%d requests were taken and not answered, want at most %d: %v", n, fleet*way.most, b.lost[0].err)
			}
		})
	}
}

// balanced starts a store, the instances and the load on them.
func balanced(t *testing.T) *balancer {
	t.Helper()
	b := &balancer{t: t, redis: redisd.Start(t), stop: make(chan struct{}), admitted: map[string]int{}}
	for i := range fleet {
		b.start(i)
	}
	for i := range fleet {
		working(t, b.slots[i].Load().Service)
	}
	for n := range callers {
		b.all.Go(func() { b.call(n) })
	}
	t.Cleanup(b.end)
	return b
}

// judge compares what was admitted with what the accounts had. The accounts
// whose attempts were not all made yet are spent first.
func (b *balancer) judge() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	unanswered := make(map[string]int)
	for _, l := range b.lost {
		if !l.at.dead() && !l.at.terminated() {
			b.t.Errorf("an instance that runs did not answer: %v", l.err)
		}
		if l.at.dead() && l.fresh && l.begun.After(l.at.diedAt()) {
			b.t.Errorf("a dead instance took a request: %v", l.err)
		}
		unanswered[l.account]++
	}
	var exact sync.Map
	var all sync.WaitGroup
	places := make(chan struct{}, callers)
	for account, n := range b.admitted {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			for i := range tokens + 1 {
				d := b.anyone().Check(client.Attempt{Account: account, IP: address(40000 + i)})
				if !d.Allowed() {
					break
				}
				n++
			}
			exact.Store(account, n)
		})
	}
	all.Wait()
	short := 0
	exact.Range(func(account, total any) bool {
		n, most := total.(int), unanswered[account.(string)]
		if n > tokens || n < tokens-most {
			b.t.Errorf("%s was admitted %d times with %d requests unanswered, want %d", account, n, most, tokens)
		}
		if n < tokens {
			short++
		}
		return true
	})
	b.t.Logf("%d accounts, %d answers, %d refused and sent elsewhere, %d not answered, %d accounts charged for these",
		len(b.admitted), b.answers.Load(), b.refused.Load(), len(b.lost), short)
	if len(b.admitted) < 20 {
		b.t.Errorf("only %d accounts were tried: there was no load", len(b.admitted))
	}
}

// anyone returns an instance that runs.
func (b *balancer) anyone() *service.Service {
	for i := range fleet {
		if s := b.slots[i].Load(); !s.dead() && !s.terminated() {
			return s.Service
		}
	}
	b.t.Error("no instance runs")
	return b.slots[0].Load().Service
}

// busy waits until so many more requests have been answered.
func (b *balancer) busy(n int64) {
	b.t.Helper()
	until := b.answers.Load() + n
	service.Await(b.t, 30*time.Second, "the load to go on", func() bool { return b.answers.Load() >= until })
}
