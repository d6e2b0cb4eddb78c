package policy

import "loginguard/netprefix"

// limit numbers the eleven limits in the order in which they are published.
type limit uint8

const (
	limAccount limit = iota
	limDevice
	limFamiliar
	limHost
	limSite
	limSubnet
	limPool
	limGlobal
	limPassword
	limRepeat
	limChallenged
	limCount
)

// members is a set of the members of a [Match].
type members uint8

const (
	byNetwork members = 1 << iota
	byRealm
	byRoute
	byCaller
	byAccount

	// One bucket has one size: an override of a bucket that belongs to an
	// account may ask only for what its key tells, or choosing another route
	// would buy guesses. Buckets of networks and passwords belong to nobody,
	// and there it is wanted that a trusted caller may use more of them.
	byOwner = byRealm | byAccount
	byAll   = byNetwork | byRealm | byRoute | byCaller | byAccount
)

// spec is what sets one limit apart from the others. It is fixed: what may be
// configured is in [Limit].
type spec struct {
	name  string          // in answers and overrides
	level netprefix.Level // of a network limit, else 0
	path  string          // of its settings

	routed    bool    // charged the cost of the route, not 1
	grows     bool    // may be sized by a population
	sharded   bool    // may be split over a cluster
	backoff   bool    // may have a backoff
	challenge bool    // a passed challenge may stand in for it
	match     members // what an override may match

	purpose string // what it protects, in the words of a user
	scope   string // what one bucket is about
}

// levelName returns host, site, subnet or pool for a network limit, else "".
func (s *spec) levelName() string {
	if s.level == 0 {
		return ""
	}
	return s.level.String()
}

var specs = [limCount]spec{
	limAccount: {name: "account", path: "limits.account", backoff: true, challenge: true, match: byOwner,
		purpose: "protection: guessing the password of one account from places it has never signed in from",
		scope:   "one account in one realm"},
	limDevice: {name: "device", path: "limits.device", backoff: true, challenge: true, match: byOwner,
		purpose: "protection: guessing the password of one account on a device it has signed in with",
		scope:   "one account and one of its devices"},
	limFamiliar: {name: "familiar", path: "limits.familiar", backoff: true, challenge: true, match: byOwner,
		purpose: "protection: guessing the password of one account from a network it has signed in from",
		scope:   "one account and one of its networks"},
	limHost: {name: "network", level: netprefix.Host, path: "limits.network.host", routed: true, grows: true, challenge: true, match: byAll,
		purpose: "protection: trying many accounts from one address",
		scope:   "one address in one realm, apart for the accounts that live there and for all others"},
	limSite: {name: "network", level: netprefix.Site, path: "limits.network.site", routed: true, grows: true, challenge: true, match: byAll,
		purpose: "protection: trying many accounts from the addresses of one connection",
		scope:   "one customer's block of addresses in one realm, apart for the accounts that live there and for all others"},
	limSubnet: {name: "network", level: netprefix.Subnet, path: "limits.network.subnet", routed: true, grows: true, challenge: true, match: byAll,
		purpose: "protection: trying many accounts from neighbouring addresses",
		scope:   "one subnet in one realm, apart for the accounts that live there and for all others"},
	limPool: {name: "network", level: netprefix.Pool, path: "limits.pool", routed: true, grows: true, challenge: true, match: byAll,
		purpose: "protection: trying many accounts through one carrier",
		scope:   "all addresses of one carrier pool in one realm, apart for the accounts that live there and for all others"},
	limGlobal: {name: "global", path: "limits.global", routed: true, grows: true, sharded: true, challenge: true, match: byRealm,
		purpose: "protection: trying many accounts from very many addresses at once",
		scope:   "all attempts in one realm from places the account has never signed in from"},
	limPassword: {name: "password", path: "limits.password", challenge: true, match: byAll,
		purpose: "protection: trying one common password on many accounts",
		scope:   "one password in one realm"},
	limRepeat: {name: "repeat", path: "limits.repeat", match: byOwner,
		purpose: "protection: a program that repeats a wrong password uses up its own allowance, not that of the account",
		scope:   "one account and one device or network"},
	limChallenged: {name: "challenged", path: "limits.challenged", match: byOwner,
		purpose: "protection: guessing the password of one account by passing a challenge each time",
		scope:   "one account in one realm"},
}

// at returns the settings of limit i.
func (l *Limits) at(i limit) *Limit {
	return [limCount]*Limit{&l.Account, &l.Device, &l.Familiar, &l.Host, &l.Site, &l.Subnet,
		&l.Pool, &l.Global, &l.Password, &l.Repeat, &l.Challenged}[i]
}
