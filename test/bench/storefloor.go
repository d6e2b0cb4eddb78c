package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"loginguard/cmd/loginguard/config"
	"loginguard/keys"
	"loginguard/policy"
	"loginguard/store"
)

// storeRun asks the store floor for one case: so many callers, for so long.
type storeRun struct {
	Callers  int           `json:"callers"`
	For      time.Duration `json:"for"`
	Together bool          `json:"together"` // through the store, which sends together what waits
}

// serveStoreFloor runs, for every line that it reads, the script of a check on
// keys that are ready made, straight through go-redis and its pool, or through
// the store: what is left of a check when HTTP, JSON, signatures and everything
// else are free. It answers with the number of calls.
func serveStoreFloor(configFile, url string) error {
	c, _, err := config.Load(configFile, os.Environ(), nil)
	if err != nil {
		return err
	}
	ring := keys.RandomRing()
	rules, err := c.Rules(ring, time.Now())
	if err != nil {
		return err
	}
	takes := make([]store.Take, accounts)
	for i := range takes {
		client, err := rules.Clients.FromIP(addressOf(uint64(i)))
		if err != nil {
			return err
		}
		class, networks := rules.Networks.Classify(client.Addr)
		account := ring.Account("default", nameOf(uint64(i)))
		takes[i] = rules.Policy.Plan(policy.Attempt{Realm: "default", Route: "login", Account: account, Class: class, Networks: networks}).Take
		takes[i].Attempt = keys.NewID()
	}
	s, err := store.OpenRedis(store.RedisOptions{URL: url, Timeout: time.Second})
	if err != nil {
		return err
	}
	defer s.Close()
	// The first call makes Redis remember the script.
	if _, err := s.Take(context.Background(), takes[0]); err != nil {
		return err
	}
	plain, err := newPlain(url, s, takes)
	if err != nil {
		return err
	}
	defer plain.client.Close()
	together := func(ctx context.Context, i uint64) (admitted bool, err error) {
		out, err := s.Take(ctx, takes[i])
		return out.Outcome == store.Admitted, err
	}
	fmt.Println("store floor")
	var counter atomic.Uint64
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var run storeRun
		if err := json.Unmarshal(in.Bytes(), &run); err != nil {
			return err
		}
		var (
			wait  sync.WaitGroup
			calls atomic.Int64
			end   = time.Now().Add(run.For)
			wrong atomic.Pointer[error]
		)
		take := plain.take
		if run.Together {
			take = together
		}
		for range run.Callers {
			wait.Go(func() {
				for time.Now().Before(end) {
					admitted, err := take(context.Background(), counter.Add(1)%accounts)
					if err == nil && !admitted {
						err = fmt.Errorf("an attempt was not admitted")
					}
					if err != nil {
						wrong.Store(&err)
						return
					}
					calls.Add(1)
				}
			})
		}
		wait.Wait()
		if err := wrong.Load(); err != nil {
			return *err
		}
		fmt.Println("calls", calls.Load())
	}
	return nil
}

// plain asks Redis as a program without a store of its own would: each call is
// one EVALSHA on a connection of go-redis' pool.
type plain struct {
	client   *redis.Client
	commands [][]any
}

// plainPool is as many connections as the store may have.
const plainPool = 32

func newPlain(url string, s *store.Redis, takes []store.Take) (*plain, error) {
	o, err := redis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	o.PoolSize, o.PoolTimeout, o.ReadTimeout = plainPool, time.Minute, time.Minute
	p := &plain{redis.NewClient(o), make([][]any, len(takes))}
	for i := range takes {
		p.commands[i] = s.TakeCommand(takes[i])
	}
	return p, nil
}

// take takes for one account.
func (p *plain) take(ctx context.Context, i uint64) (admitted bool, err error) {
	reply, err := p.client.Do(ctx, p.commands[i]...).Slice()
	return len(reply) > 0 && reply[0] == int64(store.Admitted), err
}
