package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// nodes runs scripts on the masters of a Redis Cluster. Each master has a
// batcher of its own, so that one which hangs holds up nothing but what lives
// there, and calls are sent by the node's own client, which repeats nothing:
// the cluster client would send again what may have been executed.
type nodes struct {
	client  *redis.ClusterClient
	timeout time.Duration

	mu sync.Mutex
	of map[*redis.Client]*batcher
}

// nodesMost bounds the batchers that are kept. Nodes come and go; those of
// nodes that are gone are forgotten with all others now and then.
const nodesMost = 256

func newNodes(client *redis.ClusterClient, timeout time.Duration) *nodes {
	return &nodes{client: client, timeout: timeout, of: make(map[*redis.Client]*batcher)}
}

// do executes a call on the master of its keys. When that says that the keys
// have moved, and so did nothing, the cluster client follows them.
func (n *nodes) do(ctx context.Context, c *call) (any, error) {
	key := ""
	if len(c.args.keys) > 0 {
		key = c.args.keys[0]
	}
	loading, cancel := context.WithTimeout(ctx, n.timeout)
	defer cancel()
	node, err := n.client.MasterForKey(loading, key)
	if err != nil {
		return nil, fmt.Errorf("find the node: %w", err)
	}
	reply, err := n.batcher(node).do(ctx, c)
	if n.outdated(err) && Class(err) == "moved" {
		ctx, cancel := context.WithTimeout(ctx, n.timeout)
		defer cancel()
		cmd := c.command(ctx, true)
		_ = n.client.Process(ctx, cmd) // is in the command, too
		return cmd.Result()
	}
	return reply, err
}

// outdated reports whether a failure may come from an old map of the cluster,
// and then has the map read again, in the background.
func (n *nodes) outdated(err error) bool {
	switch Class(err) {
	case "moved", "refused", "closed", "timeout", "readonly", "clusterdown", "masterdown":
		n.client.ReloadState(context.Background())
		return true
	}
	return false
}

// batcher returns that of a node.
func (n *nodes) batcher(node *redis.Client) *batcher {
	n.mu.Lock()
	defer n.mu.Unlock()
	b := n.of[node]
	if b == nil {
		if len(n.of) >= nodesMost {
			clear(n.of)
		}
		b = newBatcher(node, n.timeout)
		n.of[node] = b
	}
	return b
}

// probes is how many keys, spread over the slots, are written to tell whether
// a cluster is up.
const probes = 8

// ping succeeds when one of the masters takes a write.
func (c *cluster) ping(ctx context.Context) error {
	errs := make([]error, probes)
	var all sync.WaitGroup
	for i := range probes {
		all.Go(func() {
			key := fmt.Sprintf("%s:{%d}", probeKey, i)
			node, err := c.nodes.client.MasterForKey(ctx, key)
			if err == nil {
				err = node.Set(ctx, key, "1", time.Second).Err()
			}
			if err != nil {
				c.nodes.outdated(err)
				errs[i] = fmt.Errorf("probe: %w", err)
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err == nil {
			return nil
		}
	}
	return errors.Join(errs...)
}
