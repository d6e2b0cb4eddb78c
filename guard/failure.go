package guard

import (
	"context"
	"time"

	"loginguard/policy"
)

// withoutStore decides an attempt that the store could not, by the failure
// policy of its route. Its error is an *Error.
func (g *Guard) withoutStore(ctx context.Context, rules *Rules, caller Caller, q Request, r resolved, cause error) (Decision, error) {
	switch g.onFailure(rules.Policy, r.Route) {
	case FailLocal:
		d, err := g.decide(ctx, rules, caller, q, r, g.local)
		if err == nil || refused(err) {
			d.Degraded = d.Verdict == Allow
			return d, err
		}
	case FailOpen:
		if d, err := g.degraded(rules, caller, r); err == nil {
			return d, nil
		}
	}
	d := g.busy(ReasonStore)
	d.Account, d.Client, d.Err = r.Account, r.address(), cause
	return d, nil
}

// degraded allows an attempt that nobody decided. Its token was charged
// nothing, so that its report is accepted and a success still teaches.
func (g *Guard) degraded(rules *Rules, caller Caller, r resolved) (Decision, error) {
	ttl := rules.Policy.AttemptTTL()
	token := g.newReceipt(caller, r)
	token.ttl = ttl.Microseconds()
	token.settled(0, time.Now().UnixMicro(), nil)
	attempt, err := g.seal(token)
	if err != nil {
		return Decision{}, err
	}
	return Decision{
		Verdict: Allow, Degraded: true, Attempt: attempt, ExpiresIn: ttl, Shown: -1,
		Account: r.Account, Client: r.address(),
	}, nil
}

// overloaded answers a check for which there is no room.
func (g *Guard) overloaded(q Request) Decision {
	d := g.busy(ReasonOverloaded)
	realm, route := q.names()
	// Labels come from the configuration, never from the request.
	p := g.rules.Load().Policy
	if _, ok := p.Route(route); ok && p.Realm(realm) {
		g.o.Observer.Decided(realm, route, d)
	}
	return d
}

// busySpread is the span, in seconds, over which clients are told to come back
// after an outage of unknown length.
const busySpread = 4

// busy denies for no fault of the account or network.
func (g *Guard) busy(reason string) Decision {
	return Decision{
		Verdict: Deny, Reason: reason, Busy: true, Shown: -1,
		RetryAfter: 1 + int(busySpread*g.o.Jitter()),
	}
}

// onFailure returns what the route does without the store. In log-only mode
// nobody is denied, not even then.
func (g *Guard) onFailure(p *policy.Policy, route string) string {
	r, ok := p.Route(route)
	switch {
	case p.Mode() != policy.Enforce:
		return FailOpen
	case ok && r.OnFailure != "":
		return r.OnFailure
	}
	return g.o.OnFailure
}
