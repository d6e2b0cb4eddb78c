package config

import (
	"time"

	"loginguard/policy"
)

// Limits are the buckets that attempts are charged on. The kinds of limit
// differ in what can be said about them, so that a key which would do nothing
// is refused: only the limits of an account back off, only shared ones grow
// with a population.
type Limits struct {
	Account    AccountLimit `mapstructure:"account"`
	Device     AccountLimit `mapstructure:"device"`
	Familiar   AccountLimit `mapstructure:"familiar"`
	Network    NetworkLimit `mapstructure:"network"`
	Pool       SharedLimit  `mapstructure:"pool"`
	Global     GlobalLimit  `mapstructure:"global"`
	Password   PlainLimit   `mapstructure:"password"`
	Repeat     PlainLimit   `mapstructure:"repeat"`
	Challenged PlainLimit   `mapstructure:"challenged"`
}

// NetworkLimit is the limit of networks, by level.
type NetworkLimit struct {
	Host   HostLimit `mapstructure:"host"`
	Site   SiteLimit `mapstructure:"site"`
	Subnet HostLimit `mapstructure:"subnet"`
}

// PlainLimit is a bucket of fixed size: Capacity tokens, 1 to 1e6, that come
// back at the rate Refill.
type PlainLimit struct {
	Mode        string      `mapstructure:"mode" oneof:"enforce|log_only|off"`
	Capacity    int64       `mapstructure:"capacity"`
	Refill      policy.Rate `mapstructure:"refill"`
	OnExhausted string      `mapstructure:"on_exhausted" oneof:"deny|challenge"`
}

// AccountLimit is a bucket of one account, which backs off when it runs dry.
type AccountLimit struct {
	PlainLimit `mapstructure:",squash"`
	Backoff    Backoff `mapstructure:"backoff"`
}

// Backoff is the wait after a bucket ran dry: Base, times Factor with every
// further strike, at most Max. Strikes are forgotten Forget after the last.
type Backoff struct {
	Base   time.Duration `mapstructure:"base"`
	Factor float64       `mapstructure:"factor"`
	Max    time.Duration `mapstructure:"max"`
	Forget time.Duration `mapstructure:"forget"`
}

// SharedLimit is a bucket of people who share something. For those who are
// familiar there it grows by PerUser tokens with every member of the
// population, up to MaxCapacity.
type SharedLimit struct {
	PlainLimit  `mapstructure:",squash"`
	PerUser     float64 `mapstructure:"per_user"`
	MaxCapacity int64   `mapstructure:"max_capacity"`
}

// HostLimit is a [SharedLimit] of networks of a prefix length in bits.
type HostLimit struct {
	IPv4        int `mapstructure:"ipv4"`
	IPv6        int `mapstructure:"ipv6"`
	SharedLimit `mapstructure:",squash"`
}

// SiteLimit is a [HostLimit] for IPv6 only, where one customer has many hosts.
type SiteLimit struct {
	IPv6        int `mapstructure:"ipv6"`
	SharedLimit `mapstructure:",squash"`
}

// GlobalLimit is a [SharedLimit] of everyone in a realm, split into Shards
// buckets on Redis Cluster so that no single node carries it alone.
type GlobalLimit struct {
	SharedLimit `mapstructure:",squash"`
	Shards      int `mapstructure:"shards"`
}
