package store

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"loginguard/store"
	"loginguard/test/internal/redisd"
)

// TestFaults: what a server that cannot work says is an error of its own
// class and never an admission; when it can work again, so does the store.
func TestFaults(t *testing.T) {
	s := redisd.Start(t)
	for _, f := range []struct {
		class        string
		cause, clear func(t *testing.T)
	}{
		{"oom",
			func(*testing.T) { s.Do("CONFIG", "SET", "maxmemory", "1") },
			func(*testing.T) { s.Do("CONFIG", "SET", "maxmemory", "0") }},
		{"readonly",
			func(*testing.T) { s.Do("REPLICAOF", "127.0.0.1", "1") },
			func(*testing.T) { s.Do("REPLICAOF", "NO", "ONE") }},
		{"masterdown",
			func(*testing.T) {
				s.Do("CONFIG", "SET", "replica-serve-stale-data", "no")
				s.Do("REPLICAOF", "127.0.0.1", "1")
			},
			func(*testing.T) {
				s.Do("REPLICAOF", "NO", "ONE")
				s.Do("CONFIG", "SET", "replica-serve-stale-data", "yes")
			}},
		{"noreplicas",
			func(*testing.T) { s.Do("CONFIG", "SET", "min-replicas-to-write", "1") },
			func(*testing.T) { s.Do("CONFIG", "SET", "min-replicas-to-write", "0") }},
		{"misconf",
			func(t *testing.T) {
				// A snapshot cannot take the place of a folder.
				if err := os.Mkdir(filepath.Join(s.Dir(), "dump.rdb"), 0o700); err != nil {
					t.Fatal(err)
				}
				s.Do("CONFIG", "SET", "save", "3600 1000000")
				s.Do("BGSAVE")
				until(t, "the snapshot fails", func() bool {
					return strings.Contains(s.Do("INFO", "persistence").(string), "rdb_last_bgsave_status:err")
				})
			},
			func(t *testing.T) {
				s.Do("CONFIG", "SET", "save", "")
				if err := os.Remove(filepath.Join(s.Dir(), "dump.rdb")); err != nil {
					t.Fatal(err)
				}
			}},
		{"busy",
			func(t *testing.T) {
				s.Do("CONFIG", "SET", "busy-reply-threshold", "10")
				c := s.Client()
				t.Cleanup(func() { _ = c.Close() })
				go c.Eval(context.Background(), "while true do end", nil)
				until(t, "the server is busy", func() bool {
					return strings.HasPrefix(c.Ping(context.Background()).String(), "ping: BUSY")
				})
			},
			func(*testing.T) { s.Do("SCRIPT", "KILL") }},
		{"timeout", func(*testing.T) { s.Pause() }, func(*testing.T) { s.Resume() }},
		{"refused", func(*testing.T) { s.Kill() }, func(*testing.T) { s.Run() }},
	} {
		t.Run(f.class, func(t *testing.T) {
			ctx := context.Background()
			budget := 5 * time.Second
			if f.class == "timeout" {
				budget = 100 * time.Millisecond
			}
			r := openWithin(t, s.URL(), budget)
			recovers(t, r, "lg:{b}:before")
			f.cause(t)
			settle := store.Settle{Marker: "lg:{b}:t:" + f.class, Expires: time.Now().Add(time.Hour).UnixMicro(), Fail: true, Record: "lg:{b}", Remember: 86400 * second}
			// Closed is what the first call on a connection of a killed
			// server finds.
			fits := func(err error) bool {
				c := store.Class(err)
				return c == f.class || f.class == "refused" && c == "closed"
			}
			for range 3 {
				began := time.Now()
				if out, err := r.Take(ctx, guess("lg:{b}:x", 1000)); !fits(err) || out.Outcome != store.Denied {
					t.Errorf("take: outcome %d, class %q, %v; want an error of class %s", out.Outcome, store.Class(err), err, f.class)
				}
				if took := time.Since(began); took > budget+2*time.Second {
					t.Errorf("take took %v with a budget of %v", took, budget)
				}
				if out, err := r.Settle(ctx, settle); !fits(err) || out.Applied {
					t.Errorf("settle: %+v, class %q, %v; want an error of class %s", out, store.Class(err), err, f.class)
				}
				// A write is refused to a replica before its master is asked for.
				if err := r.Ping(ctx); !fits(err) && !(f.class == "masterdown" && store.Class(err) == "readonly") {
					t.Errorf("ping: class %q, %v; want an error of class %s", store.Class(err), err, f.class)
				}
			}
			f.clear(t)
			recovers(t, r, "lg:{b}:after")
		})
	}
}

// TestPausedServerHoldsNobody: however many attempts find the server stopped,
// each returns within its budget, and all of them as errors.
func TestPausedServerHoldsNobody(t *testing.T) {
	s := redisd.Start(t)
	r := openWithin(t, s.URL(), 50*time.Millisecond)
	recovers(t, r, "lg:{b}:x")
	s.Pause()
	type result struct {
		class string
		took  time.Duration
	}
	const many = 200
	results := make(chan result, many)
	for range many {
		go func() {
			began := time.Now()
			_, err := r.Take(context.Background(), guess("lg:{b}:x", 1000))
			results <- result{store.Class(err), time.Since(began)}
		}()
	}
	for range many {
		got := <-results
		if got.class != "timeout" && got.class != "pool" {
			t.Errorf("class %q, want timeout or pool", got.class)
		}
		if got.took > 2*time.Second {
			t.Errorf("an attempt took %v", got.took)
		}
	}
	s.Resume()
	recovers(t, r, "lg:{b}:x")
}

