package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// ErrEviction is returned by [Redis.Inspect] for a server that may evict
// counters.
var ErrEviction = errors.New("the server evicts keys when it is full, which would let attempts through: set maxmemory-policy noeviction, or store.allow_eviction")

// ErrVersion is returned by [Redis.Inspect] for a server that is too old: a
// script there may not write after it has asked for the time.
var ErrVersion = errors.New("the server is too old: Redis 5.0 or newer, or Valkey, is needed")

// oldest is the first major version that [ErrVersion] is not about.
const oldest = 5

// Inspect checks, once the server answers, that it is one that keeps what it
// was told; of a cluster every node, also those that may become masters. It
// needs no more than the right to INFO; an error that is neither [ErrEviction]
// nor [ErrVersion] means that the check could not be made.
func (r *Redis) Inspect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, max(r.timeout, time.Second))
	defer cancel()
	if r.cluster == nil {
		return r.inspect(ctx, r.client)
	}
	var (
		mu   sync.Mutex
		errs []error
	)
	err := r.cluster.nodes.client.ForEachShard(ctx, func(ctx context.Context, node *redis.Client) error {
		if err := r.inspect(ctx, node); err != nil {
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, fmt.Errorf("node %s: %w", node.Options().Addr, err))
		}
		return nil
	})
	return errors.Join(append(errs, err)...)
}

// inspect checks one server. Before Redis 7 INFO takes one section at a time.
func (r *Redis) inspect(ctx context.Context, c redis.Cmdable) error {
	server, err := c.Info(ctx, "server").Result()
	if err != nil {
		return fmt.Errorf("read redis_version by INFO: %w", err)
	}
	if v, ok := infoField(server, "redis_version"); ok && tooOld(v) {
		return fmt.Errorf("redis_version %s: %w", v, ErrVersion)
	}
	memory, err := c.Info(ctx, "memory").Result()
	if err != nil {
		return fmt.Errorf("read maxmemory-policy by INFO: %w", err)
	}
	if v, ok := infoField(memory, "maxmemory_policy"); ok && v != "noeviction" && !r.evict {
		return fmt.Errorf("maxmemory-policy %s: %w", v, ErrEviction)
	}
	return nil
}

// infoField returns one line of INFO.
func infoField(info, name string) (string, bool) {
	for line := range strings.SplitSeq(info, "\n") {
		if n, v, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && n == name {
			return v, true
		}
	}
	return "", false
}

// tooOld reports whether a version is known to be below the oldest. One that
// cannot be read is that of a product of its own.
func tooOld(version string) bool {
	major, _, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(major)
	return err == nil && n < oldest
}
