package chaos

import (
	"os"
	"testing"
	"time"

	"loginguard/store"
	"loginguard/test/internal/service"
)

func TestMain(m *testing.M) { os.Exit(service.Main(m)) }

const second = int64(1e6)

// start is the moment at which virtual clocks begin.
const start = int64(1790000000000000)

// unhurried is a budget that a busy machine does not exhaust, where what is
// counted must not depend on speed.
const unhurried = 10 * time.Second

// open returns a store that is closed with the test.
func open(t testing.TB, url string, budget time.Duration) *store.Redis {
	t.Helper()
	return openWith(t, store.RedisOptions{URL: url, Timeout: budget})
}

func openWith(t testing.TB, o store.RedisOptions) *store.Redis {
	t.Helper()
	r, err := store.OpenRedis(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}
