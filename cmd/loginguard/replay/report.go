package replay

import "time"

// Report is what a replay found, as it is printed. Its JSON is for programs:
// members are added, none is renamed.
type Report struct {
	Log       string    `json:"log"`
	Events    int64     `json:"events"`
	Successes int64     `json:"successes"` // right credentials, whether or not a policy let them in
	NoAccount int64     `json:"no_account"`
	First     time.Time `json:"first,omitzero"`
	Last      time.Time `json:"last,omitzero"`

	SteppedBack int64  `json:"stepped_back"` // events with a time before that of an earlier one
	Skipped     int64  `json:"skipped"`      // lines that could not be used
	FirstSkip   string `json:"first_skip,omitempty"`
	OtherLines  int64  `json:"other_lines"` // lines about something else

	Policies []*Outcome `json:"policies"` // the one to try, then the one to compare with
	Changes  *Changes   `json:"changes,omitempty"`

	// NamesHashed says that accounts are shown by their keyed hash.
	NamesHashed bool `json:"names_hashed"`
}

// Outcome is what one policy did with the log.
type Outcome struct {
	Config string `json:"config"`
	Mode   string `json:"mode"`

	Allowed         int64 `json:"allowed"`
	Denied          int64 `json:"denied"`
	DeniedSuccesses int64 `json:"denied_successes"` // of these the credential was right
	Challenged      int64 `json:"challenged"`       // and not denied

	// WouldDeny counts allowed events which a log-only limit would have denied.
	WouldDeny          int64 `json:"would_deny"`
	WouldDenySuccesses int64 `json:"would_deny_successes"`

	People      int64 `json:"denied_people"`           // accounts with a denied success
	PeopleMore  bool  `json:"denied_people_more"`      // there are more, see mostPeople
	LongestWait int   `json:"longest_wait"`            // that was told, in seconds
	PersonWait  int   `json:"longest_wait_of_success"` // that was told to one with the right credential

	Limits   []*LimitOutcome `json:"limits"`
	Accounts []Count         `json:"accounts"` // that were denied, or would have been, most
	Networks []Count         `json:"networks"` // by their coarsest level

	series *series // kinds: attempts, denied by each of Limits, would be denied by each
}

// LimitOutcome is what one limit did.
type LimitOutcome struct {
	Limit string `json:"limit"`
	Level string `json:"level,omitempty"` // of a network limit
	Mode  string `json:"mode"`

	Events int64 `json:"events"` // that needed a token of it

	Denied          int64 `json:"denied"` // in its name: the one that waits longest names a denial
	DeniedSuccesses int64 `json:"denied_successes"`
	Challenged      int64 `json:"challenged"`

	WouldDeny          int64 `json:"would_deny"`
	WouldDenySuccesses int64 `json:"would_deny_successes"`
}

// Name is the limit with its level, for people.
func (l *LimitOutcome) Name() string { return limitName(l.Limit, l.Level) }

func limitName(limit, level string) string {
	if level == "" || level == limit {
		return limit
	}
	return limit + " " + level
}

// Count is how often one account or network was denied.
type Count struct {
	Name      string `json:"name"`
	Denied    int64  `json:"denied"`
	WouldDeny int64  `json:"would_deny"`
	Successes int64  `json:"successes"` // of both, the credential was right

	// AtMostMissed is how many more there may have been in all, before this
	// name took the place of a rarer one; 0 up to topKeep names.
	AtMostMissed int64 `json:"at_most_missed"`
}

// Changes is what the policy to try decides otherwise than the other.
type Changes struct {
	OnlyFirst  Change `json:"denied_only_by_config"`  // newly denied
	OnlySecond Change `json:"denied_only_by_against"` // not denied any more
	Both       Change `json:"denied_by_both"`
}

// Change is a number of events, and by which limits they were denied: those of
// the first policy, for OnlySecond those of the second.
type Change struct {
	Events    int64          `json:"events"`
	Successes int64          `json:"successes"`
	Limits    []*LimitChange `json:"limits"`
}

// LimitChange is the share of one limit in a [Change].
type LimitChange struct {
	Limit     string `json:"limit"`
	Level     string `json:"level,omitempty"`
	Events    int64  `json:"events"`
	Successes int64  `json:"successes"`
}

// Name is the limit with its level, for people.
func (l *LimitChange) Name() string { return limitName(l.Limit, l.Level) }

// add counts an event that limit denied.
func (c *Change) add(limit, level string, right bool) {
	c.Events++
	count(&c.Successes, right)
	for _, l := range c.Limits {
		if l.Limit == limit && l.Level == level {
			l.Events++
			count(&l.Successes, right)
			return
		}
	}
	l := &LimitChange{Limit: limit, Level: level, Events: 1}
	count(&l.Successes, right)
	c.Limits = append(c.Limits, l)
}
