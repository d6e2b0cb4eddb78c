package guard

import (
	"math"
	"slices"

	"loginguard/policy"
	"loginguard/store"
)

// read turns what the store did into a decision, without its token.
func (g *Guard) read(plan policy.Plan, t store.Taken, canChallenge bool) Decision {
	d := Decision{Verdict: Allow, Familiar: t.Familiar, Failures: t.Failures, Shown: -1}
	denied := t.Outcome == store.Denied
	lowest := math.Inf(1)       // share of a bucket that is left
	names, wait := -1, int64(0) // the bucket that names the denial; the longest wait of all
	challenge := canChallenge
	for i, b := range t.Buckets {
		if !b.Applies {
			continue
		}
		rule := plan.Rules[i]
		if rule.Mode == policy.LogOnly {
			if b.Dry && !slices.Contains(d.WouldDeny, rule.Limit) {
				d.WouldDeny = append(d.WouldDeny, rule.Limit)
			}
			d.LogOnly = append(d.LogOnly, meter(rule, b))
			continue
		}
		m := meter(rule, b)
		switch {
		case denied && b.Dry:
			m.Remaining, m.Reset = 0, seconds(b.Wait)
			wait = max(wait, b.Wait)
			challenge = challenge && rule.Challenge
			if names < 0 || graver(rule, b, plan.Rules[names], t.Buckets[names]) {
				names, d.Shown = i, len(d.Meters)
			}
		case !denied:
			if share := float64(m.Remaining) / float64(max(1, m.Capacity)); share < lowest {
				lowest, d.Shown = share, len(d.Meters)
			}
		}
		d.Meters = append(d.Meters, m)
	}
	switch {
	case names < 0 && denied:
		// A store that denies and names no bucket: it is never read as a yes.
		d.Verdict, d.Busy, d.Reason, d.RetryAfter = Deny, true, ReasonStore, g.retryAfter(wait)
		return d
	case names < 0:
		return d
	}
	rule := plan.Rules[names]
	d.Limit, d.Level = rule.Limit, rule.Level
	if challenge {
		d.Verdict = Challenge
		return d
	}
	d.Verdict, d.Busy = Deny, rule.Global
	d.RetryAfter = g.retryAfter(wait)
	return d
}

// graver reports whether dry bucket a rather than b names a denial: one of the
// account or network before the global one, then the one that waits longest.
func graver(a policy.Rule, at store.Bucket, b policy.Rule, bt store.Bucket) bool {
	if a.Global != b.Global {
		return b.Global
	}
	return at.Wait > bt.Wait
}

// meter reads one bucket for the RateLimit headers.
func meter(rule policy.Rule, b store.Bucket) Meter {
	return Meter{
		Limit: rule.Limit, Level: rule.Level, Stranger: rule.Stranger, Charged: b.Charged,
		Capacity: b.Capacity, Window: seconds(b.Capacity * b.Interval), Remaining: b.Remaining(), Reset: seconds(b.Missing),
		Dry: b.Dry,
	}
}

// seconds returns whole seconds, rounded up.
func seconds(micros int64) int64 { return (micros + 1e6 - 1) / 1e6 }

// mostRetry is the longest wait that is ever told, in seconds.
const mostRetry = 3600

// retryAfter returns whole seconds, at least 1 and at most an hour, with up to
// a tenth added and never taken away: clients that were denied together must
// not come back together.
func (g *Guard) retryAfter(micros int64) int {
	spread := micros + int64(float64(micros)*0.1*g.o.Jitter())
	return int(min(max(1, seconds(spread)), mostRetry))
}
