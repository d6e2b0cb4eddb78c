package guard

import "context"

// pinKey is where a context carries rules.
type pinKey struct{}

// WithRules returns a context under which every call of a [Guard] goes by r,
// whatever is in force by then. A request that reads rules, calls the guard, or
// calls it twice, takes them once and lets all of it see the same: a [Guard.Swap]
// in between would otherwise mix two configurations in one answer. r must not be
// changed afterwards.
func WithRules(ctx context.Context, r *Rules) context.Context {
	return context.WithValue(ctx, pinKey{}, r)
}

// current returns the rules of a call: those of its context, or those in force.
func (g *Guard) current(ctx context.Context) *Rules {
	if r, ok := ctx.Value(pinKey{}).(*Rules); ok && r != nil {
		return r
	}
	return g.rules.Load()
}
