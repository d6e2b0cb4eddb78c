//go:build race

package netprefix

import "time"

// The race detector makes loading about ten times as slow.
const loadDeadline = 10 * time.Second
