package guard

import (
	"time"

	"loginguard/keys"
	"loginguard/netprefix"
	"loginguard/policy"
)

// Rules is everything a decision depends on that a reload may change. It is
// immutable: a reload builds a new one and hands it to [Guard.Swap].
type Rules struct {
	Policy   *policy.Policy
	Networks *netprefix.Table
	Clients  *netprefix.Resolver
	Names    *keys.Canonicaliser
}

// Caller is the authenticated client of the API that asks.
type Caller struct {
	Name   string
	Realms []string // realms it may use
	Admin  bool
}

// Request is an attempt as a caller describes it: the members of a check.
type Request struct {
	Realm           string // "" means "default"
	Route           string // "" means "login"
	Account         string // as typed at the login, 1..1024 bytes
	IP              string // exactly one of IP and Forwarded
	Forwarded       *Forwarded
	ID              string // the caller's name for this submission, 0..128 bytes
	MostUses        int64  // how often the ID may be used in all; 0 means 4
	Device          string // device token, "" for none
	PasswordTag     string // 0..128 bytes
	RepeatOnly      bool   // the tag covers the account, too: it says nothing of other accounts
	NetworksOnly    bool   // charge networks and global alone; the account may be missing
	CanChallenge    bool
	ChallengePassed bool
}

// Forwarded is the raw material from which the client's address is derived.
type Forwarded struct {
	Peer   string
	Header string   // "x-forwarded-for" or "forwarded"
	Lines  []string // every line of that header, in order
}

// Verdict is the first word of a [Decision].
type Verdict string

// The verdicts.
const (
	Allow     Verdict = "allow"
	Challenge Verdict = "challenge"
	Deny      Verdict = "deny"
)

// Reasons for which an attempt is denied although no limit of its own is dry.
const (
	ReasonStore      = "store_unavailable"
	ReasonOverloaded = "overloaded"
)

// Decision answers a check.
type Decision struct {
	Verdict   Verdict
	Attempt   string        // signed token for the report, when allowed
	ExpiresIn time.Duration // of the attempt, when allowed
	Familiar  bool
	WouldDeny []string // log-only limits that would have denied
	Failures  int64    // reported for the account since its last success
	Degraded  bool     // allowed by on_failure, nothing was decided
	Recalled  bool     // denied again within a second, without asking the store

	Limit      string // that denies or asks for the challenge
	Level      string // of a network limit: host, site, subnet, pool
	Reason     string // ReasonStore or ReasonOverloaded
	Busy       bool   // denied for no fault of this account or network: 503, not 429
	RetryAfter int    // whole seconds 1..3600, random part included

	Err     error  // why the store did not decide, for logs; nil when it did
	Account string // keyed hash, for logs; "" for none
	Client  string // address, for logs

	Meters []Meter // enforced buckets of the attempt, for the RateLimit headers
	Shown  int     // index in Meters of the one the plain headers show, -1 for none

	LogOnly []Meter // log-only buckets of the attempt
}

// Meter is the reading of one enforced bucket.
type Meter struct {
	Limit     string
	Level     string
	Stranger  bool  // an unfamiliar network bucket: the only kind strangers may see
	Capacity  int64 // tokens
	Window    int64 // whole seconds in which an empty bucket fills
	Remaining int64 // whole tokens
	Reset     int64 // whole seconds until full; on the denying bucket, its wait
	Charged   bool
	Dry       bool // it could not pay, or a wait ran
}

// Report tells how an attempt ended.
type Report struct {
	Attempt        string // or ID with Account and IP, or neither: then the members of a check
	Request        Request
	Outcome        string // success, failure, cancelled
	Reason         string // "", bad_password, unknown_account, mfa_failed, other
	RememberDevice bool
}

// Reported answers a [Report].
type Reported struct {
	Applied   bool
	Device    string // new device token, "" when none was asked for or earned
	DeviceTTL time.Duration
}

// ForgetRequest names what an operator wants cleared: an account or a network.
type ForgetRequest struct {
	Realm   string
	Account string
	Scope   string // "", "limits" or "credentials"
	Network string // CIDR, or the name of a pool
}

// Explanation answers the question why an attempt is decided as it is.
type Explanation struct {
	Decision     Verdict
	Busy         bool
	Limit        string
	RetryAfter   int
	Client       string // address
	ClientSource string // ip, peer, x-forwarded-for, forwarded
	Class        string // none, exempt, pool, hosting
	Networks     []ExplainedNetwork
	Account      string // keyed hash
	Familiar     bool
	Failures     int64
	Limits       []ExplainedLimit
}

// ExplainedNetwork is one aggregated block of the client.
type ExplainedNetwork struct{ Level, Network string }

// ExplainedLimit is the state of one bucket that the attempt would be charged on.
type ExplainedLimit struct {
	Limit, Level, Mode string
	Capacity           int64
	Remaining          int64
	RetryAfter         int64 // whole seconds, 0 when it can pay
	Strikes            int64
	WouldDeny          bool
	Override           string // reason of the override that sized it, "" for none
}

// Kind classifies an [Error] for the protocol that answers it.
type Kind int

// The kinds of error.
const (
	KindInvalid    Kind = iota // a member has a value that cannot be used: 422
	KindConflict               // the id was used for something else or too often: 409
	KindForbidden              // realm or role not allowed: 403
	KindStore                  // the store did not answer: 503 store_unavailable
	KindOverloaded             // too many requests in progress: 503 overloaded
)

// Error is a refusal that may be shown to the caller. Field names the member
// at fault, "" for none; Detail never contains what the caller sent.
type Error struct {
	Kind   Kind
	Field  string
	Detail string
	Err    error // the cause, for the log only
}

// Error implements error.
func (e *Error) Error() string {
	if e.Field == "" {
		return e.Detail
	}
	return e.Field + ": " + e.Detail
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Observer is told what the guard does, for metrics and logs. Its methods are
// called on the path of a request and must not block. Values come from the
// configuration and from fixed sets only, except that FirstStrike is told the
// account's keyed hash and the address: for a log, not for a label.
type Observer interface {
	Decided(realm, route string, d Decision)            // every check that was answered
	WouldDeny(limit, level string)                      // a log-only bucket was dry
	Reported(outcome string, applied bool)              // every report that was valid
	Unreported(caller string, n int)                    // attempts whose lifetime ended unreported
	StoreCall(op string, d time.Duration, class string) // class "" when it succeeded

	// WouldDenyThenSuccess: an attempt that the log-only limit would have
	// denied was reported as a success. It is told once a limit.
	WouldDenyThenSuccess(limit, level string)

	// Exempt: an attempt from an address of class exempt was decided.
	Exempt(realm string)

	// FirstStrike: the account's own limit ran dry for the first time since
	// its strikes were last forgotten. client is "" where no one asked.
	FirstStrike(realm, account, client string)

	// Counted: the global limit of a realm was read, in the background.
	Counted(realm string, c Census)
}

// Census is a reading of the global limit of one realm.
type Census struct {
	Population int64 // accounts that signed in this week or last, -1 where the limit does not grow with them
	Capacity   int64 // tokens, population counted in
	Remaining  int64 // whole tokens left
}
