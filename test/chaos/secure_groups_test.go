package chaos

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"loginguard/store"
	"loginguard/test/internal/client"
	"loginguard/test/internal/service"
	"loginguard/test/internal/topology"
)

// TestWaysIntoSecureSentinel: over TLS with a user for the servers and another
// for the sentinels, and with each of the words and certificates wrong.
func TestWaysIntoSecureSentinel(t *testing.T) {
	s := topology.StartSecureSentinel(t)
	other := topology.OtherCA(t)
	const word = "watcher%40password%3A1"
	for _, c := range []struct {
		name  string
		o     store.RedisOptions
		class string
	}{
		{"both users", store.RedisOptions{URL: s.URL(), CAFile: s.CAFile}, ""},
		{"a certificate of somebody else", store.RedisOptions{URL: s.URL(), CAFile: other}, "tls"},
		{"no CA file", store.RedisOptions{URL: s.URL()}, "tls"},
		{"wrong password at the sentinels", store.RedisOptions{URL: strings.Replace(s.URL(), word, "wrong", 1), CAFile: s.CAFile}, "auth"},
		{"wrong user at the sentinels", store.RedisOptions{URL: strings.Replace(s.URL(), "sentinel_user="+topology.SentinelUser, "sentinel_user=nobody", 1), CAFile: s.CAFile}, "auth"},
		{"nobody at the sentinels", store.RedisOptions{URL: s.URL()[:strings.Index(s.URL(), "?")], CAFile: s.CAFile}, "auth"},
		{"wrong password at the servers", store.RedisOptions{URL: strings.Replace(s.URL(), topology.Password, "wrong", 1), CAFile: s.CAFile}, "auth"},
		{"plain to sentinels that talk TLS", store.RedisOptions{URL: strings.Replace(s.URL(), "rediss+", "redis+", 1)}, "closed"},
	} {
		judgeWay(t, c.name, c.o, c.class)
	}
}

// TestWaysIntoSecureCluster is the same for a cluster.
func TestWaysIntoSecureCluster(t *testing.T) {
	s := topology.StartSecureCluster(t)
	other := topology.OtherCA(t)
	for _, c := range []struct {
		name  string
		o     store.RedisOptions
		class string
	}{
		{"tls", store.RedisOptions{URL: s.URL(), CAFile: s.CAFile}, ""},
		{"a certificate of somebody else", store.RedisOptions{URL: s.URL(), CAFile: other}, "tls"},
		{"no CA file", store.RedisOptions{URL: s.URL()}, "tls"},
		{"wrong password", store.RedisOptions{URL: strings.Replace(s.URL(), topology.Password, "wrong", 1), CAFile: s.CAFile}, "auth"},
		{"wrong user", store.RedisOptions{URL: strings.Replace(s.URL(), topology.User, "nobody", 1), CAFile: s.CAFile}, "auth"},
		{"plain to nodes that talk TLS", store.RedisOptions{URL: strings.Replace(s.URL(), "rediss+", "redis+", 1)}, "closed"},
	} {
		judgeWay(t, c.name, c.o, c.class)
	}
}

// judgeWay opens a store and wants an attempt to be admitted, or never to be and
// to fail as what it is, and no failure to show a password. On a busy machine
// the handshakes with all sentinels may take longer than a dial may.
func judgeWay(t *testing.T, name string, o store.RedisOptions, class string) {
	t.Helper()
	o.Timeout = unhurried
	r := openWith(t, o)
	var err error
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
		var out store.Taken
		out, err = r.Take(context.Background(), attempt("A", "net", 100, 0))
		if (out.Outcome == store.Admitted) != (err == nil) || err == nil && class != "" {
			t.Errorf("%s: outcome %d, %v; want class %q", name, out.Outcome, err, class)
		}
		if err != nil && (strings.Contains(err.Error(), topology.Password) || strings.Contains(err.Error(), topology.SentinelPassword)) {
			t.Errorf("%s: the error shows a password: %v", name, err)
		}
		if store.Class(err) != "timeout" {
			break
		}
	}
	if store.Class(err) != class {
		t.Errorf("%s: class %q, %v; want class %q", name, store.Class(err), err, class)
	}
	if err := r.Inspect(context.Background()); class == "" && err != nil {
		t.Errorf("%s: inspect: %v", name, err)
	}
}

