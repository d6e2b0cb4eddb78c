package efficacy

import "slices"

// entra is Microsoft Entra smart lockout: ten failures lock an account for a
// minute, and each failure after that for longer. Familiar and unfamiliar
// locations are counted apart, and the last three wrong passwords are not
// counted again. How fast the lock grows is not disclosed: here it doubles, to
// an hour at most. A familiar location is a network from which the account has
// signed in. A success resets the counter that it met.
//
// What else Microsoft does in its cloud about addresses it does not publish.
type entra struct{ users map[string]*entraUser }

type entraUser struct {
	familiar []string // networks
	counters [2]entraCounter
}

type entraCounter struct {
	failures int
	until    int64
	last     []string // wrong passwords
}

func newEntra() *entra { return &entra{make(map[string]*entraUser)} }

func (m *entra) try(a *Attempt) Answer {
	u := m.users[a.Account]
	if u == nil {
		if a.Unknown {
			return allowed
		}
		u = new(entraUser)
		m.users[a.Account] = u
	}
	c := &u.counters[0]
	known := slices.Contains(u.familiar, a.From.Block)
	if known {
		c = &u.counters[1]
	}
	if a.At < c.until {
		return denied(c.until - a.At)
	}
	if a.Right {
		*c = entraCounter{}
		if !known {
			u.familiar = append(u.familiar, a.From.Block)
		}
		return allowed
	}
	if slices.Contains(c.last, a.Password) {
		return allowed
	}
	if c.last = append(c.last, a.Password); len(c.last) > 3 {
		c.last = c.last[1:]
	}
	if c.failures++; c.failures >= 10 {
		c.until = a.At + min(minute<<min(c.failures-10, 6), hour)
	}
	return allowed
}
