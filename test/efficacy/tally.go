package efficacy

// Tally is what one run came to.
type Tally struct {
	Attempts  int // of attackers
	Guesses   int // of them reached the credential check
	Worst     int // guesses at one account within any 24 hours
	Strangers int // the same, of guesses from networks from which the account had not signed in
	Found     int // accounts whose right password an attacker learned

	SignIns int // that owners began while it was counted
	Lost    int // of them: the right password was denied when it was first given
	Known   int // of the lost: on a device or network that had signed in before
	Never   int // of the lost: not in within 15 minutes of it
	Asked   int // sign-ins for which a challenge had to be solved

	from    int64              // moment from which it counts
	times   map[string][]int64 // moments of the guesses at each account
	strange map[string][]int64 // those from networks that are strange to it
	homes   map[home]bool
	found   map[string]bool
}

// home is a network from which an account has signed in.
type home struct{ account, block string }

func newTally(from int64) *Tally {
	return &Tally{
		from: from, times: make(map[string][]int64), strange: make(map[string][]int64),
		homes: make(map[home]bool), found: make(map[string]bool),
	}
}

// signedIn notes from where an owner has signed in.
func (t *Tally) signedIn(a *Attempt) { t.homes[home{a.Account, a.From.Block}] = true }

// guess counts an attempt of an attacker.
func (t *Tally) guess(a *Attempt, answer Answer) {
	t.Attempts++
	if !answer.Allowed {
		return
	}
	t.Guesses++
	if a.Unknown {
		return
	}
	t.times[a.Account] = append(t.times[a.Account], a.At)
	if a.From == nil || !t.homes[home{a.Account, a.From.Block}] {
		t.strange[a.Account] = append(t.strange[a.Account], a.At)
	}
	if a.Right {
		t.found[a.Account] = true
	}
}

// finish works out what needs all guesses.
func (t *Tally) finish() {
	t.Found = len(t.found)
	t.Worst, t.Strangers = mostInADay(t.times), mostInADay(t.strange)
	t.times, t.strange, t.homes, t.found = nil, nil, nil, nil
}

// mostInADay returns the most guesses at one account within any 24 hours.
func mostInADay(times map[string][]int64) (most int) {
	for _, at := range times {
		first := 0
		for last := range at {
			for at[last]-at[first] >= day {
				first++
			}
			most = max(most, last-first+1)
		}
	}
	return most
}

// Share returns the part of the owners' sign-ins that was lost.
func (t *Tally) Share() float64 {
	if t.SignIns == 0 {
		return 0
	}
	return float64(t.Lost) / float64(t.SignIns)
}
