// Package store keeps token buckets and account records and changes them in
// atomic steps. It knows nothing of logins: it runs the list of charges that
// package policy builds.
//
// Call [NewMemory] for one process or [OpenRedis] for any number of them, then
// [Store.Take] before a credential is verified and [Store.Settle] after. The
// arithmetic of one bucket is the pure function in bucket.go; the algorithm of
// a step is in take.go and settle.go, and once more in Lua for Redis. Both
// write the same strings, so a bucket can be read by a person with GET.
//
// The package does not decide what to limit, how to name keys, or what a
// failure of the store means for an attempt.
package store
