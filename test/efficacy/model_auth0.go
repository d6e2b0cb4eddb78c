package efficacy

// auth0 is Auth0's attack protection with the values that new tenants have.
//
// Brute-force protection blocks an address for an account after ten failures in
// a row; the block ends when its owner follows a mailed link or changes the
// password, and here not within the trace, since that is no sign-in. Suspicious
// IP throttling lets an address fail 100 times, and once more every 864 seconds.
// The service's own rate limit lets an address try one account 20 times, and
// ten times a minute after that, whatever comes of it.
type auth0 struct {
	rows      map[pair]int // failures in a row
	rates     map[pair]bucket
	addresses map[string]bucket
}

// pair is an account and an address.
type pair struct{ account, address string }

func newAuth0() *auth0 {
	return &auth0{make(map[pair]int), make(map[pair]bucket), make(map[string]bucket)}
}

func (m *auth0) try(a *Attempt) Answer {
	const every = 864 * second
	who := pair{a.Account, a.From.IP}
	rate := m.rates[who]
	if wait := rate.take(a.At, 6*second, 20); wait > 0 {
		return Answer{Wait: wait}
	}
	m.rates[who] = rate
	address := m.addresses[a.From.IP]
	if wait := address.take(a.At, every, 100); wait > 0 {
		return Answer{Wait: wait}
	}
	if m.rows[who] >= 10 {
		return denied(day)
	}
	if a.Right {
		delete(m.rows, who)
		return allowed
	}
	m.addresses[a.From.IP] = address
	if !a.Unknown {
		m.rows[who]++
	}
	return allowed
}
