package client

import (
	"net/http"
	"time"
)

// Attempt is the body of a check and of an explanation. Members left empty are
// not sent.
type Attempt struct {
	Account         string     `json:"account,omitempty"`
	IP              string     `json:"ip,omitempty"`
	Forwarded       *Forwarded `json:"forwarded,omitempty"`
	Realm           string     `json:"realm,omitempty"`
	Route           string     `json:"route,omitempty"`
	ID              string     `json:"id,omitempty"`
	Device          string     `json:"device,omitempty"`
	PasswordTag     string     `json:"password_tag,omitempty"`
	CanChallenge    bool       `json:"can_challenge,omitempty"`
	ChallengePassed bool       `json:"challenge_passed,omitempty"`
}

// Forwarded is the raw material of a client address: the peer and the lines of
// one of the two headers.
type Forwarded struct {
	Peer          string   `json:"peer"`
	XForwardedFor []string `json:"x_forwarded_for,omitempty"`
	Forwarded     []string `json:"forwarded,omitempty"`
}

// Report is the body of a report by attempt token, or by the caller's own id
// with account and address.
type Report struct {
	Attempt        string `json:"attempt,omitempty"`
	ID             string `json:"id,omitempty"`
	Account        string `json:"account,omitempty"`
	IP             string `json:"ip,omitempty"`
	Realm          string `json:"realm,omitempty"`
	Outcome        string `json:"outcome"`
	Reason         string `json:"reason,omitempty"`
	RememberDevice bool   `json:"remember_device,omitempty"`
	PasswordTag    string `json:"password_tag,omitempty"`
}

// Forget is the body of a request to forget an account or a network.
type Forget struct {
	Realm   string `json:"realm,omitempty"`
	Account string `json:"account,omitempty"`
	Scope   string `json:"scope,omitempty"`
	Network string `json:"network,omitempty"`
}

// Reply is what every answer has.
type Reply struct {
	Status int           `json:"-"` // of HTTP; 0 when no answer came
	Header http.Header   `json:"-"`
	Body   []byte        `json:"-"`
	Took   time.Duration `json:"-"`
}

// Problem holds the members of a refusal, empty in any other answer.
type Problem struct {
	Type    string `json:"type"`
	Title   string `json:"title"`
	Detail  string `json:"detail"`
	Field   string `json:"field"`
	Support string `json:"support"`
}

// Decision answers a check.
type Decision struct {
	Reply
	Problem
	Decision   string   `json:"decision"` // allow, challenge or deny
	Attempt    string   `json:"attempt"`
	ExpiresIn  int      `json:"expires_in"` // seconds
	Familiar   bool     `json:"familiar"`
	WouldDeny  []string `json:"would_deny"`
	Failures   int      `json:"failures"`
	Degraded   bool     `json:"degraded"`
	Limit      string   `json:"limit"`
	Level      string   `json:"level"`
	Reason     string   `json:"reason"`
	RetryAfter int      `json:"retry_after"` // seconds
}

// Allowed reports whether the attempt may go ahead.
func (d Decision) Allowed() bool { return d.Status == http.StatusOK && d.Decision == "allow" }

// Reported answers a report, and a request to forget.
type Reported struct {
	Reply
	Problem
	Applied   bool   `json:"applied"`
	Device    string `json:"device"`
	DeviceTTL int    `json:"device_ttl"` // seconds
}

// Explanation answers why an attempt is decided as it is.
type Explanation struct {
	Reply
	Problem
	Decision     string    `json:"decision"`
	Limit        string    `json:"limit"`
	RetryAfter   int       `json:"retry_after"` // seconds
	Client       string    `json:"client"`
	ClientSource string    `json:"client_source"`
	Class        string    `json:"class"`
	Networks     []Network `json:"networks"`
	Account      string    `json:"account"` // a hash
	Familiar     bool      `json:"familiar"`
	Failures     int       `json:"failures"`
	Limits       []Limit   `json:"limits"`
}

// Network is one block that the client's address is counted in.
type Network struct {
	Level   string `json:"level"`
	Network string `json:"network"`
}

// Limit is the state of one bucket.
type Limit struct {
	Limit      string `json:"limit"`
	Level      string `json:"level"`
	Mode       string `json:"mode"`
	Capacity   int    `json:"capacity"`
	Remaining  int    `json:"remaining"`
	RetryAfter int    `json:"retry_after"` // seconds, 0 when it can pay
	Strikes    int    `json:"strikes"`
	WouldDeny  bool   `json:"would_deny"`
	Override   string `json:"override"`
}

// Find returns the state of a limit at a level, "" for those without levels;
// the zero Limit when the attempt is not charged on it.
func (e Explanation) Find(limit, level string) Limit {
	for _, l := range e.Limits {
		if l.Limit == limit && l.Level == level {
			return l
		}
	}
	return Limit{}
}
