package efficacy

// wforce is the example policy that comes with wforce (wforce.conf.example): an
// account at which more than 90 different passwords were tried within an hour,
// in windows of ten minutes, is blacklisted for 300 seconds. Its other rules
// need a database of countries, of which a trace has none, and lists of one's
// own. Attempts that it refuses are not reported back to it here, or an attack
// would never let the account go.
type wforce struct{ users map[string]*tried }

type tried struct {
	passwords map[string]int64 // to the ten minutes in which it was last seen
	until     int64
}

func newWforce() *wforce { return &wforce{make(map[string]*tried)} }

func (m *wforce) try(a *Attempt) Answer {
	const window, windows, most = 10 * minute, 6, 90
	u := m.users[a.Account]
	if u == nil {
		u = &tried{passwords: make(map[string]int64)}
		m.users[a.Account] = u
	}
	if a.At < u.until {
		return denied(u.until - a.At)
	}
	now := a.At / window
	if len(u.passwords) > most {
		for word, at := range u.passwords {
			if at <= now-windows {
				delete(u.passwords, word)
			}
		}
		if len(u.passwords) > most {
			u.until = a.At + 300*second
			return denied(300 * second)
		}
	}
	u.passwords[a.Password] = now
	return allowed
}
