package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"loginguard/store"
	"loginguard/store/storetest"
	"loginguard/test/internal/client"
	"loginguard/test/internal/service"
	"loginguard/test/internal/topology"
)

// TestLeastRightsOverTLS runs the whole suite as a user that may do only what
// the manual grants, over TLS with a CA file.
func TestLeastRightsOverTLS(t *testing.T) {
	s := topology.StartSecure(t, topology.Rights())
	storetest.Run(t, func(t *testing.T) storetest.Harness {
		s.Do("FLUSHALL")
		c := s.Client()
		t.Cleanup(func() { _ = c.Close() })
		put := func(key, value string, ttl time.Duration) {
			if err := c.Set(context.Background(), key, value, ttl).Err(); err != nil {
				t.Fatal(err)
			}
		}
		secure := store.RedisOptions{URL: s.TLSURL(), CAFile: s.CAFile, Timeout: unhurried}
		return storetest.Harness{
			Stores:     []store.Store{openWith(t, secure), openWith(t, secure)},
			Values:     func() map[string]string { return s.Values(t) },
			Put:        func(key, value string) { put(key, value, time.Hour) },
			PutForever: func(key, value string) { put(key, value, 0) },
		}
	})
	r := openWith(t, store.RedisOptions{URL: s.TLSURL(), CAFile: s.CAFile, Timeout: unhurried})
	if err := r.Inspect(context.Background()); err != nil {
		t.Errorf("inspect: %v", err)
	}
	if err := r.Ping(context.Background()); err != nil {
		t.Errorf("ping: %v", err)
	}
}

// TestManualGrantsTheRights: the line that operators copy is the one tested.
func TestManualGrantsTheRights(t *testing.T) {
	manual, err := os.ReadFile("../../docs/redis.md")
	if err != nil {
		t.Fatal(err)
	}
	line := "user guard on >PASSWORD " + strings.Join(topology.Rights(), " ") + "\n"
	if !strings.Contains(string(manual), line) {
		t.Errorf("docs/redis.md lacks %q", line)
	}
	more := strings.Join(topology.ClusterRights()[len(topology.Rights()):], " ")
	if !strings.Contains(string(manual), "add `"+more+"`") {
		t.Errorf("docs/redis.md does not add %q for a cluster", more)
	}
}

// TestEveryRightIsNeeded takes each one away: something must then fail as what
// it is, and nothing may be let in.
func TestEveryRightIsNeeded(t *testing.T) {
	s := topology.StartSecure(t, topology.Rights())
	for _, right := range topology.Rights() {
		if !strings.HasPrefix(right, "+") {
			continue
		}
		s.Allow(slices.DeleteFunc(topology.Rights(), func(r string) bool { return r == right }))
		s.Do("FLUSHALL")
		s.Do("SCRIPT", "FLUSH")
		if errs := everything(t, s); !slices.ContainsFunc(errs, func(err error) bool { return store.Class(err) == "auth" }) {
			t.Errorf("without %s all goes well: %v", right, errs)
		}
	}
	s.Allow(topology.Rights())
	if errs := everything(t, s); len(errs) > 0 {
		t.Errorf("with all rights: %v", errs)
	}
	// No rights beyond its keys.
	r := open(t, s.PlainURL(), unhurried)
	if err := r.Forget(context.Background(), store.Forget{Keys: []string{"other"}}); store.Class(err) != "auth" {
		t.Errorf("a key of somebody else: %v, want auth", err)
	}
}

// everything calls all that a store does and returns what failed.
func everything(t *testing.T, s *topology.Secure) []error {
	t.Helper()
	ctx := context.Background()
	r := open(t, s.PlainURL(), unhurried)
	k := attempt("A", "net", 1, 0)
	k.Charges[2].Population, k.Charges[2].Limit.PerUser, k.Charges[2].Limit.MaxCapacity = "lg:{default:0}:n", 1000, 1e6
	k.Charges[2].Limit.Capacity = 1000
	k.Idempotence, k.Note, k.Binding = "lg:{i:1}", "note", "b"
	var errs []error
	note := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	out, err := r.Take(ctx, k)
	note(err)
	again := k
	again.Idempotence = ""
	_, err = r.Take(ctx, again) // the network is dry by now
	note(err)
	_, err = r.Lookup(ctx, k.Idempotence)
	note(err)
	settle := store.Settle{
		Marker: "lg:{A}:t:1", Record: k.Record, Issued: out.Issued, Expires: time.Now().Add(time.Hour).UnixMicro(), Remember: k.Remember,
		Refund: true, Refunds: []store.Refund{{Key: k.Charges[1].Key, Cost: 1}}, Learn: true, Network: "net", Sources: 8,
		Populations: []string{"lg:{default:0}:n"}, Member: "A",
	}
	_, err = r.Settle(ctx, settle)
	note(err)
	_, err = r.Settled(ctx, []string{settle.Marker})
	note(err)
	note(r.Forget(ctx, store.Forget{Record: k.Record, Credentials: true, Keep: second, Remember: k.Remember}))
	note(r.Forget(ctx, store.Forget{Keys: []string{k.Charges[1].Key}}))
	note(r.Ping(ctx))
	note(r.Inspect(ctx))
	// A bucket whose expiry was lost is given one.
	s.Do("SET", networkKey("old"), fmt.Sprintf("%d/1x%d", time.Now().Add(time.Hour).UnixMicro(), 3600*second))
	_, err = r.Take(ctx, attempt("B", "old", 1, 0))
	note(err)
	if err == nil && s.Do("TTL", networkKey("old")).(int64) < 0 {
		errs = append(errs, errors.New("an expiry is missing"))
	}
	return errs
}

