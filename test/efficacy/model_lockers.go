package efficacy

// fail2ban bans an address for ten minutes (bantime) at the fifth failure
// (maxretry) within ten (findtime). It reads a log, which takes it no time here.
type fail2ban struct{ addresses map[string]*banned }

type banned struct {
	failures []int64 // moments
	until    int64
}

func newFail2ban() *fail2ban { return &fail2ban{make(map[string]*banned)} }

func (m *fail2ban) try(a *Attempt) Answer {
	b := m.addresses[a.From.IP]
	if b != nil && a.At < b.until {
		return denied(b.until - a.At)
	}
	if a.Right {
		return allowed
	}
	if b == nil {
		b = new(banned)
		m.addresses[a.From.IP] = b
	}
	b.failures = append(recent(b.failures, a.At-10*minute), a.At)
	if len(b.failures) >= 5 {
		b.until, b.failures = a.At+10*minute, nil
	}
	return allowed
}

// recent drops the moments before since.
func recent(moments []int64, since int64) []int64 {
	i := 0
	for i < len(moments) && moments[i] <= since {
		i++
	}
	return moments[i:]
}

// devise is the lockable module of Devise: the twentieth failure in a row locks
// an account for an hour (maximum_attempts, unlock_in); a success before that
// starts again. That its owner may also unlock it by a mailed link is left out,
// since that is no sign-in.
type devise struct{ users map[string]*locked }

type locked struct {
	failures int
	until    int64
}

func newDevise() *devise { return &devise{make(map[string]*locked)} }

func (m *devise) try(a *Attempt) Answer {
	u := m.users[a.Account]
	if u == nil {
		if a.Unknown {
			return allowed
		}
		u = new(locked)
		m.users[a.Account] = u
	}
	if a.At < u.until {
		return denied(u.until - a.At)
	}
	if u.until > 0 {
		*u = locked{}
	}
	if a.Right {
		u.failures = 0
		return allowed
	}
	if u.failures++; u.failures >= 20 {
		u.until = a.At + hour
	}
	return allowed
}

// axes is django-axes: the third failure from an address (AXES_FAILURE_LIMIT,
// AXES_LOCKOUT_PARAMETERS) locks it out. By default until an administrator lets
// it in again; here for the two hours without a failure (AXES_COOLOFF_TIME) that
// its documentation gives as an example. A success resets nothing
// (AXES_RESET_ON_SUCCESS), and a failure while locked out begins the time anew
// (AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT).
type axes struct{ addresses map[string]locked }

func newAxes() *axes { return &axes{make(map[string]locked)} }

func (m *axes) try(a *Attempt) Answer {
	const coolOff = 2 * hour
	b := m.addresses[a.From.IP]
	if a.At >= b.until {
		b = locked{}
	}
	if b.failures >= 3 {
		// The password is not looked at: every attempt is a failure.
		b.until = a.At + coolOff
		m.addresses[a.From.IP] = b
		return denied(coolOff)
	}
	if a.Right {
		return allowed
	}
	b.failures++
	b.until = a.At + coolOff
	m.addresses[a.From.IP] = b
	return allowed
}
