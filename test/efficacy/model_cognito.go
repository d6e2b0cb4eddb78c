package efficacy

// cognito is the lockout of Amazon Cognito user pools: after n > 4 failures an
// account is locked for 2^(n-5) seconds, about 15 minutes at most. Attempts
// during a lock change nothing. A success after it starts again from nothing,
// and so do 15 minutes without an attempt.
type cognito struct{ users map[string]*cognitoUser }

type cognitoUser struct {
	failures    int
	until, last int64 // last attempt of any kind
}

func newCognito() *cognito { return &cognito{make(map[string]*cognitoUser)} }

func (m *cognito) try(a *Attempt) Answer {
	if a.Unknown {
		return allowed
	}
	u := m.users[a.Account]
	if u == nil {
		u = new(cognitoUser)
		m.users[a.Account] = u
	}
	if a.At-u.last >= 15*minute && a.At >= u.until {
		u.failures = 0
	}
	u.last = a.At
	if a.At < u.until {
		return denied(u.until - a.At)
	}
	if a.Right {
		u.failures = 0
		return allowed
	}
	if u.failures++; u.failures >= 5 {
		u.until = a.At + min(second<<min(u.failures-5, 10), 15*minute)
	}
	return allowed
}
