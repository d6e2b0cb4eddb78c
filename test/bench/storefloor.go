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

	"loginguard/cmd/loginguard/config"
	"loginguard/keys"
	"loginguard/policy"
	"loginguard/store"
)

// storeRun asks the store floor for one case: so many callers, for so long.
type storeRun struct {
	Callers int           `json:"callers"`
	For     time.Duration `json:"for"`
}

// serveStoreFloor runs, for every line that it reads, the script of a check
// through the store's own client, with keys that are ready made: what is left
// of a check when HTTP, JSON, signatures and everything else are free. It
// answers with the number of calls.
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
		for range run.Callers {
			wait.Go(func() {
				for time.Now().Before(end) {
					out, err := s.Take(context.Background(), takes[counter.Add(1)%accounts])
					if err == nil && out.Outcome != store.Admitted {
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
