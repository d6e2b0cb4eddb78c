package main

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// growth is what memory and cost are at one number of keys.
type growth struct {
	What      string
	Count     int     // of what is counted
	Bytes     float64 // of Redis for each
	Keys      int     // tracked in all
	GuardHeap float64 // megabytes in use after a collection
	Check     float64 // microseconds of processor time of guard and Redis, check on 5 buckets
}

// grow fills Redis and looks at what each bucket and account takes, and at what
// a check costs before and after.
func (b *bench) grow(s settings) ([]growth, error) {
	c := redis.NewClient(&redis.Options{Addr: b.redisAddr})
	defer c.Close()
	ctx := context.Background()
	var out []growth
	look := func(what string, count int, bytes float64) error {
		keys, err := c.DBSize(ctx).Result()
		if err != nil {
			return err
		}
		heap, err := b.metric("go_memstats_heap_inuse_bytes")
		if err != nil {
			return err
		}
		g := growth{What: what, Count: count, Bytes: bytes, Keys: int(keys), GuardHeap: heap / (1 << 20)}
		fmt.Fprintf(os.Stderr, "%s: %d of %.1f bytes, %d keys, heap %.0f MB\n", what, count, bytes, keys, g.GuardHeap)
		out = append(out, g)
		return nil
	}
	used := func() (float64, error) { return b.info("memory", "used_memory") }

	// Accounts that signed in from two networks.
	if err := c.FlushAll(ctx).Err(); err != nil {
		return nil, err
	}
	const people = 100_000
	before, err := used()
	if err != nil {
		return nil, err
	}
	for _, network := range []string{"203.0.113.7", "2001:db8:7::7"} {
		if err := b.signAllIn(people, network); err != nil {
			return nil, err
		}
	}
	if err := dropMarkers(ctx, c); err != nil {
		return nil, err
	}
	after, err := used()
	if err != nil {
		return nil, err
	}
	if err := look("account that signed in from two networks", people, (after-before)/people); err != nil {
		return nil, err
	}

	// Buckets of networks, in steps up to the most.
	if err := c.FlushAll(ctx).Err(); err != nil {
		return nil, err
	}
	small, err := b.costs(s)
	if err != nil {
		return nil, err
	}
	base, err := c.DBSize(ctx).Result()
	if err != nil {
		return nil, err
	}
	if err := look("tracked keys, few", int(base), 0); err != nil {
		return nil, err
	}
	out[len(out)-1].Check = small
	if before, err = used(); err != nil {
		return nil, err
	}
	var numbers atomic.Uint64
	for _, step := range []int{1_000_000, s.most} {
		for {
			keys, err := c.DBSize(ctx).Result()
			if err != nil {
				return nil, err
			}
			missing := int64(step) - keys
			if missing <= 0 {
				break
			}
			t := target{addr: b.api, line: "POST /v1/check", want: 200, body: func(buf []byte, n uint64) []byte {
				return append(appendIPv4(append(buf, `{"route":"anonymous","ip":"`...), n), `"}`...)
			}}
			if _, err := drive(t, 64, time.Hour, missing, &numbers); err != nil {
				return nil, err
			}
		}
		if after, err = used(); err != nil {
			return nil, err
		}
		cost, err := b.costs(s)
		if err != nil {
			return nil, err
		}
		if err := look("network buckets", step-int(base), (after-before)/float64(step-int(base))); err != nil {
			return nil, err
		}
		out[len(out)-1].Check = cost
	}
	return out, nil
}

// costs is what a check on five buckets costs now: the median of the rounds.
func (b *bench) costs(s settings) (float64, error) {
	for _, c := range cases {
		if c.name != "check, 5 buckets" {
			continue
		}
		var list []sample
		for range s.rounds {
			x, err := b.turn(s, c, 16)
			if err != nil {
				return 0, err
			}
			list = append(list, x)
		}
		r := rowOf(c, 16, list)
		return r.Guard + r.Redis, nil
	}
	return 0, fmt.Errorf("there is no such case")
}

// signAllIn signs n accounts in from one address.
func (b *bench) signAllIn(n int, ip string) error {
	var numbers atomic.Uint64
	check := target{addr: b.api, line: "POST /v1/check", want: 200, body: func(buf []byte, i uint64) []byte {
		buf = appendName(append(buf, `{"account":"`...), i)
		return append(append(append(buf, `","ip":"`...), ip...), `"}`...)
	}, answered: func(body []byte) { b.tokens <- attemptIn(body) }}
	for done := 0; done < n; done += prepared {
		k := int64(min(prepared, n-done))
		if _, err := drive(check, 16, time.Minute, k, &numbers); err != nil {
			return err
		}
		if _, err := drive(b.reports("success"), 16, time.Minute, k, &b.numbers); err != nil {
			return err
		}
	}
	return nil
}

// dropMarkers deletes what is kept of settled attempts for a few minutes.
func dropMarkers(ctx context.Context, c *redis.Client) error {
	for it := c.Scan(ctx, 0, "lg:{*}:t:*", 10_000).Iterator(); ; {
		var batch []string
		for len(batch) < 1000 && it.Next(ctx) {
			batch = append(batch, it.Val())
		}
		if err := it.Err(); err != nil {
			return err
		}
		if len(batch) == 0 {
			return nil
		}
		if err := c.Del(ctx, batch...).Err(); err != nil {
			return err
		}
	}
}
