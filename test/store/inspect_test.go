package store

import (
	"context"
	"errors"
	"testing"
	"time"

	"loginguard/store"
	"loginguard/test/internal/redisd"
)

// TestInspectRefusesEviction: a server that may drop counters.
func TestInspectRefusesEviction(t *testing.T) {
	ctx := context.Background()
	s := redisd.Start(t)
	strict := open(t, s)
	lax, err := store.OpenRedis(store.RedisOptions{URL: s.URL(), Timeout: 10 * time.Second, AllowEviction: true})
	if err != nil {
		t.Fatal(err)
	}
	defer lax.Close()
	for policy, ok := range map[string]bool{
		"noeviction": true, "allkeys-lru": false, "allkeys-lfu": false, "allkeys-random": false,
		"volatile-lru": false, "volatile-lfu": false, "volatile-random": false, "volatile-ttl": false,
	} {
		s.Do("CONFIG", "SET", "maxmemory-policy", policy)
		switch err := strict.Inspect(ctx); {
		case ok && err != nil:
			t.Errorf("%s: %v, want it accepted", policy, err)
		case !ok && !errors.Is(err, store.ErrEviction):
			t.Errorf("%s: %v, want ErrEviction", policy, err)
		}
		if err := lax.Inspect(ctx); err != nil {
			t.Errorf("%s with eviction allowed: %v", policy, err)
		}
	}
	s.Do("ACL", "SETUSER", "guard", "on", ">word", "~lg:*", "+@all", "-info")
	err = openWithin(t, "redis://guard:word@"+s.Addr, 5*time.Second).Inspect(ctx)
	if err == nil || errors.Is(err, store.ErrEviction) || store.Class(err) != "auth" {
		t.Errorf("without the right to INFO: %v", err)
	}
}

// TestPingLeavesNothing but its own key, which soon expires.
func TestPingLeavesNothing(t *testing.T) {
	s := redisd.Start(t)
	if err := open(t, s).Ping(context.Background()); err != nil {
		t.Fatal(err)
	}
	for key := range s.Values(t) {
		if key != "lg:probe" {
			t.Errorf("key %s is left", key)
		}
	}
}
