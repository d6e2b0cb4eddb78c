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

// TestCluster runs on one healthy cluster what needs no other: first of all
// the suite that the memory store and a single Redis pass.
func TestCluster(t *testing.T) {
	c := topology.StartCluster(t)
	t.Run("conforms", func(t *testing.T) { storetest.Run(t, clusterOpener(c)) })
	for _, part := range []struct {
		name string
		run  func(*testing.T, *topology.Cluster)
	}{
		{"decides as memory does", clusterDecidesAsMemoryDoes},
		{"bounds parallel guesses", clusterBoundsParallelGuesses},
		{"the shards sum to the limit", clusterShardsSumToTheLimit},
		{"a dry network strikes nobody", clusterDryNetworkStrikesNobody},
		{"scripts are forgotten on one node", clusterForgetsScriptsOnOneNode},
	} {
		t.Run(part.name, func(t *testing.T) { part.run(t, c) })
	}
}
