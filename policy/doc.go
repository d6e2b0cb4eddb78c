// Package policy knows the limits: which buckets an attempt is charged on, in
// which lane, at what size and cost, and under which keys they are kept.
//
// Start from [Defaults], change what differs, and call [New]: it validates
// everything at once and returns an immutable [Policy] that any number of
// goroutines may use. [Policy.Plan] turns an attempt into the list of charges
// that a store runs in one atomic step, [Policy.Settle] and [Policy.Refund]
// lay out the end of that attempt. All three are pure: the same policy and the
// same attempt give the same result, and nothing reads a clock.
//
// The files, in the order in which to read them:
//
//	rate.go       "10/6h" and spans as people write them
//	errors.go     mistakes with the path of the setting
//	config.go     the settings, defaults.go their defaults
//	limits.go     what sets the eleven limits apart
//	size.go       exact arithmetic: scaling, splitting, waits
//	validate.go   bounds of every number and word, fits.go how they fit together
//	override.go   exceptions, match.go which attempts they are for
//	policy.go     New, settings.go what a Policy tells of itself
//	buckets.go    the buckets of an attempt and their keys
//	plan.go       an attempt's charges, settle.go its end
//	published.go  the limits as users may read them
//
// The package does not read files, keep state, resolve addresses, hash
// accounts, or decide: it imports plain types of packages store and netprefix
// only.
package policy
