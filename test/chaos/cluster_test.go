package chaos

import (
	"context"
	"testing"
	"time"

	"loginguard/store"
	"loginguard/store/storetest"
	"loginguard/test/internal/topology"
)

// clusterOpener opens two clients of one cluster, which it empties.
func clusterOpener(c *topology.Cluster) storetest.Opener {
	return func(t *testing.T) storetest.Harness {
		c.Flush()
		raw := c.Client()
		put := func(key, value string, ttl time.Duration) {
			if err := raw.Set(context.Background(), key, value, ttl).Err(); err != nil {
				t.Fatal(err)
			}
		}
		return storetest.Harness{
			Stores:     []store.Store{open(t, c.URL(), unhurried), open(t, c.URL(), unhurried)},
			Values:     func() map[string]string { return c.Values(t) },
			Put:        func(key, value string) { put(key, value, time.Hour) },
			PutForever: func(key, value string) { put(key, value, 0) },
		}
	}
}

// TestClusterConforms runs the suite that the memory store and a single Redis
// pass.
func TestClusterConforms(t *testing.T) {
	storetest.Run(t, clusterOpener(topology.StartCluster(t)))
}
