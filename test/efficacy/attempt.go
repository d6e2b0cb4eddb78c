package efficacy

import (
	"net/netip"
	"time"
)

// Spans in microseconds, the unit of every moment in this package.
const (
	second = int64(time.Second / time.Microsecond)
	minute = 60 * second
	hour   = 60 * minute
	day    = 24 * hour
)

// Place is where an attempt comes from.
type Place struct {
	IP     string // as the service sees it
	Host   string // its /32 or /64
	Subnet string // its /24 or /48
	Block  string // the same, or all of the carrier: where its user may be the next time
}

// placeOf returns the place with an address.
func placeOf(a netip.Addr) *Place {
	host, subnet := 32, 24
	if a.Is6() {
		host, subnet = 64, 48
	}
	p := &Place{IP: a.String(), Host: block(a, host), Subnet: block(a, subnet)}
	p.Block = p.Subnet
	return p
}

// block returns the network of so many bits that a lies in.
func block(a netip.Addr, bits int) string {
	p, err := a.Prefix(bits)
	if err != nil {
		panic(err) // bits are constants that fit
	}
	return p.String()
}

// Attempt is one password tried at one account.
type Attempt struct {
	At       int64 // microseconds since 1970
	Account  string
	From     *Place
	Device   string // which browser of the account, "" for none that could be recognised
	Password string // stands for the password: equal ones are equal, never ""
	Right    bool   // it is the account's password
	Unknown  bool   // there is no such account
	Guess    bool   // made by somebody who does not own the account
}

// Answer is what a policy says to an attempt. What it allows reaches the
// credential check, whose outcome the policy has learned when it answers.
type Answer struct {
	Allowed    bool
	Challenged bool          // not allowed yet: a challenge has to be solved first
	Wait       time.Duration // after which to ask again, 0 when it does not say
}

// Policy decides attempts in the order of their times.
type Policy interface {
	// Try decides one attempt. An error means that it could not be decided:
	// the trace is at fault, and the run is worth nothing.
	Try(*Attempt) (Answer, error)
	Close()
}

// Variant is how a service is equipped.
type Variant struct {
	Devices bool // every owner's browser keeps its device token; else every second one's
	Tags    bool // the caller of loginguard sends password tags
}

// Variants are the four that each scenario is played in.
var Variants = []Variant{{true, true}, {true, false}, {false, true}, {false, false}}

// String names the variant in the tables.
func (v Variant) String() string {
	s := "some devices, "
	if v.Devices {
		s = "devices, "
	}
	if v.Tags {
		return s + "tags"
	}
	return s + "no tags"
}
