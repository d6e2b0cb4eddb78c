//go:build slow

package e2e

import "testing"

// TestAllNetworksOfOneBlock moves through every /64 that a /48 has.
func TestAllNetworksOfOneBlock(t *testing.T) { manyNetworks(t, 1<<16) }
