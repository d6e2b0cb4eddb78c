//go:build race && !slow

package guard

// A tenth of the people for a third of the time, since the race detector makes
// the whole take minutes. That runs without it, and when slow.
const (
	subscribers = 2_000
	hours       = 2
)
