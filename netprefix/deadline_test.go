//go:build !race

package netprefix

import "time"

const loadDeadline = 2 * time.Second
