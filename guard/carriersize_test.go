//go:build !race || slow

package guard

// subscribers of the carrier.
const subscribers = 20_000
