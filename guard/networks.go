package guard

import (
	"loginguard/policy"
	"loginguard/store"
)

// planned lays an attempt out for the store. Of one that is to charge networks
// only, the buckets that are the account's own are left out: they are the
// fields of its record. The record itself is still read, so that an account
// which lives in a network is counted among the people there.
func planned(p *policy.Policy, r resolved, q Request) policy.Plan {
	plan := p.Plan(r.Attempt)
	if !q.NetworksOnly {
		return plan
	}
	charges, rules := make([]store.Charge, 0, len(plan.Rules)), make([]policy.Rule, 0, len(plan.Rules))
	for i, c := range plan.Take.Charges {
		if c.Field == "" {
			charges, rules = append(charges, c), append(rules, plan.Rules[i])
		}
	}
	plan.Take.Charges, plan.Rules = charges, rules
	plan.Take.Challenged = -1 // it was one of those
	return plan
}
