package efficacy

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Scenario is a day, or a month, of a service: who signs in, who attacks.
type Scenario struct {
	Name   string // one word
	Title  string
	About  string // what happens, with its numbers, for the page
	Attack bool   // there are guesses to count
	span   int64
	build  func(*builder)
}

// Scenarios are all there are, in the order of the page.
var Scenarios = slices.Concat(quiet, targeted, broad, wide)

// Run plays a scenario once against a policy. Small is the edition with a tenth
// of the people.
func (s *Scenario) Run(seed uint64, v Variant, small bool, p Policy) (Tally, error) {
	b := &builder{
		// The same people for every variant: only how they are equipped differs.
		places:  places{rand.New(rand.NewPCG(seed, number(s.Name))), 1000},
		Variant: v, small: small, start: monday, end: monday + s.span, tally: newTally(monday),
	}
	s.build(b)
	if err := b.world.run(p, b.tally, b.end); err != nil {
		return Tally{}, fmt.Errorf("%s, seed %d, %s: %w", s.Name, seed, v, err)
	}
	b.tally.finish()
	return *b.tally, nil
}

// number turns a name into one half of a seed.
func number(name string) (n uint64) {
	for i := range len(name) {
		n = n*31 + uint64(name[i])
	}
	return n
}
