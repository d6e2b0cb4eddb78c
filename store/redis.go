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

	take, settle, forget, recall script

	dial    *dialer
	batch   *batcher // nil on a Redis Cluster
	cluster *cluster // nil elsewhere
}

// RedisOptions sets up a [Redis].
type RedisOptions struct {
	// URL says where and as whom to connect:
	//
	//	redis://user:password@host:6379/0
	//	unix://user:password@/run/redis.sock?db=0
	//	redis+sentinel://user:password@h1:26379,h2:26379/master/0
	//	redis+cluster://user:password@h1:6379,h2:6379
	//
	// and, over TLS, rediss, rediss+sentinel and rediss+cluster. The parameters
	// sentinel_user and sentinel_password are for the sentinels themselves.
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
	r := &Redis{timeout: o.Timeout, evict: o.AllowEviction, dial: new(dialer)}
	for name, script := range map[string]*script{"take": &r.take, "settle": &r.settle, "forget": &r.forget, "recall": &r.recall} {
		if *script, err = loadScript(name); err != nil {
			return nil, err
		}
	}
	u, err := options(t, o)
	if err != nil {
		return nil, err
	}
	r.dial.tls, u.Dialer = u.TLSConfig, r.dial.dial
	switch t.kind {
	case "cluster":
		client := redis.NewClusterClient(u.Cluster())
		r.client, r.cluster = client, &cluster{r: r, nodes: newNodes(client, o.Timeout)}
		return r, nil
	case "sentinel":
		r.client = redis.NewFailoverClient(u.Failover())
	default:
		single := u.Simple()
		if t.kind == "unix" {
			single.Network = "unix"
		}
		r.client = redis.NewClient(single)
	}
	r.batch = newBatcher(r.client, r.timeout)
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
	if t.kind == "sentinel" {
		// The library would keep as many with every sentinel, and make all of
		// them each time that it looks for the master.
		u.MinIdleConns = 0
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
func loadScript(name string) (script, error) {
	common, err := lua.ReadFile("lua/common.lua")
	if err != nil {
		return script{}, fmt.Errorf("load script: %w", err)
	}
	body, err := lua.ReadFile("lua/" + name + ".lua")
	if err != nil {
		return script{}, fmt.Errorf("load script: %w", err)
	}
	return newScript(string(common) + string(body)), nil
}

// run executes a script within the budget. It is sent by its hash; only when
// the server says that it does not know it, and so did not run it, is it sent
// whole, which also makes the server remember it.
func (r *Redis) run(ctx context.Context, s script, a arguments) (any, error) {
	do := r.batch.do
	if r.cluster != nil {
		do = r.cluster.nodes.do
	}
	reply, err := do(ctx, &call{script: s, args: a})
	r.seen(err)
	return reply, err
}

// seen looks at the failure of a call: a server that takes no writes was a
// master before, or will never be one, and its connections lead to nothing
// better. New ones go where the sentinels or the name point to by then.
func (r *Redis) seen(err error) {
	if c := Class(err); c == "readonly" || c == "masterdown" {
		r.dial.drop()
	}
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
// noticed. A cluster is up as long as one of its masters is, since the others
// hold up only what lives there.
func (r *Redis) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	if r.cluster != nil {
		return r.cluster.ping(ctx)
	}
	if err := r.client.Set(ctx, probeKey, "1", time.Second).Err(); err != nil {
		r.seen(err)
		return fmt.Errorf("probe: %w", err)
	}
	return nil
}

// Close implements [Store].
func (r *Redis) Close() error { return r.client.Close() }
