//go:build race && !slow

package guard

// subscribers of the carrier: a tenth, since the race detector makes these
// runs of six hours take minutes. The whole runs without it, and when slow.
const subscribers = 2_000
