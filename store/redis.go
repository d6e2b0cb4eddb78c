package store

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"embed"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

//go:embed lua/*.lua
var lua embed.FS

// Redis keeps everything in a Redis server (5.0 or newer, or Valkey), shared
// by any number of instances. An attempt is one EVALSHA, a report one more.
// The clock is the server's. A Redis is safe for concurrent use.
type Redis struct {
	client  redis.UniversalClient
	timeout time.Duration
	evict   bool

	take, settle, forget, recall *redis.Script

	batch   *batcher
	cluster *cluster // not nil on a Redis Cluster
}

// RedisOptions sets up a [Redis].
type RedisOptions struct {
	// URL says where and as whom to connect, see the package's parseTarget:
	// redis://, rediss://, unix://, redis+sentinel://.
	URL string

	// Timeout is the budget of one call: waiting for a connection, dialling,
	// writing and reading. 50ms when 0. In a burst a call waits longer for its
	// turn, up to five times as long, while the server answers others.
	Timeout time.Duration

	// AllowEviction accepts a server that may evict counters when it is full.
	AllowEviction bool

	// CAFile holds the certificates, in PEM, that a TLS server's must lead
	// to; "" means the system's.
	CAFile string
}

const (
	// poolSize bounds connections. With one round trip per check and some
	// 0.2 ms each, 32 carry far more than one Redis core does.
	poolSize = 32
	poolIdle = 4

	// dialTimeout bounds a dial that goes on in the background after the
	// attempt that asked for it was answered, so that the pool fills even
	// where a TLS handshake takes longer than an attempt may.
	dialTimeout = time.Second
)

// silence drops what the client library would print about connections: every
// failure is returned to the caller, who logs and counts it by its class.
type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

func init() { redis.SetLogger(silence{}) }

// OpenRedis returns a store on the server that the URL names. It connects in
// the background and waits for nothing: a service starts while its Redis is
// down, and recovers when it comes. Errors are about the options and never contain the URL.
func OpenRedis(o RedisOptions) (*Redis, error) {
	t, err := parseTarget(o.URL)
	if err != nil {
		return nil, fmt.Errorf("store.url %w", err)
	}
	if o.Timeout <= 0 {
		o.Timeout = 50 * time.Millisecond
	}
	r := &Redis{timeout: o.Timeout, evict: o.AllowEviction}
	for name, script := range map[string]**redis.Script{"take": &r.take, "settle": &r.settle, "forget": &r.forget, "recall": &r.recall} {
		if *script, err = loadScript(name); err != nil {
			return nil, err
		}
	}
	u, err := options(t, o)
	if err != nil {
		return nil, err
	}
	switch t.kind {
	case "cluster":
		r.client, r.cluster = redis.NewClusterClient(u.Cluster()), &cluster{r}
	case "sentinel":
		r.client = redis.NewFailoverClient(u.Failover())
	default:
		single := u.Simple()
		if t.kind == "unix" {
			single.Network = "unix"
		}
		r.client = redis.NewClient(single)
	}
	r.batch = &batcher{client: r.client, slots: make(chan struct{}, batchSlots), timeout: r.timeout}
	return r, nil
}

