package store_test

import (
	"testing"
	"time"

	"loginguard/store"
	"loginguard/store/storetest"
)

// openMemory opens a memory store for the suite. Its own clock stands at the
// moment at which the virtual ones begin, so that nothing is swept away while
// these run.
func openMemory(t *testing.T) storetest.Harness {
	m := store.NewMemory(store.MemoryOptions{Now: func() int64 { return 1790000000000000 }})
	t.Cleanup(func() { _ = m.Close() })
	put := func(key, value string) { m.Put(key, value, time.Now().Add(100*365*24*time.Hour).UnixMicro()) }
	return storetest.Harness{
		Stores: []store.Store{m, m},
		Values: func() map[string]string {
			if keys := m.Immortal(); len(keys) > 0 {
				t.Errorf("keys without an expiry: %v", keys)
			}
			return m.Values()
		},
		Put: put, PutForever: put,
	}
}

func TestMemoryConforms(t *testing.T) { storetest.Run(t, openMemory) }

func TestMemoryBoundsAttacks(t *testing.T) { storetest.Attack(t, openMemory, 4) }

func TestMemoryKeepsTime(t *testing.T) { storetest.Clock(t, openMemory, 10_000) }
