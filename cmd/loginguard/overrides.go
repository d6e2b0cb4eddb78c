package main

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"loginguard/cmd/loginguard/config"
)

func (p *program) overridesCommand() *cobra.Command {
	var within span
	var asJSON bool
	list := &cobra.Command{
		Use:   "list",
		Short: "Show who has other limits, why, and until when",
		Long: "Shows the overrides of the configuration in their order, of which the first that matches wins, with\n" +
			"the days that are left: 0 on the last day, in UTC. Expired ones are ignored by the service.\n\n" +
			"Exit status: 0 all is well, 1 the configuration is refused, 2 the command is wrong and, with --within\n" +
			"only, 3 when one has expired or expires within that time.",
		Example: "  loginguard overrides list\n" +
			"  loginguard overrides list --within 7d > /dev/null || echo 'overrides expire' | mail ops@example.com",
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return p.listOverrides(within, asJSON, time.Now()) },
	}
	p.settingFlags(list)
	list.Flags().Var(&within, "within", "end with status 3 if one expires within this time, such as 7d")
	jsonFlag(list, &asJSON)
	return group("overrides", "Show who has other limits", list)
}

// override is one of them, for scripts.
type override struct {
	Path     string            `json:"path"` // key of the configuration
	Limit    string            `json:"limit"`
	Level    string            `json:"level"` // "" for all levels of a network
	Match    map[string]string `json:"match"` // empty: everybody
	Capacity int64             `json:"capacity"`
	Refill   string            `json:"refill"` // Capacity 0 and Refill "": as the limit itself
	Reason   string            `json:"reason"`
	Expires  string            `json:"expires"`   // last day in UTC, "" for never
	DaysLeft *int              `json:"days_left"` // behind today, below 0 when expired; null for ever
	Expired  bool              `json:"expired"`
}

// overridesOf lays out the overrides of a configuration as they are at a time.
func overridesOf(list []config.Override, now time.Time) []override {
	all := make([]override, 0, len(list))
	for i, o := range list {
		v := override{
			Path: fmt.Sprintf("overrides[%d]", i), Limit: o.Limit, Level: o.Level, Match: map[string]string{},
			Capacity: o.Capacity, Refill: o.Refill.String(), Reason: o.Reason, Expires: o.Expires,
		}
		for _, m := range matches(o.Match) {
			v.Match[m[0]] = m[1]
		}
		if end, ok := endOf(o); ok {
			left := int(end.Add(-day).Sub(now.UTC().Truncate(day)) / day)
			v.DaysLeft, v.Expired = &left, left < 0
		}
		all = append(all, v)
	}
	return all
}

// matches returns the members of a match that are set, in order.
func matches(m config.Match) [][2]string {
	var set [][2]string
	for _, f := range [][2]string{{"network", m.Network}, {"realm", m.Realm}, {"route", m.Route}, {"caller", m.Caller}, {"account", m.Account}} {
		if f[1] != "" {
			set = append(set, f)
		}
	}
	return set
}

// endOf returns the moment at which an override stops to hold: the end of its
// last day, UTC. Not ok means that it never does.
func endOf(o config.Override) (time.Time, bool) {
	last, err := time.Parse(time.DateOnly, o.Expires)
	return last.Add(day), err == nil
}

// expired counts those that hold no more.
func expired(list []config.Override, now time.Time) int {
	return expiring(list, now, 0)
}

// expiring counts those that have expired or will within a time.
func expiring(list []config.Override, now time.Time, within time.Duration) int {
	n := 0
	for _, o := range list {
		if end, ok := endOf(o); ok && end.Sub(now) <= within {
			n++
		}
	}
	return n
}

// listOverrides prints all overrides, and fails softly when one runs out.
func (p *program) listOverrides(within span, asJSON bool, now time.Time) error {
	c, warnings, err := p.load()
	if err != nil && asJSON {
		return p.refuseJSON(warnings, err)
	}
	if err != nil {
		p.warn(warnings)
		return mistakes(err)
	}
	list := overridesOf(c.Overrides, now)
	switch {
	case asJSON:
		err = writeJSON(p.stdout, struct {
			Overrides []override `json:"overrides"`
		}{list})
	case len(list) == 0:
		_, err = fmt.Fprintln(p.stdout, "there are no overrides")
	default:
		err = p.writeOverrides(c.Overrides, list)
	}
	if err == nil && within.given && expiring(c.Overrides, now, within.d) > 0 {
		return exitFound
	}
	return err
}

// writeOverrides prints them as a table.
func (p *program) writeOverrides(from []config.Override, list []override) error {
	rows := [][]string{{"#", "LIMIT", "FOR", "CAPACITY", "REFILL", "EXPIRES", "DAYS LEFT", "REASON"}}
	for i, o := range list {
		var whom []string
		for _, m := range matches(from[i].Match) {
			whom = append(whom, m[0]+" "+m[1])
		}
		capacity := "-"
		if o.Capacity > 0 {
			capacity = strconv.FormatInt(o.Capacity, 10)
		}
		rows = append(rows, []string{strconv.Itoa(i), strings.TrimSpace(o.Limit + " " + o.Level),
			cmp.Or(strings.Join(whom, ", "), "everybody"), capacity, cmp.Or(o.Refill, "-"),
			cmp.Or(o.Expires, "never"), o.left(), o.Reason})
	}
	return writeTable(p.stdout, rows)
}

// left says how long the override holds.
func (o *override) left() string {
	switch {
	case o.DaysLeft == nil:
		return "-"
	case o.Expired:
		return "expired"
	case *o.DaysLeft == 0:
		return "last day"
	}
	return strconv.Itoa(*o.DaysLeft)
}