// options returns the client's options. What is set here decides what a slow
// or absent server does to a login, so none of it can be changed by the URL.
func options(t target, o RedisOptions) (*redis.UniversalOptions, error) {
	u := &redis.UniversalOptions{
		Addrs: t.addrs, DB: t.db, Username: t.user, Password: t.password,
		MasterName: t.master, SentinelUsername: t.sentinelUser, SentinelPassword: t.sentinelPassword,

		MaxRetries:            -1, // 0 means 3, and a script that ran must not run again
		ContextTimeoutEnabled: true,
		DialTimeout:           dialTimeout, DialerRetries: 1,
		ReadTimeout: patience * o.Timeout, WriteTimeout: o.Timeout, PoolTimeout: o.Timeout,
		PoolSize: poolSize, MaxActiveConns: poolSize, MinIdleConns: poolIdle,
		Protocol: 2, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	if !t.tls {
		if o.CAFile != "" {
			return nil, errors.New("store.ca_file is set, but store.url is not rediss://")
		}
		return u, nil
	}
	u.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if t.kind == "single" {
		host, _, err := net.SplitHostPort(t.addrs[0])
		if err != nil {
			return nil, fmt.Errorf("store.url: %w", errURL)
		}
		u.TLSConfig.ServerName = host
	}
	if o.CAFile != "" {
		pem, err := os.ReadFile(o.CAFile)
		if err != nil {
			return nil, fmt.Errorf("store.ca_file: %w", err)
		}
		u.TLSConfig.RootCAs = x509.NewCertPool()
		if !u.TLSConfig.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("store.ca_file: no certificate in %s", o.CAFile)
		}
	}
	return u, nil
}

// loadScript joins the shared functions and one script.
func loadScript(name string) (*redis.Script, error) {
	common, err := lua.ReadFile("lua/common.lua")
	if err != nil {
		return nil, fmt.Errorf("load script: %w", err)
	}
	body, err := lua.ReadFile("lua/" + name + ".lua")
	if err != nil {
		return nil, fmt.Errorf("load script: %w", err)
	}
	return redis.NewScript(string(common) + string(body)), nil
}

// run executes a script within the budget. It is sent by its hash; only when
// the server says that it does not know it, and so did not run it, is it sent
// whole, which also makes the server remember it.
func (r *Redis) run(ctx context.Context, s *redis.Script, keys []string, args []any) (any, error) {
	return r.batch.do(ctx, &call{script: s, keys: keys, args: args})
}

// Lookup implements [Store].
func (r *Redis) Lookup(ctx context.Context, key string) (Remembered, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	v, err := r.client.Get(ctx, key).Result()
	if errors.Is(err, redis.Nil) {
		return Remembered{}, nil
	}
	if err != nil {
		return Remembered{}, fmt.Errorf("lookup: %w", err)
	}
	// The key expires by the server's clock; what is left of a grace period
	// is refused by the settlement that follows.
	return parseRemembered(v, 0)
}

// Settled implements [Store].
func (r *Redis) Settled(ctx context.Context, markers []string) ([]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	pipe := r.client.Pipeline()
	replies := make([]*redis.IntCmd, len(markers))
	for i, key := range markers {
		replies[i] = pipe.Exists(ctx, key)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("look for reports: %w", err)
	}
	found := make([]bool, len(markers))
	for i, reply := range replies {
		found[i] = reply.Val() == 1
	}
	return found, nil
}

// probeKey is written and expires at once: a replica or a full server answers
// PING, but does not take it.
const probeKey = "lg:probe"

// Ping implements [Store]. It writes, so that a read-only or full server is
// noticed.
func (r *Redis) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	if err := r.client.Set(ctx, probeKey, "1", time.Second).Err(); err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	return nil
}

// ErrEviction is returned by [Redis.Inspect] for a server that may evict
// counters.
var ErrEviction = errors.New("the server evicts keys when it is full, which would let attempts through: set maxmemory-policy noeviction, or store.allow_eviction")

// Inspect checks, once the server answers, that it is one that keeps what it
// was told. It needs no more than the right to INFO; an error that is not
// [ErrEviction] means that the check could not be made.
func (r *Redis) Inspect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, max(r.timeout, time.Second))
	defer cancel()
	info, err := r.client.Info(ctx, "memory").Result()
	if err != nil {
		return fmt.Errorf("read maxmemory-policy by INFO: %w", err)
	}
	for line := range strings.SplitSeq(info, "\n") {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name == "maxmemory_policy" && value != "noeviction" && !r.evict {
			return fmt.Errorf("maxmemory-policy %s: %w", value, ErrEviction)
		}
	}
	return nil
}

// Close implements [Store].
func (r *Redis) Close() error { return r.client.Close() }