// TestServiceOnSecureSentinel is the real program on that group: it denies
// while the sentinels do not let it in, is back when they do, and survives a
// failover, all by the same process.
func TestServiceOnSecureSentinel(t *testing.T) {
	t.Parallel() // it waits for time to pass
	g := topology.StartSecureSentinel(t)
	g.Admit("another word", topology.SentinelRights())
	s := service.Start(t, service.Options{Redis: g.URL(), Config: roomy, Env: append([]string{"LOGINGUARD_STORE_CA_FILE=" + g.CAFile}, realBudget...)})
	l := begin(t, s, 100, 16)
	service.Await(t, 30*time.Second, "the service to be turned away", func() bool { return l.busy.Load() > 50 })
	if n := l.allowed.Load(); n != 0 {
		t.Errorf("%d attempts were allowed without a store", n)
	}
	g.Admit(topology.SentinelPassword, topology.SentinelRights())
	l.mark()
	l.back()

	g.Master.Kill()
	topology.Await(t, "the replica to be promoted", func() bool { return topology.Role(g.Replica) == "master" })
	l.mark()
	l.back()
	l.end()
	if log := s.Log(); strings.Contains(log, topology.SentinelPassword) || strings.Contains(log, topology.Password) {
		t.Error("the log has a password")
	}
}

// TestServiceOnSecureCluster is the real program on a cluster that talks TLS:
// with the certificates of somebody else it denies all; with the right ones it
// goes on after the failover of a node.
func TestServiceOnSecureCluster(t *testing.T) {
	t.Parallel() // it waits for time to pass
	c := topology.StartSecureCluster(t)
	stranger := service.Start(t, service.Options{Redis: c.URL(), Env: append([]string{"LOGINGUARD_STORE_CA_FILE=" + topology.OtherCA(t)}, realBudget...)})
	for i := range 5 {
		if err := unavailable(stranger.Check(client.Attempt{Account: "alice", IP: address(i)})); err != nil {
			t.Error(err)
		}
	}
	if n := metric(t, stranger, `loginguard_store_errors_total{class="tls"}`); n == 0 {
		t.Error("no error of the class tls was counted")
	}
	s := service.Start(t, service.Options{Redis: c.URL(), Config: roomy, Env: []string{"LOGINGUARD_STORE_CA_FILE=" + c.CAFile}})
	working(t, s)
	lost := c.Of(networkKey("net"))
	lost.Kill()
	topology.Await(t, "the replica to take over", func() bool { return topology.Role(c.ReplicaOf(lost)) == "master" })
	topology.Await(t, "all accounts to be decided again", func() bool {
		for i := range 20 {
			if !s.Check(client.Attempt{Account: address(i), IP: address(i)}).Allowed() {
				return false
			}
		}
		return true
	})
}

// TestSentinelRights: a store that has found its master has asked the sentinels
// for nothing that it may not; one that may not even ask for the master says so.
func TestSentinelRights(t *testing.T) {
	s := topology.StartSecureSentinel(t)
	judgeWay(t, "all rights", store.RedisOptions{URL: s.URL(), CAFile: s.CAFile}, "")
	if refused := s.Refused(topology.SentinelUser); len(refused) > 0 {
		t.Errorf("the sentinels refused %q", refused)
	}
	const ask = "+sentinel|get-master-addr-by-name"
	s.Admit(topology.SentinelPassword, slices.DeleteFunc(topology.SentinelRights(), func(r string) bool { return r == ask }))
	judgeWay(t, "without "+ask, store.RedisOptions{URL: s.URL(), CAFile: s.CAFile}, "auth")
	if refused := s.Refused(topology.SentinelUser); !slices.Contains(refused, ask[1:]) {
		t.Errorf("the sentinels refused %q, want %s among them", refused, ask[1:])
	}
}

// TestManualGrantsTheSentinelRights: the line that operators copy is the one
// tested.
func TestManualGrantsTheSentinelRights(t *testing.T) {
	manual, err := os.ReadFile("../../docs/redis.md")
	if err != nil {
		t.Fatal(err)
	}
	line := "user watcher on >PASSWORD " + strings.Join(topology.SentinelRights(), " ") + "\n"
	if !strings.Contains(string(manual), line) {
		t.Errorf("docs/redis.md lacks %q", line)
	}
}
