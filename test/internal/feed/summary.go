package feed

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"loginguard/test/internal/client"
)

// Summary counts what became of a log's attempts.
type Summary struct {
	Attempts int
	Admitted int
	Denied   map[string]int    // by limit, with its level
	People   map[string]int    // of those, attempts that were successes
	Errors   map[string]int    // answers that are no decision, by what they are
	Accounts map[string]*Tally // by name as logged
}

// Tally is what was tried at one account and what of it got through.
type Tally struct{ Attempts, Guesses int }

func newSummary() *Summary {
	return &Summary{
		Denied: make(map[string]int), People: make(map[string]int), Errors: make(map[string]int),
		Accounts: make(map[string]*Tally),
	}
}

// decided counts one answer. A guess is an admitted attempt with a wrong
// password.
func (s *Summary) decided(e Event, d client.Decision) {
	s.Attempts++
	a := s.Accounts[e.Account]
	if a == nil {
		a = &Tally{}
		s.Accounts[e.Account] = a
	}
	a.Attempts++
	switch {
	case d.Allowed():
		s.Admitted++
		if e.Outcome == "failure" {
			a.Guesses++
		}
	case d.Status == http.StatusTooManyRequests, d.Limit != "":
		limit := d.Limit
		if d.Level != "" && d.Level != d.Limit {
			limit += " " + d.Level
		}
		s.Denied[limit]++
		if e.Outcome == "success" {
			s.People[limit]++
		}
	default:
		s.Errors[strings.TrimSpace(fmt.Sprintf("check answered %d %s", d.Status, d.Reason))]++
	}
}

// Failed returns how many answers were no decision.
func (s *Summary) Failed() int {
	n := 0
	for _, k := range s.Errors {
		n += k
	}
	return n
}

// Print writes the counts, and the top accounts by what was tried at them.
func (s *Summary) Print(w io.Writer, top int) error {
	var b strings.Builder
	denied := 0
	for _, n := range s.Denied {
		denied += n
	}
	fmt.Fprintf(&b, "attempts  %d\nadmitted  %d\ndenied    %d\nerrors    %d\n", s.Attempts, s.Admitted, denied, s.Failed())
	for _, limit := range slices.Sorted(maps.Keys(s.Denied)) {
		fmt.Fprintf(&b, "denied by %-16s %6d, of them with the right password %d\n", limit, s.Denied[limit], s.People[limit])
	}
	for _, e := range slices.Sorted(maps.Keys(s.Errors)) {
		fmt.Fprintf(&b, "error     %-16s %6d\n", e, s.Errors[e])
	}
	names := slices.SortedFunc(maps.Keys(s.Accounts), func(x, y string) int {
		return cmp.Or(cmp.Compare(s.Accounts[y].Attempts, s.Accounts[x].Attempts), cmp.Compare(x, y))
	})
	for _, name := range names[:min(top, len(names))] {
		fmt.Fprintf(&b, "account   %-16q %6d attempts, %d guesses got through\n", name, s.Accounts[name].Attempts, s.Accounts[name].Guesses)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
