package efficacy

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// WritePage writes the page of what was measured, in Markdown. It needs all
// that o names, and leaves out what was not measured. Errors are those of w,
// which a bufio.Writer keeps.
func WritePage(w io.Writer, r Results, o Options) {
	p := &page{w, r, o}
	p.head()
	p.bounds()
	p.policies()
	for i := range o.Scenarios {
		p.scenario(&o.Scenarios[i])
	}
	p.rivals()
	p.remarks()
}

type page struct {
	w io.Writer
	r Results
	o Options
}

func (p *page) say(format string, args ...any) { fmt.Fprintf(p.w, format, args...) }

func (p *page) head() {
	seeds := make([]string, len(p.o.Seeds))
	for i, s := range p.o.Seeds {
		seeds[i] = strconv.FormatUint(s, 10)
	}
	people := ""
	if p.o.Small {
		people = "\nThis is the small edition: a tenth of the people and of the attempts named below.\n"
	}
	p.say(`# What gets through, and who is turned away

<!-- Written by test/efficacy: go run ./test/efficacy/cmd/efficacy -out docs/efficacy.md -->

A login limiter is as good as what it lets through under attack and whom it
turns away meanwhile. This page measures both: for loginguard with its default
configuration, on the path of its replay command, and for models of what other
products document as their defaults. Do it again:

    go run ./test/efficacy/cmd/efficacy -out docs/efficacy.md

Seeds: %s.
%s
What the columns say, each as the median of all seeds, and in brackets the highest
where it differs:

- **guesses**: passwords of attackers that reached the credential check.
- **worst account**: guesses at one account within any 24 hours, where it exists.
- **found**: accounts whose right password an attacker learned.
- **lost**: sign-ins of owners whose right password was denied when it was first
  given, even if a later try got in; **known** are those of them on a device or
  from a network that had signed in before, **never** those that were not in
  within 15 minutes. Wrong passwords that are denied do not count. Who is denied waits as
  long as told, or half a minute, then twice as long.

Every scenario is played in four variants: every browser of an owner keeps its
device token or only every second one does (some devices), and the caller
sends password tags or not. Rows that are the same in several variants are
one. A model sees the password where the product does, in every variant.
Owners and attackers react to what they are answered: each policy has its own
attacker. The people, their places and their mistakes are the same for all.

`, strings.Join(seeds, ", "), people)
}

func (p *page) bounds() {
	p.say("## What loginguard promises here\n\nThe highest figure of all seeds and variants, against the bound.\n\n")
	p.say("| | measured | at most | |\n|---|--:|--:|---|\n")
	for _, c := range Check(p.r) {
		held := "holds"
		if !c.Holds() {
			held = "**does not hold**: " + c.Place
		}
		p.say("| %s | %s | %s | %s |\n", c.Text, decimal(c.Highest), decimal(c.Most), held)
	}
	p.say("\n")
}

func (p *page) policies() {
	p.say("## What is compared\n\n")
	for i := range p.o.Contenders {
		c := &p.o.Contenders[i]
		p.say("- **%s**: %s", c.Name, c.About)
		if c.plain {
			p.say(" <%s>", strings.ReplaceAll(c.Source, " and ", ">, <"))
		}
		p.say("\n")
	}
	p.say("\n")
}

func (p *page) scenario(s *Scenario) {
	p.say("## %s\n\n%s\n\n", s.Title, s.About)
	attack := ""
	if s.Attack {
		attack = " guesses | worst account | found |"
		p.say("| policy | variant |%s sign-ins | lost | known | never |\n|---|---|--:|--:|--:|--:|--:|--:|--:|\n", attack)
	} else {
		p.say("| policy | variant | sign-ins | lost | known | never |\n|---|---|--:|--:|--:|--:|\n")
	}
	for i := range p.o.Contenders {
		p.rows(s, &p.o.Contenders[i])
	}
	p.say("\n")
	// Which of the variants asks most is what an operator has to plan for.
	asked := 0.0
	for _, v := range p.o.Variants {
		if runs := p.r[Cell{s.Name, Challenging, v}]; runs != nil {
			asked = max(asked, highest(runs, func(t *Tally) float64 { return float64(t.Asked) }))
		}
	}
	if asked > 0 {
		p.say("With challenges at most %s sign-ins had to solve one.\n\n", decimal(asked))
	}
}

