package efficacy

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// script is a policy that answers as it is told and notes what it is asked.
type script struct {
	answers []Answer // the last one again and again
	asked   []string
}

func (s *script) Try(a *Attempt) (Answer, error) {
	s.asked = append(s.asked, fmt.Sprintf("%d %s %v", (a.At-monday)/second, a.Account, a.Right))
	answer := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	return answer, nil
}

func (*script) Close() {}

// Turns are taken in the order of time, those of one moment in that of arrival.
func TestTurnsAreTakenInOrder(t *testing.T) {
	var w world
	for i, start := range []int64{5, 1, 3, 1, 4} {
		name := fmt.Sprint("a", i)
		w.add(monday+start*second, &stream{every: 4 * second, left: 2, attempt: func(int) Attempt { return Attempt{Account: name} }})
	}
	p := &script{answers: []Answer{allowed}}
	if err := w.run(p, newTally(monday), monday+9*second); err != nil {
		t.Fatal(err)
	}
	want := []string{"1 a1 false", "1 a3 false", "3 a2 false", "4 a4 false", "5 a0 false", "5 a1 false", "5 a3 false", "7 a2 false", "8 a4 false"}
	if diff := cmp.Diff(want, p.asked); diff != "" {
		t.Errorf("turns differ from the expected ones (-want +got):\n%s", diff)
	}
}

// People wait as long as they are told, try once more when that is too long for
// them, and count as lost once for a sign-in.
func TestPeopleWhoAreDenied(t *testing.T) {
	no := func(d time.Duration) Answer { return Answer{Wait: d} }
	tests := []struct {
		what    string
		wrong   int
		answers []Answer
		asked   []string
		want    Tally
	}{
		{"in at once", 0, []Answer{allowed}, []string{"0 p true"}, Tally{SignIns: 1}},
		{"in after a typing error", 1, []Answer{allowed}, []string{"0 p false", "7 p true"}, Tally{SignIns: 1}},
		{
			"a denied typing error is no loss", 1,
			[]Answer{no(time.Minute), allowed},
			[]string{"0 p false", "60 p true"},
			Tally{SignIns: 1},
		},
		{
			"lost once however often it is denied", 0,
			[]Answer{no(time.Minute), no(2 * time.Minute), allowed},
			[]string{"0 p true", "60 p true", "180 p true"},
			Tally{SignIns: 1, Lost: 1},
		},
		{
			"nobody says how long", 0,
			[]Answer{no(0), no(0), allowed},
			[]string{"0 p true", "30 p true", "90 p true"},
			Tally{SignIns: 1, Lost: 1},
		},
		{
			"too long to wait", 0,
			[]Answer{no(time.Hour)},
			[]string{"0 p true", "30 p true"},
			Tally{SignIns: 1, Lost: 1, Never: 1},
		},
		{"a challenge is solved", 0, []Answer{{Challenged: true}}, []string{"0 p true"}, Tally{SignIns: 1, Asked: 1}},
	}
	for _, test := range tests {
		var w world
		tally := newTally(monday)
		w.add(monday, &person{account: "p", tally: tally, sessions: []session{{at: monday, from: at("192.0.2.1"), wrong: test.wrong, gap: 7 * second}}})
		p := &script{answers: test.answers}
		if err := w.run(p, tally, monday+day); err != nil {
			t.Fatal(err)
		}
		tally.finish()
		if diff := cmp.Diff(test.asked, p.asked); diff != "" {
			t.Errorf("%s: attempts differ (-want +got):\n%s", test.what, diff)
		}
		if diff := cmp.Diff(test.want, *tally, cmpopts.IgnoreUnexported(Tally{})); diff != "" {
			t.Errorf("%s: tally differs (-want +got):\n%s", test.what, diff)
		}
	}
}

// A lost sign-in is that of somebody known on a network or a device that
// signed in before.
func TestLossOfSomebodyKnown(t *testing.T) {
	home, hotel := at("192.0.2.1"), at("198.51.100.1")
	for _, test := range []struct {
		what   string
		second session
		known  int
	}{
		{"home", session{from: home}, 1},
		{"a neighbour's address", session{from: at("192.0.2.200")}, 1},
		{"hotel", session{from: hotel}, 0},
		{"hotel, on the device", session{from: hotel, device: true}, 1},
	} {
		var w world
		tally := newTally(monday)
		test.second.at = monday + hour
		w.add(monday, &person{account: "p", tally: tally, sessions: []session{{at: monday, from: home, device: true}, test.second}})
		p := &script{answers: []Answer{allowed, {Wait: time.Minute}, allowed}}
		if err := w.run(p, tally, monday+day); err != nil {
			t.Fatal(err)
		}
		if tally.Lost != 1 || tally.Known != test.known {
			t.Errorf("%s: lost %d, known %d, want 1 and %d", test.what, tally.Lost, tally.Known, test.known)
		}
	}
}

// The worst account is that of the most guesses within 24 hours, wherever they
// begin.
func TestWorstAccountWithinAnyDay(t *testing.T) {
	tally := newTally(monday)
	for _, hours := range []int64{0, 20, 23, 24, 30, 43, 60} {
		tally.guess(&Attempt{At: monday + hours*hour, Account: "a", Guess: true}, allowed)
	}
	for range 9 {
		tally.guess(&Attempt{At: monday, Account: "nobody", Guess: true, Unknown: true}, allowed)
		tally.guess(&Attempt{At: monday, Account: "b", Guess: true}, Answer{})
	}
	tally.guess(&Attempt{At: monday, Account: "b", Guess: true, Right: true}, allowed)
	// From where its owner signs in a guess is no stranger's.
	tally.signedIn(&Attempt{Account: "c", From: &Place{Block: "198.51.100.0/24"}})
	for i := range 10 {
		block := "198.51.100.0/24"
		if i >= 6 {
			block = "203.0.113.0/24"
		}
		tally.guess(&Attempt{At: monday, Account: "c", From: &Place{Block: block}, Guess: true}, allowed)
	}
	tally.finish()
	want := Tally{Attempts: 36, Guesses: 27, Worst: 10, Strangers: 5, Found: 1}
	if diff := cmp.Diff(want, *tally, cmpopts.IgnoreUnexported(Tally{})); diff != "" {
		t.Errorf("tally differs (-want +got):\n%s", diff)
	}
}

// The same seed brings the same figures to the last one, another one others,
// and every policy meets the same people.
func TestRunsCanBeRepeated(t *testing.T) {
	s := &Scenarios[slices.IndexFunc(Scenarios, func(s Scenario) bool { return s.Name == "botnet" })]
	play := func(seed uint64, c int) Tally {
		p, err := Contenders[c].New(Variants[0])
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		tally, err := s.Run(seed, Variants[0], true, p)
		if err != nil {
			t.Fatal(err)
		}
		return tally
	}
	first := play(1, 0)
	if diff := cmp.Diff(first, play(1, 0), cmpopts.IgnoreUnexported(Tally{})); diff != "" {
		t.Errorf("a second run differs:\n%s", diff)
	}
	if cmp.Equal(first, play(2, 0), cmpopts.IgnoreUnexported(Tally{})) {
		t.Error("another seed brings the same figures")
	}
	if other := play(1, len(Contenders)-1); other.SignIns != first.SignIns || other.Attempts != first.Attempts {
		t.Errorf("another policy meets %d sign-ins and %d guesses, want %d and %d", other.SignIns, other.Attempts, first.SignIns, first.Attempts)
	}
}
