package storetest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"loginguard/store"
)

// Attack lets attackers with different habits guess at one account for so many
// days of a virtual clock, as fast as its limit lets them. What each may get is
//
//	capacity + days / interval + what the backoff lends
//
// where the last is paid back as long as the attack goes on: it shows only in
// guesses that are counted in the middle of a burst.
func Attack(t *testing.T, open Opener, days int64) {
	for _, a := range attackers() {
		t.Run(a.name, func(t *testing.T) {
			g := &guesser{t: t, h: open(t), limit: accountLimit(), now: start, end: start + days*day}
			a.run(g)
			g.bounds(days)
			// Whoever is not in a burst at the end has paid all back.
			most := 10 + 40*days
			if a.burst {
				most += lent(g.limit) / g.limit.Interval
			}
			if got := int64(len(g.at)); got > most || got < a.least*days {
				t.Errorf("%d guesses in %d days, want %d to %d", got, days, a.least*days, most)
			}
			t.Logf("%d guesses in %d days", len(g.at), days)
		})
	}
}

// lent returns the most that the backoff of l lends at one time, in
// microseconds of refill: after k waits k attempts are lent, and their time
// brought some of it back. By default that is seven attempts in the first 3810
// seconds, which are worth 5.2 attempts more than the refill.
func lent(l store.Limit) int64 {
	most, waited := int64(0), int64(0)
	for k, w := range l.Waits {
		waited += w
		most = max(most, int64(k+1)*l.Interval-waited)
	}
	return most
}

// guesser is one attack.
type guesser struct {
	t     *testing.T
	h     Harness
	limit store.Limit
	now   int64
	end   int64
	at    []int64 // moments of the admitted guesses
}

// guess makes one attempt now and returns its bucket, until the end.
func (g *guesser) guess() (b store.Bucket, more bool) {
	if g.now >= g.end {
		return b, false
	}
	out := g.h.take(g.t, only(guess("A", "far", g.now), onAccount))
	b = out.Buckets[0]
	if out.Outcome == store.Admitted {
		g.at = append(g.at, g.now)
	}
	if b.Wait > hour {
		g.t.Fatalf("a wait of %d seconds", b.Wait/second)
	}
	return b, true
}

// patient makes one attempt, waits as told, and must then be let in.
func (g *guesser) patient() (strikes int64, more bool) {
	b, more := g.guess()
	if !b.Dry || !more {
		return b.Strikes, more
	}
	g.now += b.Wait
	again, more := g.guess()
	if more && again.Dry {
		g.t.Fatalf("denied after the wait of %d that was told: %+v", b.Wait, again)
	}
	return b.Strikes, more
}

// bounds checks the guesses of every span within the attack, and of its first
// day.
func (g *guesser) bounds(days int64) {
	l := g.limit
	for i, from := range g.at {
		for j := i; j < len(g.at); j++ {
			if n, span := int64(j-i+1), g.at[j]-from; n*l.Interval > l.Capacity*l.Interval+span+lent(l) {
				g.t.Fatalf("%d guesses in %d seconds from second %d", n, span/second, (from-start)/second)
			}
		}
	}
	first := 0
	for _, at := range g.at {
		if at < start+day {
			first++
		}
	}
	if first > 60 {
		g.t.Errorf("%d guesses on the first day, want at most 60", first)
	}
}

type attacker struct {
	name  string
	run   func(*guesser)
	least int64 // guesses a day that a strategy gets, or it was not tried
	burst bool  // the attack may end in the middle of a burst
}

func attackers() []attacker {
	all := []attacker{
		{"who never stops", everyMinute, 20, false},
		{"who waits as told", asTold, 20, false},
		{"who never runs dry", neverDry, 39, false},
		{"who never runs dry but for the end", lastBurst, 39, true},
		{"at random", atRandom, 3, true},
	}
	for strikes := int64(1); strikes <= 8; strikes++ {
		name := fmt.Sprintf("who sleeps after %d waits until they are forgotten", strikes)
		all = append(all, attacker{name, func(g *guesser) { sleepAfter(g, strikes) }, 20, true})
	}
	return all
}

// everyMinute is greedy: whatever it is told, it tries again.
func everyMinute(g *guesser) {
	var until int64
	for {
		b, more := g.guess()
		if !more {
			return
		}
		// A wait that runs is neither prolonged nor cut by trying.
		if b.Dry && g.now < until && g.now+b.Wait != until {
			g.t.Fatalf("a denied attempt moved a wait by %d", g.now+b.Wait-until)
		}
		if until = 0; b.Dry {
			until = g.now + b.Wait
		}
		g.now += minute
	}
}

func asTold(g *guesser) {
	for {
		if _, more := g.patient(); !more {
			return
		}
	}
}

// neverDry knows the limit and never tries in vain.
func neverDry(g *guesser) {
	for {
		b, more := g.guess()
		if !more {
			return
		}
		if b.Dry {
			g.t.Fatalf("denied: %+v", b)
		}
		if b.Remaining() == 0 {
			g.now += b.Missing + g.limit.Interval - g.limit.Capacity*g.limit.Interval
		}
	}
}

// lastBurst does the same and takes all that the backoff lends at the end.
func lastBurst(g *guesser) {
	end := g.end
	g.end -= 3811 * second
	neverDry(g)
	g.end = end
	g.now = end - 3811*second
	asTold(g)
}

// sleepAfter guesses until it has waited so many times, then sleeps until all
// strikes are forgotten.
func sleepAfter(g *guesser, most int64) {
	for {
		strikes, more := g.patient()
		if !more {
			return
		}
		if strikes >= most {
			g.now += g.limit.Forget
		}
	}
}

// atRandom mixes all of it; every run of the test draws the same.
func atRandom(g *guesser) {
	draw := rand.New(rand.NewPCG(1, 2))
	for {
		b, more := g.guess()
		if !more {
			return
		}
		switch draw.IntN(8) {
		case 0:
			g.now += g.limit.Forget
		case 1:
			g.now += draw.Int64N(2 * g.limit.Interval)
		case 2:
			g.now += draw.Int64N(minute)
		default:
			g.now += b.Wait
		}
	}
}
