package store

import (
	"context"
	"testing"
	"time"

	"loginguard/store"
	"loginguard/store/storetest"
	"loginguard/test/internal/redisd"
)

// open returns a store on the server with a budget that a busy machine does
// not exhaust.
func open(t testing.TB, s *redisd.Server) *store.Redis {
	t.Helper()
	return openWithin(t, s.URL(), 10*time.Second)
}

// openWithin returns a store with a budget of its own.
func openWithin(t testing.TB, url string, budget time.Duration) *store.Redis {
	t.Helper()
	r, err := store.OpenRedis(store.RedisOptions{URL: url, Timeout: budget})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// opener opens two clients of one server, which it empties.
func opener(s *redisd.Server) storetest.Opener {
	return func(t *testing.T) storetest.Harness {
		s.Do("FLUSHALL")
		c := s.Client()
		t.Cleanup(func() { _ = c.Close() })
		put := func(key, value string, ttl time.Duration) {
			if err := c.Set(context.Background(), key, value, ttl).Err(); err != nil {
				t.Fatal(err)
			}
		}
		return storetest.Harness{
			Stores:     []store.Store{open(t, s), open(t, s)},
			Values:     func() map[string]string { return s.Values(t) },
			Put:        func(key, value string) { put(key, value, time.Hour) },
			PutForever: func(key, value string) { put(key, value, 0) },
		}
	}
}

func TestRedisConforms(t *testing.T) { storetest.Run(t, opener(redisd.Start(t))) }

func TestRedisBoundsAttacks(t *testing.T) { storetest.Attack(t, opener(redisd.Start(t)), 1) }

func TestRedisKeepsTime(t *testing.T) { storetest.Clock(t, opener(redisd.Start(t)), 500) }