// rows writes the rows of a contender: one for all variants that are the same.
func (p *page) rows(s *Scenario, c *Contender) {
	var order []string
	names := make(map[string][]string)
	for _, v := range Variants {
		runs, ok := p.r[Cell{s.Name, c.Name, v}]
		if !ok {
			continue
		}
		row := cells(runs, s.Attack)
		if names[row] == nil {
			order = append(order, row)
		}
		names[row] = append(names[row], v.String())
	}
	for _, row := range order {
		p.say("| %s | %s | %s |\n", c.Name, together(names[row]), row)
	}
}

// together names several variants.
func together(names []string) string {
	switch len(names) {
	case len(Variants):
		return "all"
	case 1:
		return names[0]
	}
	firsts, seconds := make(map[string]bool), make(map[string]bool)
	for _, name := range names {
		first, second, _ := strings.Cut(name, ", ")
		firsts[first], seconds[second] = true, true
	}
	first, second, _ := strings.Cut(names[0], ", ")
	switch {
	case len(names) == 2 && len(firsts) == 1:
		return first
	case len(names) == 2 && len(seconds) == 1:
		return second
	}
	return strings.Join(names, "; ")
}

func cells(runs []Tally, attack bool) string {
	figures := []func(*Tally) float64{
		func(t *Tally) float64 { return float64(t.SignIns) }, lost, known,
		func(t *Tally) float64 { return float64(t.Never) },
	}
	if attack {
		figures = append([]func(*Tally) float64{guesses, worst, found}, figures...)
	}
	words := make([]string, len(figures))
	for i, f := range figures {
		words[i] = decimal(median(runs, f))
		if most := highest(runs, f); most != median(runs, f) {
			words[i] += " (" + decimal(most) + ")"
		}
	}
	return strings.Join(words, " | ")
}

// decimal prints a figure with commas between thousands.
func decimal(f float64) string {
	if f != float64(int64(f)) {
		return strconv.FormatFloat(f, 'f', 2, 64)
	}
	s := strconv.FormatInt(int64(f), 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// rivals shows where another policy is better: one row for all variants in
// which it is so in the same columns.
func (p *page) rivals() {
	p.say("## Where another policy is better\n\nBy the medians, of guesses or of lost sign-ins. No guesses are compared where nobody attacks.\n\n")
	p.say("| scenario | policy | better in | variant |\n|---|---|---|---|\n")
	type row struct{ scenario, policy, column string }
	var order []row
	variants := make(map[row][]string)
	beaten, both := make(map[string]bool), make(map[string]bool)
	for _, v := range Rivals(p.r) {
		r := row{v.Scenario, v.Contender, "lost"}
		switch {
		case v.Guesses && v.Lost:
			r.column = "**both**"
			both[v.Scenario] = true
		case v.Guesses:
			r.column = "guesses"
		}
		beaten[v.Scenario] = true
		if variants[r] == nil {
			order = append(order, r)
		}
		variants[r] = append(variants[r], v.Variant.String())
	}
	for _, r := range order {
		p.say("| %s | %s | %s | %s |\n", title(r.scenario), r.policy, r.column, together(variants[r]))
	}
	n := len(p.o.Scenarios)
	p.say("\nOf %d scenarios, no policy is better in either column in %d, and none in both in %d.\n\n", n, n-len(beaten), n-len(both))
}

func title(name string) string {
	i := slices.IndexFunc(Scenarios, func(s Scenario) bool { return s.Name == name })
	return Scenarios[i].Title
}
