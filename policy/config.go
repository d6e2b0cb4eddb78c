package policy

import "time"

// Modes of a limit, and of all of them together.
const (
	Enforce = "enforce"  // the limit denies
	LogOnly = "log_only" // it is charged and counted, and denies nobody
	Off     = "off"      // it is not charged
)

// What the report of a success does on a [Route].
const (
	SuccessFull   = "full"   // gives back the charges and teaches: network, population, device
	SuccessRefund = "refund" // gives back the charges: right so far, a second factor is to come
	SuccessNone   = "none"   // nothing: that a signup went through proves no ownership
)

// DefaultRealm exists in every policy.
const DefaultRealm = "default"

// Config is all that a policy depends on. The zero value is not valid: start
// from [Defaults]. Bounds are stated per field; [New] refuses what is outside.
type Config struct {
	Mode       string        // of all limits: enforce ("" is the same); log_only makes all that enforce only log; off turns all off
	Realms     []string      // names; "default" is always one
	AttemptTTL time.Duration // 1s..1h: how long an attempt may wait for its report

	Remember  time.Duration // 1h..8760h: how long a network stays familiar
	Sources   int           // 1..32: familiar networks kept per account
	DeviceTTL time.Duration // 1h..8760h: how long a device token is valid

	Routes       map[string]Route // by name, at most 100; the four standard ones are added where missing
	Limits       Limits
	HostingScale float64    // above 0, up to 1: share of a network's capacity that a hosting network gets
	Overrides    []Override // at most 1000; the first that matches wins

	Instances int  // 1..1000: how many processes share the work; divides the sizes of Local
	Shards    bool // split global into Limits.Global.Shards buckets, as a cluster needs

	SupportURL string    // where users ask for more, "" for nowhere
	Now        time.Time // decides which overrides have expired; zero means none has

	// HashAccount returns the keyed hash under which an account is known in
	// a realm, "" when nothing is left of the name in its canonical form.
	// Needed only where an override matches an account.
	HashAccount func(realm, account string) string
}

// Route is one kind of attempt: a login, a signup.
type Route struct {
	Cost      int64  // 1..1000: tokens that networks and global are charged; the account's own limits always cost 1
	Success   string // full ("" is the same), refund or none
	NoAccount bool   // attempts name no account: networks, global and password alone decide
	OnFailure string // closed, open or local when the store is out; "" for the service's default
}

// Limits are the eleven limits. An attempt is charged on all that apply at the
// same time.
type Limits struct {
	Account    Limit // an account, tried from where it has never signed in
	Device     Limit // an account, tried from a device with a valid token
	Familiar   Limit // an account, tried from a network it has signed in from
	Host       Limit // one address (IPv6: a /64)
	Site       Limit // a customer's block of IPv6
	Subnet     Limit // a /24 or /48
	Pool       Limit // a carrier's addresses together
	Global     Limit // a realm
	Password   Limit // one password, whatever the account
	Repeat     Limit // the same wrong password again from the same source
	Challenged Limit // attempts that passed a challenge
}

// Limit is the size of a kind of bucket and what happens when one is dry.
type Limit struct {
	Mode        string   // enforce ("" is the same), log_only or off
	Capacity    int64    // 1..1e6 tokens, at least the largest route cost where routes count
	Refill      Rate     // one token in 1µs..1h; the largest cost comes back within 1h
	OnExhausted string   // deny ("" is the same) or challenge; not on repeat and challenged
	Backoff     *Backoff // account, device and familiar only; nil for none
	PerUser     float64  // 0..100 tokens for each account that really signs in; networks, pool and global only
	MaxCapacity int64    // Capacity..1e6 tokens: bound of what PerUser adds; ignored when that is 0
	Shards      int      // 1..64; global only
}

// Backoff makes a dry bucket wait in growing steps instead of for its refill.
type Backoff struct {
	Base   time.Duration // 1s..Max: the first wait
	Factor float64       // 1..10: each further wait is so many times the one before
	Max    time.Duration // refill interval..1h: no wait is longer
	Forget time.Duration // up to 48h: so long after the last dry spell the waits begin anew
}

// Override gives some buckets of one limit another size: the documented way to
// raise a limit for somebody.
type Override struct {
	Limit    string // name of the limit
	Level    string // for the limit network: host, site, subnet or pool; "" for all
	Match    Match  // all given members must match
	Capacity int64  // 1..1e6, 0 keeps that of the limit
	Refill   Rate   // zero keeps that of the limit
	Reason   string // who asked and why, 1..256 bytes; shown by explain
	Expires  string // last day in UTC on which it holds, like 2027-01-31; "" for never
}

// Match selects attempts. The zero value matches all.
type Match struct {
	Network string // a CIDR that contains the network of the override's level, or the name of a pool
	Realm   string
	Route   string
	Caller  string
	Account string // as typed at the login
}
