package efficacy

// mailu is Mailu's authentication limit: 50 wrong passwords a day at an account
// (AUTH_RATELIMIT_USER), the same one counted once, and 5 an hour from a /24 or
// /48 at accounts that do not exist (AUTH_RATELIMIT_IP), the same name counted
// once. An address from which somebody signed in is exempt from both for a day
// (AUTH_RATELIMIT_EXEMPTION_LENGTH), and the web client's device cookie has a
// count of its own.
type mailu struct {
	exempt   map[string]int64 // address to the end of it
	networks map[string][]int64
	names    map[pair]int64 // of no account, by network, to the end of counting it once
	users    map[string][]int64
	wrong    map[pair]int64 // passwords of an account, likewise
	cookies  map[string]bool
}

func newMailu() *mailu {
	return &mailu{
		make(map[string]int64), make(map[string][]int64), make(map[pair]int64),
		make(map[string][]int64), make(map[pair]int64), make(map[string]bool),
	}
}

func (m *mailu) try(a *Attempt) Answer {
	if a.At < m.exempt[a.From.IP] {
		return m.check(a)
	}
	network := recent(m.networks[a.From.Subnet], a.At-hour)
	if len(network) >= 5 {
		return denied(network[0] + hour - a.At)
	}
	name := a.Account
	if a.Device != "" && m.cookies[name] {
		name += " cookie"
	}
	user := recent(m.users[name], a.At-day)
	if !a.Unknown && len(user) >= 50 {
		return denied(user[len(user)-50] + day - a.At)
	}
	if a.Right {
		return m.check(a)
	}
	if a.Unknown {
		once := pair{a.Account, a.From.Subnet}
		if a.At >= m.names[once] {
			m.names[once] = a.At + hour
			m.networks[a.From.Subnet] = append(network, a.At)
		}
		return allowed
	}
	once := pair{a.Account, a.Password}
	if a.At >= m.wrong[once] {
		m.wrong[once] = a.At + day
		m.users[name] = append(user, a.At)
	}
	return allowed
}

// check learns of a success, and of a failure nothing.
func (m *mailu) check(a *Attempt) Answer {
	if a.Right {
		m.exempt[a.From.IP] = a.At + day
		if a.Device != "" {
			m.cookies[a.Account] = true
		}
	}
	return allowed
}
