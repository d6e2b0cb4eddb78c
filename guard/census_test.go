package guard

import (
	"context"
	"fmt"
	"testing"
	"time"

	"loginguard/policy"
)

func TestCensusCountsPeopleAndWhatIsLeft(t *testing.T) {
	for _, shards := range []bool{false, true} {
		b := newBench(t, limits(func(c *policy.Config) { c.Shards = shards }))
		for i := range 40 {
			b.signIn(from(user(i), elsewhere(i))) // 40 people, 40 x 0.05 tokens more
		}
		b.guesses(30, func(i int) Request { return from(fmt.Sprint("victim", i), elsewhere(100+i)) })
		before := b.mem.Len()
		b.count(context.Background(), b.Rules().Policy, 0)
		if b.mem.Len() != before {
			t.Errorf("shards %t: looking wrote something", shards)
		}
		capacity := 1000 + 2
		if shards {
			capacity = 1000 // 125 in each of 8, and no shard has 20 people
		}
		want := fmt.Sprintf("counted default 40 %d %d", capacity, capacity-30)
		if b.seen.count(want) != 1 {
			t.Errorf("shards %t: no %q in %q", shards, want, b.seen.lines[len(b.seen.lines)-16:])
		}
		if b.seen.count("counted shop 0 1000 1000") != 1 || b.seen.count("counted hidden 0 1000 1000") != 1 {
			t.Errorf("shards %t: not every realm is told", shards)
		}
	}
}

func TestCensusOfALimitThatDoesNotGrow(t *testing.T) {
	b := newBench(t, limits(func(c *policy.Config) { c.Limits.Global.PerUser, c.Limits.Global.MaxCapacity = 0, 0 }))
	b.signIn(from("alice", home))
	b.count(context.Background(), b.Rules().Policy, 0)
	if b.seen.count("counted default -1 1000 1000") != 1 {
		t.Errorf("told %q", b.seen.lines)
	}
	b = newBench(t, limits(func(c *policy.Config) { c.Limits.Global.Mode = policy.Off }))
	b.count(context.Background(), b.Rules().Policy, 0)
	if b.seen.count("store census ") != 0 {
		t.Error("the store is asked about a limit that is off")
	}
}

// TestCensusTellsNothingWithoutTheStore, and does not let one realm that
// cannot be read hide the others for ever.
func TestCensusTellsNothingWithoutTheStore(t *testing.T) {
	s := new(looking)
	b := newBench(t, func(c *setup) { s.Store, c.store = c.store, s })
	s.broken.Store(true)
	next := b.count(context.Background(), b.Rules().Policy, 0)
	if next != 1 || s.n.Load() != 1 || b.seen.count("counted default 0 1000 1000") != 0 {
		t.Errorf("goes on at %d after %d looks and told %q, want 1 after 1 and nothing", next, s.n.Load(), b.seen.lines)
	}
	s.broken.Store(false)
	if next = b.count(context.Background(), b.Rules().Policy, next); next != 1 || b.seen.count("counted hidden 0 1000 1000") != 1 {
		t.Errorf("goes on at %d and told %q", next, b.seen.lines)
	}

	// With the breaker open the store is not even asked.
	s.broken.Store(true)
	for range breakerTrips {
		b.check(from("alice", home))
	}
	asked := s.n.Load()
	b.count(context.Background(), b.Rules().Policy, 0)
	if s.n.Load() != asked {
		t.Errorf("a store that is down is asked %d times", s.n.Load()-asked)
	}
}

// TestCensusIsBounded: very many realms take turns.
func TestCensusIsBounded(t *testing.T) {
	const realms = 70 // of 8 shards
	c := policy.Defaults()
	c.Shards = true
	for i := range realms - 1 {
		c.Realms = append(c.Realms, fmt.Sprint("realm", i))
	}
	p, err := policy.New(c)
	if err != nil {
		t.Fatal(err)
	}
	s := new(looking)
	b := newBench(t, func(c *setup) { s.Store, c.store = c.store, s })
	next := 0
	for range 3 {
		s.n.Store(0)
		if next = b.count(context.Background(), p, next); s.n.Load() > censusMost {
			t.Errorf("%d looks at once, at most %d wanted", s.n.Load(), censusMost)
		}
	}
	for i := range realms - 1 {
		if b.seen.count(fmt.Sprintf("counted realm%d 0 1000 1000", i)) == 0 {
			t.Errorf("realm %d was never read in three turns", i)
		}
	}
}

func TestCensusRunsInTheBackground(t *testing.T) {
	told := make(chan string, 8)
	b := newBench(t, func(c *setup) {
		c.o.CensusEvery = 10 * time.Millisecond
		c.o.Observer = &counting{recorder: new(recorder), told: told}
	})
	_ = b
	for range 4 { // at least the second round
		select {
		case <-told:
		case <-time.After(10 * time.Second):
			t.Fatal("nothing is counted")
		}
	}
}

// counting says who was counted.
type counting struct {
	*recorder
	told chan string
}

func (c *counting) Counted(realm string, _ Census) {
	select {
	case c.told <- realm:
	default:
	}
}
