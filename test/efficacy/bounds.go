package efficacy

import (
	"fmt"
	"slices"
)

// Bound is a promise about loginguard with its defaults, that must hold for
// every seed.
type Bound struct {
	Text      string
	Scenarios []string
	Where     func(Variant) bool // nil for every variant
	Figure    func(*Tally) float64
	Most      float64
}

// Figures of a run.
var (
	lost    = func(t *Tally) float64 { return float64(t.Lost) }
	known   = func(t *Tally) float64 { return float64(t.Known) }
	share   = func(t *Tally) float64 { return 100 * t.Share() }
	worst   = func(t *Tally) float64 { return float64(t.Worst) }
	strange = func(t *Tally) float64 { return float64(t.Strangers) }
	guesses = func(t *Tally) float64 { return float64(t.Guesses) }
	found   = func(t *Tally) float64 { return float64(t.Found) }
)

func tagged(v Variant) bool   { return v.Tags }
func untagged(v Variant) bool { return !v.Tags }

// Bounds are all that loginguard promises here.
var Bounds = []Bound{
	{"No sign-in with the right password is lost", []string{
		"ordinary", "office", "carrier", "carrierstuffing", "oneaddress", "botnet", "spraying", "ipv6site", "ipv6subnet", "laundering", "slow",
	}, nil, lost, 0},
	{"... nor with an old password on phones, where the caller sends tags", []string{"oldpassword"}, tagged, lost, 0},
	{"A lockout reaches no owner on a known device or network", []string{"lockout", "lockoutservers"}, nil, known, 0},
	// From a network where the owner signs in an attacker has that one's limit on
	// top: the botnets here lie among the owners' homes.
	{"Guesses at one account within any 24 hours, by strangers to it", []string{"oneaddress", "botnet", "lockout", "lockoutservers", "laundering", "slow", "paced"}, nil, strange, 60},
	{"Guesses of a botnet at five accounts in a day", []string{"botnet"}, nil, guesses, 300},
	{"Sprayed guesses of 60,000, with tags", []string{"spraying"}, tagged, guesses, 300},
	{"Sprayed guesses of 60,000, without tags", []string{"spraying"}, untagged, guesses, 13_000},
	{"Stuffed pairs of 60,000", []string{"stuffing"}, nil, guesses, 3_100},
	// One pair in 200 is valid, at places drawn by chance: 15 of 3,100 on
	// average, and fewer than this in all but one of a hundred thousand lists.
	{"Valid pairs found, of 300", []string{"stuffing"}, nil, found, 35},
	{"Stuffed pairs of 43,200 from the carrier", []string{"carrierstuffing"}, nil, guesses, 1_700},
	{"Right passwords denied on the first day and in a sale, in %", []string{"firstday", "sale"}, nil, share, 0.1},
}

// Checked is a bound and the highest figure that was measured.
type Checked struct {
	*Bound
	Highest float64
	Place   string // scenario and variant of it
}

// Holds reports whether the bound held.
func (c Checked) Holds() bool { return c.Highest <= c.Most }

// Check compares all bounds with what was measured of loginguard. Scenarios
// that were not measured are left out.
func Check(r Results) []Checked {
	var all []Checked
	for i := range Bounds {
		c := Checked{Bound: &Bounds[i], Highest: -1}
		for cell, runs := range r {
			if cell.Contender != Ours || !slices.Contains(c.Scenarios, cell.Scenario) || c.Where != nil && !c.Where(cell.Variant) {
				continue
			}
			for k := range runs {
				where := fmt.Sprintf("%s, %s", cell.Scenario, cell.Variant)
				if f := c.Figure(&runs[k]); f > c.Highest || f == c.Highest && where < c.Place {
					c.Highest, c.Place = f, where
				}
			}
		}
		if c.Highest >= 0 {
			all = append(all, c)
		}
	}
	return all
}

// Rival is a policy that was better than loginguard in a scenario and variant:
// by the medians of the guesses and of the lost sign-ins.
type Rival struct {
	Cell
	Guesses, Lost bool // in which column
}

// Rivals lists them, in the order of the page.
func Rivals(r Results) []Rival {
	var all []Rival
	for i := range Scenarios {
		s := &Scenarios[i]
		for _, v := range Variants {
			ours, ok := r[Cell{s.Name, Ours, v}]
			if !ok {
				continue
			}
			for k := range Contenders {
				c := &Contenders[k]
				theirs, ok := r[Cell{s.Name, c.Name, v}]
				if !ok || !c.plain {
					continue
				}
				rival := Rival{Cell: Cell{s.Name, c.Name, v}}
				rival.Guesses = s.Attack && median(theirs, guesses) < median(ours, guesses)
				rival.Lost = median(theirs, lost) < median(ours, lost)
				if rival.Guesses || rival.Lost {
					all = append(all, rival)
				}
			}
		}
	}
	return all
}

// median returns the middle of a figure over the runs.
func median(runs []Tally, figure func(*Tally) float64) float64 {
	all := make([]float64, len(runs))
	for i := range runs {
		all[i] = figure(&runs[i])
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// highest returns the highest of a figure over the runs.
func highest(runs []Tally, figure func(*Tally) float64) float64 {
	most := figure(&runs[0])
	for i := range runs {
		most = max(most, figure(&runs[i]))
	}
	return most
}
