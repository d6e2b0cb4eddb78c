package edge

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
)

// Values of settings that are not set, and bounds of the others.
const (
	defaultRate        = "5/s"
	defaultBurst       = 20 // with 5/s far more than people type, and little for a machine
	defaultMaxNetworks = 100_000
	defaultIPv4        = 32
	defaultIPv6        = 64 // what a single customer has at the least (RFC 6177)

	maxBurst       = 1_000_000
	maxMaxNetworks = 10_000_000
	maxFill        = 24 * time.Hour // until an empty bucket is full
)

func init() { caddy.RegisterModule(new(Limit)) }

// Limit is a handler for Caddy that lets each client network send requests at
// a rate, after a burst, and answers the others with 429 and Retry-After. A
// zero field stands for its default. The client is {client_ip}, so that
// Caddy's own trusted_proxies say whose X-Forwarded-For is believed.
//
// All its numbers are in memory and of this Limit only: two of them in one
// configuration, or two Caddys, count apart, and a reload starts with full
// buckets, which is worth one burst to a flood.
type Limit struct {
	// Rate is how many requests come back in a span, evenly spread: 5/s,
	// 300/m, 1/10s. From one an hour to a million a second; 5/s by default.
	Rate string `json:"rate,omitempty"`
	// Burst is how many requests may come at once, 1 to 1000000, 20 by
	// default. At Rate it must be back within a day.
	Burst int `json:"burst,omitempty"`
	// MaxNetworks is how many networks are remembered, 1 to 10000000, 100000
	// by default, of about 100 bytes each. When more ask, the one that has
	// been quiet for longest is forgotten and starts with all of its burst.
	MaxNetworks int `json:"max_networks,omitempty"`
	// IPv4Prefix is the length of an IPv4 network that shares a bucket, 1 to
	// 32, 32 by default.
	IPv4Prefix int `json:"ipv4_prefix,omitempty"`
	// IPv6Prefix is the length of an IPv6 network that shares a bucket, 1 to
	// 128, 64 by default: a client changes the rest of its address at will.
	IPv6Prefix int `json:"ipv6_prefix,omitempty"`

	began   time.Time
	lengths lengths
	table   *table
	metrics *metrics
	logger  *zap.Logger
	full    sync.Once // each is logged once: a flood must not fill the log
	nobody  sync.Once
}

// CaddyModule returns the id under which Caddy knows the module.
func (*Limit) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.edge_limit", New: func() caddy.Module { return new(Limit) }}
}

// Provision fills in defaults, checks all settings and makes an empty table.
// Errors name the setting that is at fault.
func (l *Limit) Provision(ctx caddy.Context) error {
	l.setDefaults()
	interval, err := l.check()
	if err != nil {
		return err
	}
	if l.metrics, err = newMetrics(ctx.GetMetricsRegistry()); err != nil {
		return err
	}
	l.logger = ctx.Logger()
	l.lengths = lengths{ipv4: l.IPv4Prefix, ipv6: l.IPv6Prefix}
	l.table = newTable(interval, l.Burst, l.MaxNetworks)
	l.began = time.Now()
	return nil
}

func (l *Limit) setDefaults() {
	if l.Rate == "" {
		l.Rate = defaultRate
	}
	for _, s := range []struct {
		value     *int
		otherwise int
	}{
		{&l.Burst, defaultBurst}, {&l.MaxNetworks, defaultMaxNetworks},
		{&l.IPv4Prefix, defaultIPv4}, {&l.IPv6Prefix, defaultIPv6},
	} {
		if *s.value == 0 {
			*s.value = s.otherwise
		}
	}
}

// check returns the time between two requests, or what is wrong with the
// settings.
func (l *Limit) check() (time.Duration, error) {
	interval, err := parseRate(l.Rate)
	if err != nil {
		return 0, fmt.Errorf("rate: %w", err)
	}
	for _, s := range []struct {
		name        string
		value, most int
	}{
		{"burst", l.Burst, maxBurst}, {"max_networks", l.MaxNetworks, maxMaxNetworks},
		{"ipv4_prefix", l.IPv4Prefix, 32}, {"ipv6_prefix", l.IPv6Prefix, 128},
	} {
		if s.value < 1 || s.value > s.most {
			return 0, fmt.Errorf("%s: %d must be from 1 to %d", s.name, s.value, s.most)
		}
	}
	if fill := time.Duration(l.Burst) * interval; fill > maxFill {
		return 0, fmt.Errorf("burst: %d at %s takes %s to come back, longer than %s", l.Burst, l.Rate, fill, maxFill)
	}
	return interval, nil
}

// ServeHTTP hands a request on, or answers it with 429. Requests without an
// address share a single bucket: the other ways are to limit none of them, or
// to refuse them all.
func (l *Limit) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	address, _ := caddyhttp.GetVar(r.Context(), caddyhttp.ClientIPVarKey).(string)
	network, ok := l.lengths.network(address)
	if !ok {
		l.nobody.Do(func() {
			l.logger.Warn("clients without an address share one limit; behind a Unix socket, set trusted_proxies_unix")
		})
	}
	wait, room := l.table.take(network, time.Since(l.began))
	switch room {
	case grown:
		l.metrics.networks.Inc()
	case forced:
		l.metrics.forced.Inc()
		l.full.Do(func() {
			l.logger.Warn("more networks than max_networks ask at once, the quietest are forgotten", zap.Int("max_networks", l.MaxNetworks))
		})
	}
	if wait > 0 {
		l.metrics.refused.Inc()
		refuse(w, wait)
		return nil
	}
	l.metrics.passed.Inc()
	return next.ServeHTTP(w, r)
}

// What Caddy looks for in a module.
var (
	_ caddy.Provisioner           = (*Limit)(nil)
	_ caddyhttp.MiddlewareHandler = (*Limit)(nil)
)
