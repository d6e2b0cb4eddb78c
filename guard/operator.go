package guard

import (
	"cmp"
	"context"
	"errors"
	"net/netip"

	"loginguard/netprefix"
	"loginguard/policy"
	"loginguard/store"
)

// Forget clears an account's buckets, all that is known of an account, or a
// network's buckets. The caller must be an admin, which the protocol checks.
// Its error is an *Error.
func (g *Guard) Forget(ctx context.Context, caller Caller, q ForgetRequest) error {
	rules := g.current(ctx)
	realm := cmp.Or(q.Realm, policy.DefaultRealm)
	if err := mayUse(rules, caller, realm); err != nil {
		return err
	}
	var (
		f   store.Forget
		err error
	)
	switch {
	case (q.Account == "") == (q.Network == ""):
		return invalid("account", "exactly one of account and network is needed")
	case q.Network != "":
		if q.Scope != "" && q.Scope != "limits" {
			return invalid("scope", "of a network can only be limits")
		}
		if f.Keys, err = networkKeys(rules, realm, q.Network); err != nil {
			return err
		}
	default:
		if q.Scope != "" && q.Scope != "limits" && q.Scope != "credentials" {
			return invalid("scope", "is not limits or credentials")
		}
		name, err := account(rules, q.Account)
		if err != nil {
			return err
		}
		f = store.Forget{
			Record: policy.RecordKey(g.ring.Account(realm, name)), Credentials: q.Scope == "credentials",
			Keep: rules.Policy.DeviceTTL().Microseconds(), Remember: rules.Policy.Remember().Microseconds(),
		}
	}
	_, err = call(ctx, g, "forget", func(ctx context.Context) (struct{}, error) {
		return struct{}{}, errors.Join(g.store.Forget(ctx, f), g.forgetLocal(ctx, f))
	})
	g.denials.clear()
	if err != nil {
		return unavailable(err)
	}
	return nil
}

// forgetLocal clears the buckets of FailLocal, which knows nothing else that
// would have to be forgotten.
func (g *Guard) forgetLocal(ctx context.Context, f store.Forget) error {
	f.Credentials = false
	return g.local.Forget(ctx, f)
}

// networkKeys finds the buckets of a network by its CIDR or a pool's name.
func networkKeys(rules *Rules, realm, name string) ([]string, error) {
	if rules.Networks.Pool(name) {
		which := netprefix.Network{Level: netprefix.Pool, Name: name}
		return rules.Policy.NetworkKeys(realm, []netprefix.Network{which}, which), nil
	}
	p, err := netprefix.ParsePrefix(name)
	if err != nil {
		return nil, &Error{Kind: KindInvalid, Field: "network", Detail: "is neither a CIDR nor the name of a pool", Err: err}
	}
	_, networks := rules.Networks.Classify(p.Addr())
	for _, n := range networks {
		if q, err := netip.ParsePrefix(n.Name); n.Name == name || err == nil && q == p {
			return rules.Policy.NetworkKeys(realm, networks, n), nil
		}
	}
	return nil, invalid("network", "is not one that buckets are kept for: use the block that explain shows, such as a /32 or /24")
}

// Explain answers how an attempt would be decided now, and why, and charges
// nothing. The caller must be an admin. Its error is an *Error.
func (g *Guard) Explain(ctx context.Context, caller Caller, q Request) (Explanation, error) {
	rules := g.current(ctx)
	r, err := resolve(g.ring, rules, caller, q)
	if err != nil {
		return Explanation{}, err
	}
	plan := planned(rules.Policy, r, q)
	plan.Take.Peek = true
	t, err := call(ctx, g, "explain", func(ctx context.Context) (store.Taken, error) { return g.store.Take(ctx, plan.Take) })
	if err != nil {
		return Explanation{}, unavailable(err)
	}
	d := g.read(plan, t, q.CanChallenge)
	e := Explanation{
		Decision: d.Verdict, Busy: d.Busy, Limit: d.Limit, RetryAfter: d.RetryAfter,
		Client: r.address(), ClientSource: r.client.Source, Class: r.Class.String(),
		Account: r.Account, Familiar: t.Familiar, Failures: t.Failures,
		Networks: make([]ExplainedNetwork, 0, len(r.Networks)), Limits: make([]ExplainedLimit, 0, len(t.Buckets)),
	}
	for _, n := range r.Networks {
		e.Networks = append(e.Networks, ExplainedNetwork{n.Level.String(), n.Name})
	}
	for i, b := range t.Buckets {
		if !b.Applies {
			continue
		}
		rule := plan.Rules[i]
		e.Limits = append(e.Limits, ExplainedLimit{
			Limit: rule.Limit, Level: rule.Level, Mode: rule.Mode, Capacity: b.Capacity, Remaining: b.Remaining(),
			RetryAfter: seconds(b.Wait), Strikes: b.Strikes, WouldDeny: b.Dry, Override: rule.Override,
		})
	}
	return e, nil
}
