package store

import (
	"crypto/tls"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

func optionsOf(t *testing.T, url string, o RedisOptions) *redis.UniversalOptions {
	t.Helper()
	target, err := parseTarget(url)
	if err != nil {
		t.Fatal(err)
	}
	u, err := options(target, o)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestOptionsBoundEveryCall: no retries, and no step that takes longer than
// the budget of the call, whatever kind of server it is.
func TestOptionsBoundEveryCall(t *testing.T) {
	const budget = 70 * time.Millisecond
	for _, url := range []string{"redis://h", "rediss://h", "unix:///s", "redis+sentinel://h/m", "rediss+sentinel://h/m"} {
		u := optionsOf(t, url, RedisOptions{Timeout: budget})
		for name, ok := range map[string]bool{
			"MaxRetries":               u.MaxRetries == -1,
			"ContextTimeoutEnabled":    u.ContextTimeoutEnabled,
			"DialerRetries":            u.DialerRetries == 1,
			"DisableIdentity":          u.DisableIdentity,
			"MaintNotificationsConfig": u.MaintNotificationsConfig != nil && u.MaintNotificationsConfig.Mode == maintnotifications.ModeDisabled,
			"ReadTimeout":              u.ReadTimeout == patience*budget, // of a burst, see batcher
			"WriteTimeout":             u.WriteTimeout == budget,
			"PoolTimeout":              u.PoolTimeout == budget,
			"DialTimeout":              u.DialTimeout > 0 && u.DialTimeout <= time.Second,
			"PoolSize":                 u.PoolSize == poolSize,
			"MaxActiveConns":           u.MaxActiveConns == poolSize,
			"MinIdleConns":             (u.MinIdleConns > 0) != strings.Contains(url, "sentinel") && u.MinIdleConns <= poolSize, // each sentinel's client would keep as many
			"Protocol":                 u.Protocol == 2,
			"ReadOnly":                 !u.ReadOnly && !u.RouteByLatency && !u.RouteRandomly,
			"TLSConfig":                (u.TLSConfig != nil) == strings.HasPrefix(url, "rediss"),
		} {
			if !ok {
				t.Errorf("%s: %s is not what bounds a call", url, name)
			}
		}
		if u.TLSConfig != nil && (u.TLSConfig.MinVersion != tls.VersionTLS12 || u.TLSConfig.InsecureSkipVerify) {
			t.Errorf("%s: TLS %+v", url, u.TLSConfig)
		}
	}
}

// TestClientKeepsOptions: what the client made of them.
func TestClientKeepsOptions(t *testing.T) {
	for url, want := range map[string]redis.Options{
		"redis://u:p@h:7000/3":                  {Network: "tcp", Addr: "h:7000", Username: "u", Password: "p", DB: 3},
		"unix://u:p@/run/redis.sock?db=3":       {Network: "unix", Addr: "/run/redis.sock", Username: "u", Password: "p", DB: 3},
		"redis+sentinel://u:p@h1,h2/main/3":     {Network: "tcp", Addr: "FailoverClient", Username: "u", Password: "p", DB: 3},
		"rediss://u:p@redis.example.com:7000/3": {Network: "tcp", Addr: "redis.example.com:7000", Username: "u", Password: "p", DB: 3},
	} {
		r, err := OpenRedis(RedisOptions{URL: url})
		if err != nil {
			t.Fatalf("%s: %v", url, err)
		}
		c, ok := r.client.(*redis.Client)
		if !ok {
			t.Fatalf("%s: client %T", url, r.client)
		}
		got := c.Options()
		if got.Network != want.Network || got.Addr != want.Addr || got.Username != want.Username || got.Password != want.Password || got.DB != want.DB {
			t.Errorf("%s: %s %s as %s:%s, database %d", url, got.Network, got.Addr, got.Username, got.Password, got.DB)
		}
		if got.MaxRetries != 0 || !got.ContextTimeoutEnabled || got.DialerRetries != 1 || got.ReadTimeout != patience*50*time.Millisecond || !got.DisableIdentity ||
			got.MaintNotificationsConfig.Mode != maintnotifications.ModeDisabled {
			t.Errorf("%s: %d retries, %d dials, context %v, read %v", url, got.MaxRetries, got.DialerRetries, got.ContextTimeoutEnabled, got.ReadTimeout)
		}
		if got.TLSConfig != nil && got.TLSConfig.ServerName != "redis.example.com" {
			t.Errorf("%s: TLS for %q", url, got.TLSConfig.ServerName)
		}
		if err := r.Close(); err != nil {
			t.Errorf("%s: close: %v", url, err)
		}
	}
}

func TestCAFile(t *testing.T) {
	dir := t.TempDir()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := write("ca.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	if u := optionsOf(t, "rediss://h", RedisOptions{CAFile: good}); u.TLSConfig.RootCAs == nil {
		t.Error("the certificates were not taken")
	}
	for _, c := range []struct{ url, file, want string }{
		{"rediss://h", filepath.Join(dir, "none.pem"), "store.ca_file: open"},
		{"rediss://h", write("empty.pem", []byte("nothing")), "store.ca_file: no certificate in"},
		{"redis://u:hunter2@h", good, "store.ca_file is set, but store.url is not rediss://"},
	} {
		_, err := OpenRedis(RedisOptions{URL: c.url, CAFile: c.file})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s with %s: %v, want %q", c.url, c.file, err, c.want)
		}
	}
}