// TestStartsWithoutServer: a store opens while nothing listens, and works when
// the server comes.
func TestStartsWithoutServer(t *testing.T) {
	s := redisd.Start(t)
	s.Kill()
	r := openWithin(t, s.URL(), time.Second)
	if _, err := r.Take(context.Background(), guess("lg:{b}:x", 1)); store.Class(err) != "refused" {
		t.Fatalf("class %q, %v; want refused", store.Class(err), err)
	}
	if err := r.Inspect(context.Background()); err == nil {
		t.Error("a server that is not there passed its inspection")
	}
	s.Run()
	recovers(t, r, "lg:{b}:x")
}

// TestAuthentication: as nobody known, without a name, and as one who may not.
func TestAuthentication(t *testing.T) {
	ctx := context.Background()
	s := redisd.Start(t)
	s.Do("ACL", "SETUSER", "guard", "on", ">word", "~lg:*", "+@all")
	s.Do("ACL", "SETUSER", "reader", "on", ">word", "~lg:*", "+get", "+ping")
	s.Do("ACL", "SETUSER", "elsewhere", "on", ">word", "~other:*", "+@all")
	admit(t, openWithin(t, "redis://guard:word@"+s.Addr, 5*time.Second), "lg:{b}:x")
	for _, url := range []string{"redis://guard:wrong@", "redis://nobody:word@", "redis://reader:word@", "redis://elsewhere:word@"} {
		out, err := openWithin(t, url+s.Addr, 5*time.Second).Take(ctx, guess("lg:{b}:x", 1000))
		if store.Class(err) != "auth" || out.Outcome != store.Denied {
			t.Errorf("%s: outcome %d, class %q, %v; want auth", url, out.Outcome, store.Class(err), err)
		}
	}

	// A password that is set while the server runs is asked of new
	// connections; when it is gone, they work again.
	admin := s.Client().Conn()
	defer admin.Close()
	if err := admin.Do(ctx, "ACL", "SETUSER", "default", "resetpass", ">word").Err(); err != nil {
		t.Fatal(err)
	}
	r := openWithin(t, s.URL(), 5*time.Second)
	if out, err := r.Take(ctx, guess("lg:{b}:x", 1000)); store.Class(err) != "auth" || out.Outcome != store.Denied {
		t.Errorf("without a password: outcome %d, class %q, %v; want auth", out.Outcome, store.Class(err), err)
	}
	if err := admin.Do(ctx, "ACL", "SETUSER", "default", "nopass").Err(); err != nil {
		t.Fatal(err)
	}
	recovers(t, r, "lg:{b}:x")
}

// TestWrongType: keys that hold something else are no full buckets.
func TestWrongType(t *testing.T) {
	ctx := context.Background()
	s := redisd.Start(t)
	r := open(t, s)
	s.Do("RPUSH", "lg:{list}", "x")
	s.Do("HSET", "lg:{hash}", "x", "1")
	with := func(change func(*store.Take)) store.Take {
		k := guess("lg:{b}:x", 10)
		change(&k)
		return k
	}
	for name, k := range map[string]store.Take{
		"bucket": guess("lg:{list}", 10),
		"hash":   guess("lg:{hash}", 10),
		"record": with(func(k *store.Take) { k.Record = "lg:{list}" }),
		"population": with(func(k *store.Take) {
			k.Charges[0].Population, k.Charges[0].Limit.PerUser, k.Charges[0].Limit.MaxCapacity = "lg:{list}", 1000, 20
		}),
		"idempotence": with(func(k *store.Take) {
			k.Idempotence, k.Binding, k.Note, k.MaxUses, k.TTL = "lg:{list}", "b", "n", 4, second
		}),
	} {
		for _, peek := range []bool{false, true} {
			if k.Peek = peek; name == "idempotence" && peek {
				continue // a peek does not look there
			}
			if out, err := r.Take(ctx, k); store.Class(err) != "wrongtype" || out.Outcome != store.Denied {
				t.Errorf("%s, peek %v: outcome %d, class %q, %v; want wrongtype", name, peek, out.Outcome, store.Class(err), err)
			}
		}
	}
	for name, settle := range map[string]store.Settle{
		"record":     {Record: "lg:{list}"},
		"refund":     {Refund: true, Refunds: []store.Refund{{Key: "lg:{list}", Cost: 1}}},
		"population": {Learn: true, Member: "m", Populations: []string{"lg:{list}"}},
	} {
		if _, err := r.Settle(ctx, settle); store.Class(err) != "wrongtype" {
			t.Errorf("settle, %s: class %q, %v; want wrongtype", name, store.Class(err), err)
		}
	}
	if err := r.Forget(ctx, store.Forget{Record: "lg:{list}"}); store.Class(err) != "wrongtype" {
		t.Errorf("forget: class %q, %v; want wrongtype", store.Class(err), err)
	}
	// To delete a network's keys is the way out.
	if err := r.Forget(ctx, store.Forget{Keys: []string{"lg:{list}", "lg:{hash}"}}); err != nil {
		t.Fatal(err)
	}
	admit(t, r, "lg:{list}")
}

// TestClusterWithoutSlots: a node that serves no slot.
func TestClusterWithoutSlots(t *testing.T) {
	// Its bus has a port of its own, else ten thousand above the first, which
	// may be anybody's.
	s := redisd.Start(t, "--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(redisd.FreePort(t)))
	out, err := open(t, s).Take(context.Background(), guess("lg:{b}:x", 10))
	if store.Class(err) != "clusterdown" || out.Outcome != store.Denied {
		t.Errorf("outcome %d, class %q, %v; want clusterdown", out.Outcome, store.Class(err), err)
	}
}
