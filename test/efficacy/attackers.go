package efficacy

import "fmt"

// stream is an attacker who does not care what is answered: one attempt after
// the other at a steady pace, from wherever it is not yet blocked.
type stream struct {
	every   int64
	left    int
	attempt func(n int) Attempt // the n-th, without time
	n       int
}

func (s *stream) act(now int64) Attempt {
	a := s.attempt(s.n)
	a.At = now
	return a
}

func (s *stream) learn(a *Attempt, _ Answer) int64 {
	if s.n++; s.n >= s.left {
		return 0
	}
	return a.At + s.every
}

// attack lets a stream of n attempts in, spread over the time from start to end.
// The small edition has a tenth of them, which still is more than any limit of
// loginguard lets through.
func (b *builder) attack(start, end int64, n int, attempt func(n int) Attempt) {
	n = b.size(n)
	b.world.add(start, &stream{every: (end - start) / int64(n), left: n, attempt: attempt})
}

// guessAt returns a wrong guess at an account, of a dictionary in its order.
func guessAt(account string, from *Place, n int) Attempt {
	return Attempt{Account: account, From: from, Password: fmt.Sprintf("dictionary%d", n), Guess: true}
}

// pacer guesses at one account from ever new addresses as fast as its answers
// allow: at once after each guess, at the end of the wait after a denial. When
// waits have grown to as long as it bears, it pauses, so that they are forgotten.
type pacer struct {
	account string
	from    func() *Place
	gap     int64 // between two guesses
	bears   int64 // longest wait, 0 for any
	pause   int64
	n       int
}

func (p *pacer) act(now int64) Attempt {
	a := guessAt(p.account, p.from(), p.n)
	p.n++
	a.At = now
	return a
}

func (p *pacer) learn(a *Attempt, answer Answer) int64 {
	if answer.Allowed {
		return a.At + p.gap
	}
	wait := max(answer.Wait.Microseconds(), 10*second)
	if p.bears > 0 && wait > p.bears {
		wait = max(wait, p.pause)
	}
	return a.At + wait
}

// creeper guesses at one account from ever new addresses just below what is
// noticed: it slows down by half when it was denied, and gets a tenth faster
// after every ten guesses that were not.
type creeper struct {
	account string
	from    func() *Place
	every   int64
	least   int64 // of every
	row     int   // guesses since the last denial
	n       int
}

func (c *creeper) act(now int64) Attempt {
	a := guessAt(c.account, c.from(), c.n)
	c.n++
	a.At = now
	return a
}

func (c *creeper) learn(a *Attempt, answer Answer) int64 {
	if !answer.Allowed {
		c.row = 0
		c.every += c.every / 2
		return a.At + max(answer.Wait.Microseconds(), c.every)
	}
	if c.row++; c.row%10 == 0 {
		c.every = max(c.least, c.every*9/10)
	}
	return a.At + c.every
}

// launderer signs in to an account of its own after every few guesses, from the
// same address: what a success gives back, it gives to the guesses.
type launderer struct {
	own     string
	victims []string
	from    []*Place
	every   int64
	n       int
}

func (l *launderer) act(now int64) Attempt {
	from := l.from[l.n%len(l.from)]
	if l.n%3 == 2 {
		return Attempt{At: now, Account: l.own, From: from, Device: browser, Password: rightOf(l.own), Right: true}
	}
	a := guessAt(l.victims[l.n%len(l.victims)], from, l.n)
	a.At = now
	return a
}

func (l *launderer) learn(a *Attempt, _ Answer) int64 {
	l.n++
	return a.At + l.every
}

// phone is a mail program of an owner that asks for mail again and again, with
// the old password until somebody tells it the new one.
type phone struct {
	account string
	from    func(now int64) *Place
	every   int64
	fixed   int64 // moment from which it has the right password
	left    int   // times it asks from then on
	tally   *Tally
}

func (p *phone) act(now int64) Attempt {
	a := Attempt{At: now, Account: p.account, From: p.from(now), Password: rightOf(p.account), Right: true}
	if now < p.fixed {
		a.Password, a.Right = "old password of "+p.account, false
	}
	return a
}

func (p *phone) learn(a *Attempt, answer Answer) int64 {
	if a.Right {
		p.tally.SignIns++
		if !answer.Allowed && !answer.Challenged {
			p.tally.Lost++
			p.tally.Known++
		}
		if p.left--; p.left == 0 {
			return 0
		}
	}
	return a.At + p.every
}
