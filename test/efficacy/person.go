package efficacy

import (
	"slices"
	"strconv"
	"time"
)

// patience is how long people go on trying before they give a sign-in up.
const patience = 15 * minute

// session is one sign-in that a person begins.
type session struct {
	at     int64
	from   *Place
	device bool  // in the browser that keeps the person's device token
	wrong  int   // wrong passwords typed before the right one
	gap    int64 // between two tries
}

// person signs in again and again. Denied, a person waits as long as told (half
// a minute, then twice as long, where the answer does not say) and tries again,
// and gives up after a quarter of an hour. Told to wait longer than that, a
// person tries once more at once.
//
// A sign-in is lost when its right password was denied at the first try, even
// if a later one got in.
type person struct {
	account  string
	base     *Place    // where it is at home
	sessions []session // in the order of time
	tally    *Tally

	i       int   // session that runs
	typed   int   // wrong passwords typed in it
	began   int64 // of the first denial in it, 0 for none
	denials int   // in it
	lost    bool  // a right password was denied in it
	dared   bool  // tried before the end of a wait that is too long for it
	trusted bool  // its browser has signed in
	known   []string
}

// browser is the one browser of a person that keeps a device token.
const browser = "browser"

func (p *person) act(now int64) Attempt {
	s := &p.sessions[p.i]
	a := Attempt{At: now, Account: p.account, From: s.from, Password: rightOf(p.account), Right: true}
	if s.device {
		a.Device = browser
	}
	if p.typed < s.wrong {
		a.Password, a.Right = a.Password+"?"+strconv.Itoa(p.typed), false
	}
	return a
}

// rightOf stands for the right password of an account.
func rightOf(account string) string { return account + ":" }

func (p *person) learn(a *Attempt, answer Answer) int64 {
	s := &p.sessions[p.i]
	counts := s.at >= p.tally.from
	if answer.Challenged {
		// Solved at once; those who solve them for attackers are counted
		// where challenges are compared.
		if counts && a.Right {
			p.tally.Asked++
		}
		answer.Allowed = true
	}
	switch {
	case answer.Allowed && a.Right:
		p.trusted = p.trusted || s.device
		if !slices.Contains(p.known, a.From.Block) {
			p.known = append(p.known, a.From.Block)
		}
		return p.next(a.At, counts)
	case answer.Allowed:
		p.typed++
		return a.At + s.gap
	}
	if p.began == 0 {
		p.began = a.At
	}
	if a.Right && !p.lost {
		p.lost = true
		if counts {
			p.tally.Lost++
			if s.device && p.trusted || slices.Contains(p.known, a.From.Block) {
				p.tally.Known++
			}
		}
	}
	if !a.Right {
		p.typed++ // the next try is another one
	}
	wait := answer.Wait
	if wait == 0 {
		wait = 30 * time.Second << min(p.denials, 5)
	}
	p.denials++
	next := a.At + max(wait.Microseconds(), 5*second)
	if next-p.began > patience && !p.dared {
		p.dared = true
		next = a.At + minute/2
	}
	if next-p.began <= patience {
		return next
	}
	if counts && p.lost {
		p.tally.Never++
	}
	return p.next(a.At, counts)
}

// next ends the session that runs.
func (p *person) next(now int64, counts bool) int64 {
	if counts {
		p.tally.SignIns++
	}
	p.i++
	p.typed, p.began, p.denials, p.lost, p.dared = 0, 0, 0, false, false
	if p.i == len(p.sessions) {
		return 0
	}
	return max(p.sessions[p.i].at, now+second)
}
