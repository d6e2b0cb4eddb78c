package efficacy

// Tally is what one run came to.
type Tally struct {
	Attempts int // of attackers
	Guesses  int // of them reached the credential check
	Worst    int // guesses at one account within any 24 hours
	Found    int // accounts whose right password an attacker learned

	SignIns int // that owners began while it was counted
	Lost    int // of them: the right password was denied when it was first given
	Known   int // of the lost: on a device or network that had signed in before
	Never   int // of the lost: not in within 15 minutes of it
	Asked   int // sign-ins for which a challenge had to be solved

	from  int64              // moment from which it counts
	times map[string][]int64 // moments of the guesses at each account
	found map[string]bool
}

func newTally(from int64) *Tally {
	return &Tally{from: from, times: make(map[string][]int64), found: make(map[string]bool)}
}

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
	if a.Right {
		t.found[a.Account] = true
	}
}

// finish works out what needs all guesses.
func (t *Tally) finish() {
	t.Found = len(t.found)
	for _, at := range t.times {
		first := 0
		for last := range at {
			for at[last]-at[first] >= day {
				first++
			}
			t.Worst = max(t.Worst, last-first+1)
		}
	}
	t.times, t.found = nil, nil
}

// Share returns the part of the owners' sign-ins that was lost.
func (t *Tally) Share() float64 {
	if t.SignIns == 0 {
		return 0
	}
	return float64(t.Lost) / float64(t.SignIns)
}
