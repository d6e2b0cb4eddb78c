package efficacy

// actor is a person, a program or an attacker: something that makes one attempt
// after the other and sees how each was answered.
type actor interface {
	// act returns the attempt that is due now.
	act(now int64) Attempt
	// learn takes the answer and returns the moment of the next attempt, later
	// than this one, or 0 when there is none.
	learn(a *Attempt, answer Answer) int64
}

// turn is an actor's next attempt. Turns of the same moment are taken in the
// order in which the actors came, so that a run can be repeated.
type turn struct {
	at    int64
	order int
	who   actor
}

func (t turn) before(o turn) bool { return t.at < o.at || t.at == o.at && t.order < o.order }

// world is the heap of turns: the earliest is the first.
type world struct{ turns []turn }

// add lets an actor in.
func (w *world) add(at int64, who actor) {
	w.push(turn{at, len(w.turns), who})
}

func (w *world) push(t turn) {
	w.turns = append(w.turns, t)
	i := len(w.turns) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !w.turns[i].before(w.turns[up]) {
			break
		}
		w.turns[i], w.turns[up] = w.turns[up], w.turns[i]
		i = up
	}
}

// sink puts the turn at the top where it belongs.
func (w *world) sink() {
	for i := 0; ; {
		down := 2*i + 1
		if down >= len(w.turns) {
			return
		}
		if down+1 < len(w.turns) && w.turns[down+1].before(w.turns[down]) {
			down++
		}
		if !w.turns[down].before(w.turns[i]) {
			return
		}
		w.turns[i], w.turns[down] = w.turns[down], w.turns[i]
		i = down
	}
}

// run plays until the moment end.
func (w *world) run(p Policy, tally *Tally, end int64) error {
	for len(w.turns) > 0 && w.turns[0].at < end {
		t := &w.turns[0]
		a := t.who.act(t.at)
		answer, err := p.Try(&a)
		if err != nil {
			return err
		}
		if a.Guess {
			tally.guess(&a, answer)
		} else if answer.Allowed && a.Right {
			tally.signedIn(&a)
		}
		if next := t.who.learn(&a, answer); next > 0 {
			t.at = max(next, t.at+1)
		} else {
			last := len(w.turns) - 1
			w.turns[0] = w.turns[last]
			w.turns = w.turns[:last]
		}
		w.sink()
	}
	return nil
}
