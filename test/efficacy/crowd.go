package efficacy

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// monday is the start of every trace, in the middle of a week of the engine's.
var monday = time.Date(2026, 9, 21, 0, 0, 0, 0, time.UTC).UnixMicro()

// builder sets up one run: people and attackers, and what is counted of them.
type builder struct {
	places
	Variant
	small bool // a tenth of the people and of the attempts, for tests that have no time
	world world
	tally *Tally
	start int64 // of what is counted
	end   int64
	next  int // number of the next owner
}

// size returns how many there are in this edition of a scenario.
func (b *builder) size(n int) int {
	if b.small {
		return max(1, n/10)
	}
	return n
}

// habit says how owners of a kind sign in.
type habit struct {
	times    float64 // sign-ins in the span, on average, at least one
	from     int64   // beginning of the span
	span     int64
	daily    bool    // spread over the day as people are: little at night
	home     float64 // chances of the places; the rest is in hotels
	carrier  float64
	office   *Place // instead of home, if there is one
	mistype  float64
	forget   float64 // chance of trying several old passwords first
	newcomer bool    // has never signed in before
	carriers int     // among how many carriers the people are split; 0 means carrier 0 alone
}

// Chances of a wrong password. In a day of sign-ins at Dropbox one submission
// in ten was wrong (Chatterjee and others, "pASSWORD tYPOS and how to correct
// them securely", IEEE S&P 2016, https://www.cs.cornell.edu/~rahul/projects/pwtypos.html);
// people who do not remember try a few and then ask for a new one.
const (
	mistypes = 0.08
	forgets  = 0.02
	tries    = 8 // wrong passwords at most, before one is remembered or reset
)

// usual is the habit of somebody at home, and now and then on the phone.
func (b *builder) usual(times float64) habit {
	return habit{times: times, from: b.start, span: b.end - b.start, daily: b.end-b.start >= day, home: 0.75, carrier: 0.25, mistype: mistypes, forget: forgets}
}

// owner lets a person in and returns it. Who is no newcomer has signed in at
// home (or in the office) and through the carrier in the days before.
func (b *builder) owner(h habit) *person {
	p := &person{account: fmt.Sprintf("owner%d@mail.example", b.next), tally: b.tally}
	device := b.Devices || b.next%2 == 0
	b.next++
	base := h.office
	if base == nil {
		base = b.home()
	}
	p.base = base
	carrier := 0
	if h.carriers > 1 {
		carrier = b.IntN(h.carriers)
	}
	if !h.newcomer {
		// Long enough ago for every bucket to be full again.
		for _, from := range []*Place{base, b.carrier(carrier)} {
			if from == base && h.home == 0 && h.office == nil && h.carrier == 1 {
				continue // never at home
			}
			at := b.start - 5*day + b.Int64N(4*day)
			p.sessions = append(p.sessions, session{at: at, from: from, device: device})
		}
	}
	for range b.times(h.times) {
		s := session{at: h.from + b.moment(h), device: device, gap: 4*second + b.Int64N(20*second), wrong: b.wrong(h)}
		switch chance := b.Float64(); {
		case chance < h.home:
			s.from = base
		case chance < h.home+h.carrier:
			s.from = b.carrier(carrier)
		default:
			s.from = b.hotel()
		}
		p.sessions = append(p.sessions, s)
	}
	slices.SortStableFunc(p.sessions, func(a, b session) int { return cmp.Compare(a.at, b.at) })
	b.world.add(p.sessions[0].at, p)
	return p
}

// owners lets n people of a habit in.
func (b *builder) owners(n int, h habit) []*person {
	all := make([]*person, n)
	for i := range all {
		all[i] = b.owner(h)
	}
	return all
}

// times returns a whole number of sign-ins with the average mean, at least one.
func (b *builder) times(mean float64) int {
	n := int(mean)
	if b.Float64() < mean-float64(n) {
		n++
	}
	return max(1, n)
}

// moment returns when in its span a sign-in begins. By day three in four are
// between eight and twenty hours.
func (b *builder) moment(h habit) int64 {
	if !h.daily {
		return b.Int64N(h.span)
	}
	at := b.Int64N(h.span/day)*day + 8*hour
	if b.Float64() < 0.75 {
		return at + b.Int64N(12*hour)
	}
	night := b.Int64N(12 * hour)
	if night < 8*hour {
		return at - night
	}
	return at + 4*hour + night // from the end of the day on
}

// wrong returns how many wrong passwords are typed first.
func (b *builder) wrong(h habit) int {
	switch chance := b.Float64(); {
	case chance < h.forget:
		n := 2
		for n < tries && b.Float64() < 0.6 {
			n++
		}
		return n
	case chance < h.forget+h.mistype:
		if b.Float64() < 0.15 {
			return 2
		}
		return 1
	}
	return 0
}

// chance returns a source of its own for an attacker, so that what one policy
// makes him do changes nothing for anybody else.
func (b *builder) chance() places {
	return places{rand.New(rand.NewPCG(b.Uint64(), b.Uint64())), b.neighbourhoods}
}
