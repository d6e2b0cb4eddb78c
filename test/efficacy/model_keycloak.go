package efficacy

// keycloak is Keycloak's brute force detection with temporary lockout, which is
// off by default, with the values it has when it is switched on: 30 failures,
// 60 seconds times (failures / 30), at most 15 minutes, and a minute for two
// failures within a second. A success resets the count, and so do 12 hours
// without a failure. Attempts during a lock are refused and not counted.
type keycloak struct{ users map[string]*keycloakUser }

type keycloakUser struct {
	failures    int64
	last, until int64
}

func newKeycloak() *keycloak { return &keycloak{make(map[string]*keycloakUser)} }

func (m *keycloak) try(a *Attempt) Answer {
	u := m.users[a.Account]
	if u != nil && a.At < u.until {
		return denied(u.until - a.At)
	}
	switch {
	case a.Right:
		delete(m.users, a.Account)
		return allowed
	case a.Unknown:
		return allowed // only users are counted
	case u == nil:
		u = new(keycloakUser)
		m.users[a.Account] = u
	}
	quick := u.failures > 0 && a.At-u.last < second
	if a.At-u.last > 12*hour {
		u.failures = 0
	}
	u.failures++
	u.last = a.At
	wait := min(u.failures/30*minute, 15*minute)
	if wait == 0 && quick {
		wait = minute
	}
	u.until = a.At + wait
	return allowed
}
