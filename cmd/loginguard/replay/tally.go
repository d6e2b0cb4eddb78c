package replay

import (
	"net/netip"

	"loginguard/guard"
	"loginguard/policy"
)

const (
	// mostPeople bounds the accounts with a denied success that are told
	// apart; beyond it the report says that there are more.
	mostPeople = 100_000

	// topShown is how many accounts and networks a report names.
	topShown = 10
)

// Kinds of a series beyond attempts: denied by the limits, then would be.
const kindAttempts = 0

// tally counts what one policy does.
type tally struct {
	out      *Outcome
	rules    guard.Rules
	show     func(ev Event, hash string) string
	index    map[[2]string]int // limit and level -> place in out.Limits
	people   map[string]struct{}
	accounts *top
	networks *top
}

func newTally(config string, rules guard.Rules, show func(Event, string) string) *tally {
	t := &tally{
		out: &Outcome{Config: config, Mode: rules.Policy.Mode()}, rules: rules, show: show,
		index: make(map[[2]string]int), people: make(map[string]struct{}), accounts: newTop(), networks: newTop(),
	}
	for _, l := range rules.Policy.Published() {
		t.index[[2]string{l.Name, l.Level}] = len(t.out.Limits)
		t.out.Limits = append(t.out.Limits, &LimitOutcome{Limit: l.Name, Level: l.Level, Mode: l.Mode})
	}
	t.out.series = newSeries(1 + 2*len(t.out.Limits))
	return t
}

// limit returns the counts of a limit, and its place among them. All that can
// deny are published.
func (t *tally) limit(name, level string) (*LimitOutcome, int) {
	i := t.index[[2]string{name, level}]
	return t.out.Limits[i], i
}

// add counts one event that was decided at a moment of the engine's clock.
func (t *tally) add(ev Event, d Decision, now int64) {
	o, right := t.out, ev.Outcome == guard.Success
	bin := o.series.at(now)
	bin[kindAttempts]++
	would := false
	for i, m := range d.Meters {
		l, at := t.limit(m.Limit, m.Level)
		l.Events++
		if i < len(d.Meters)-d.LogOnly || !m.Dry {
			continue
		}
		l.WouldDeny++
		count(&l.WouldDenySuccesses, right)
		bin[1+len(o.Limits)+at]++
		would = true
	}
	switch d.Verdict {
	case guard.Deny:
		t.deny(ev, d, bin)
	case guard.Challenge:
		o.Challenged++
		l, _ := t.limit(d.Limit, d.Level)
		l.Challenged++
	default:
		o.Allowed++
		count(&o.WouldDeny, would)
		count(&o.WouldDenySuccesses, would && right)
	}
	if denied := d.Verdict == guard.Deny; denied || would {
		t.name(ev, d, denied, would && !denied, right)
	}
}

func (t *tally) deny(ev Event, d Decision, bin bin) {
	o, right := t.out, ev.Outcome == guard.Success
	o.Denied++
	o.LongestWait = max(o.LongestWait, d.RetryAfter)
	l, at := t.limit(d.Limit, d.Level)
	l.Denied++
	bin[1+at]++
	if !right {
		return
	}
	o.DeniedSuccesses++
	l.DeniedSuccesses++
	o.PersonWait = max(o.PersonWait, d.RetryAfter)
	if _, known := t.people[d.Account]; !known && len(t.people) >= mostPeople {
		o.PeopleMore = true
	} else if d.Account != "" {
		t.people[d.Account] = struct{}{}
	}
}

// name counts a denial, or one that would have been, for the account and the
// network. Right is whether the credential was.
func (t *tally) name(ev Event, d Decision, denied, would, right bool) {
	if d.Account != "" {
		t.accounts.add(t.show(ev, d.Account), denied, would, right)
	}
	addr, err := netip.ParseAddr(d.Client)
	if err != nil {
		return
	}
	network := d.Client // of an exempt one
	if _, networks := t.rules.Networks.Classify(addr); len(networks) > 0 {
		network = networks[len(networks)-1].Name
	}
	t.networks.add(network, denied, would, right)
}

// result returns the outcome, without the limits that are off.
func (t *tally) result() *Outcome {
	o := t.out
	o.People = int64(len(t.people))
	o.Accounts, o.Networks = t.accounts.most(topShown), t.networks.most(topShown)
	return o
}

// on reports whether the limit counts at all.
func (l *LimitOutcome) on() bool { return l.Mode != policy.Off }