// TestLeastRightsOnCluster does everything as that user on a cluster, and
// nothing without the right to its map.
func TestLeastRightsOnCluster(t *testing.T) {
	c := topology.StartCluster(t)
	ctx := context.Background()
	r := open(t, c.Allow(topology.ClusterRights()), unhurried)
	k := attempt("A", "net", 10, 0)
	k.Idempotence, k.Note, k.Binding = "lg:{i:1}", "note", "b"
	for _, want := range []store.Outcome{store.Admitted, store.Repeated} {
		if out, err := r.Take(ctx, k); err != nil || out.Outcome != want {
			t.Fatalf("outcome %d, %v; want %d", out.Outcome, err, want)
		}
	}
	if err := r.Ping(ctx); err != nil {
		t.Error(err)
	}
	if err := r.Inspect(ctx); err != nil {
		t.Error(err)
	}
	if err := r.Forget(ctx, store.Forget{Keys: []string{networkKey("net"), shardKey(0), shardKey(1)}}); err != nil {
		t.Error(err)
	}
	if _, err := open(t, c.Allow(topology.Rights()), unhurried).Take(ctx, attempt("B", "net", 10, 0)); store.Class(err) != "auth" {
		t.Errorf("without the right to the map: %v, want auth", err)
	}
}

// TestWaysIn: TLS, a unix socket and plain TCP, with the right and the wrong
// word, and with the certificate of somebody else.
func TestWaysIn(t *testing.T) {
	s := topology.StartSecure(t, topology.Rights())
	other := topology.OtherCA(t)
	for _, c := range []struct {
		name  string
		o     store.RedisOptions
		class string
	}{
		{"tls", store.RedisOptions{URL: s.TLSURL(), CAFile: s.CAFile}, ""},
		{"socket", store.RedisOptions{URL: s.SocketURL()}, ""},
		{"plain", store.RedisOptions{URL: s.PlainURL()}, ""},
		{"wrong password over tls", store.RedisOptions{URL: strings.Replace(s.TLSURL(), topology.Password, "wrong", 1), CAFile: s.CAFile}, "auth"},
		{"wrong password at the socket", store.RedisOptions{URL: strings.Replace(s.SocketURL(), topology.Password, "wrong", 1)}, "auth"},
		{"wrong user", store.RedisOptions{URL: strings.Replace(s.PlainURL(), topology.User, "nobody", 1)}, "auth"},
		{"a certificate of somebody else", store.RedisOptions{URL: s.TLSURL(), CAFile: other}, "tls"},
		{"no CA file", store.RedisOptions{URL: s.TLSURL()}, "tls"},
		{"tls at the plain port", store.RedisOptions{URL: strings.Replace(s.PlainURL(), "redis:", "rediss:", 1), CAFile: s.CAFile}, "timeout"}, // it waits for the rest of a command
		{"plain at the tls port", store.RedisOptions{URL: strings.Replace(s.TLSURL(), "rediss:", "redis:", 1)}, "closed"},
	} {
		c.o.Timeout = unhurried
		r := openWith(t, c.o)
		for range 2 {
			out, err := r.Take(context.Background(), attempt("A", "net", 100, 0))
			if store.Class(err) != c.class || (out.Outcome == store.Admitted) != (c.class == "") {
				t.Errorf("%s: outcome %d, class %q, %v; want class %q", c.name, out.Outcome, store.Class(err), err, c.class)
			}
		}
	}
}

// TestServiceWithLeastRights is the real program with that user, over TLS. It
// says nothing of rights that it lacks.
func TestServiceWithLeastRights(t *testing.T) {
	r := topology.StartSecure(t, topology.Rights())
	s := service.Start(t, service.Options{Redis: r.TLSURL(), Env: []string{"LOGINGUARD_STORE_CA_FILE=" + r.CAFile}})
	d := s.Check(client.Attempt{Account: "alice", IP: "203.0.113.9"})
	if !d.Allowed() {
		t.Fatalf("answered %d: %s", d.Status, d.Body)
	}
	if a := s.Report(d.Attempt, "success"); !a.Applied {
		t.Errorf("the report was answered %d: %s", a.Status, a.Body)
	}
	for _, bad := range []string{"NOPERM", "cannot be inspected"} {
		if strings.Contains(s.Log(), bad) {
			t.Errorf("the log has %q", bad)
		}
	}
}

// TestServiceWithoutInfo: where INFO is not allowed, the start checks cannot be
// made; the service says so and serves.
func TestServiceWithoutInfo(t *testing.T) {
	r := topology.StartSecure(t, slices.DeleteFunc(topology.Rights(), func(r string) bool { return r == "+info" }))
	s := service.Start(t, service.Options{Redis: r.PlainURL()})
	if d := s.Check(client.Attempt{Account: "alice", IP: "203.0.113.9"}); !d.Allowed() {
		t.Errorf("answered %d: %s", d.Status, d.Body)
	}
	s.AwaitLog("cannot be inspected")
}
