//go:build !race || slow

package guard

const (
	subscribers = 20_000
	hours       = 6 // that the run lasts
)
