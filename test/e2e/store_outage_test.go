package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"loginguard/test/internal/client"
	"loginguard/test/internal/redisd"
	"loginguard/test/internal/service"
)

// realBudget gives a service the store's budget that operators get.
var realBudget = []string{"LOGINGUARD_STORE_TIMEOUT=50ms"}

const (
	// answerWithin is what a login may be made to wait when the store is gone.
	answerWithin = 500 * time.Millisecond

	// backWithin is how long a service may take to notice that it is back.
	backWithin = 2 * time.Second
)

var outages = []struct {
	name        string
	begin, over func(*redisd.Server)
}{
	{"paused", (*redisd.Server).Pause, (*redisd.Server).Resume},
	{"killed", (*redisd.Server).Kill, (*redisd.Server).Run},
	{"out of memory",
		func(r *redisd.Server) { r.Do("CONFIG", "SET", "maxmemory", "1") },
		func(r *redisd.Server) { r.Do("CONFIG", "SET", "maxmemory", "0") }},
	{"read-only",
		func(r *redisd.Server) { r.Do("REPLICAOF", "127.0.0.1", "1") },
		func(r *redisd.Server) { r.Do("REPLICAOF", "NO", "ONE") }},
}

// TestStoreOutage takes the store away in every way there is: each check is
// denied at once, by 503 and with a wait, the process stays alive, and all is
// well again soon after the store is back.
func TestStoreOutage(t *testing.T) {
	for _, o := range outages {
		t.Run(o.name, func(t *testing.T) {
			server := redisd.Start(t)
			s := service.Start(t, service.Options{Redis: server.URL(), Env: realBudget})
			back(t, s, patient)

			o.begin(server)
			for i := range 10 {
				unavailable(t, s.Check(client.Attempt{Account: "alice", IP: address(i)}))
			}
			for _, d := range storm(40, func(i int) client.Attempt { return client.Attempt{Account: "bob", IP: address(i)} }, s) {
				unavailable(t, d)
			}
			if p := s.Page("/livez"); p.Status != http.StatusOK {
				t.Errorf("/livez answers %d", p.Status)
			}
			for _, path := range []string{"/v1/report", "/v1/forget", "/v1/explain"} {
				body := map[string]string{
					"/v1/report":  `{"account":"alice","ip":"203.0.113.9","outcome":"failure"}`,
					"/v1/forget":  `{"account":"alice","scope":"credentials"}`,
					"/v1/explain": `{"account":"alice","ip":"203.0.113.9"}`,
				}[path]
				p := s.Do("POST", path, http.Header{"Content-Type": {"application/json"}}, body)
				// A read is possible where only writing is not.
				reads := path == "/v1/explain" && (o.name == "out of memory" || o.name == "read-only")
				if p.Status != http.StatusServiceUnavailable && !reads {
					t.Errorf("%s answers %d: %s", path, p.Status, p.Body)
				}
			}

			o.over(server)
			back(t, s, backWithin)
		})
	}
}

// patient is for a service that nothing is wrong with.
const patient = 20 * time.Second

// back waits until checks are decided again.
func back(t *testing.T, s *service.Service, within time.Duration) {
	t.Helper()
	service.Await(t, within, "an attempt to be allowed", func() bool {
		return s.Check(client.Attempt{Account: "carol", IP: "198.51.100.1", Route: "mfa", ID: "again"}).Status != http.StatusServiceUnavailable
	})
}

// unavailable checks the answer that a check gets without a store.
func unavailable(t *testing.T, d client.Decision) {
	t.Helper()
	busy(t, d)
	if d.Reason != "store_unavailable" || !strings.HasSuffix(d.Type, "#temporary-reduced-capacity") {
		t.Errorf("reason %q, type %q: %s", d.Reason, d.Type, d.Body)
	}
	if d.Took > answerWithin {
		t.Errorf("a check without the store took %s, want at most %s", d.Took, answerWithin)
	}
}

// TestStartsWithoutItsStore starts the service first, as an orchestrator may.
func TestStartsWithoutItsStore(t *testing.T) {
	server := redisd.Start(t)
	server.Kill()
	s := service.Start(t, service.Options{Redis: server.URL(), Env: realBudget})
	for i := range 3 {
		unavailable(t, s.Check(client.Attempt{Account: "alice", IP: address(i)}))
	}
	if p := s.Page("/livez"); p.Status != http.StatusOK {
		t.Errorf("/livez answers %d", p.Status)
	}
	server.Run()
	back(t, s, backWithin)
	exhaust(t, s, "alice", 0)
}

// TestStoreThatDropsCountersIsRefused, at the start and when it is seen later.
func TestStoreThatDropsCountersIsRefused(t *testing.T) {
	server := redisd.Start(t, "--maxmemory-policy", "allkeys-lru")
	said := service.Refused(t, service.Options{Redis: server.URL()})
	if !strings.Contains(said, "maxmemory-policy") || !strings.Contains(said, "allow_eviction") {
		t.Errorf("refused with: %s", said)
	}
	s := service.Start(t, service.Options{Redis: server.URL(), Env: []string{"LOGINGUARD_STORE_ALLOW_EVICTION=true"}})
	signIn(t, s, client.Attempt{Account: "alice", IP: "203.0.113.9"})
}

// TestFailurePolicyOfRoutes has one route of each kind while the store is gone.
func TestFailurePolicyOfRoutes(t *testing.T) {
	server := redisd.Start(t)
	s := service.Start(t, service.Options{Redis: server.URL(), Env: realBudget, Config: `
routes:
  login: {on_failure: closed}
  open: {cost: 1, success: full, on_failure: open}
  local: {cost: 1, success: full, on_failure: local}
`})
	server.Kill()
	attempt := func(route string, i int) client.Attempt {
		return client.Attempt{Account: "alice", IP: address(i), Route: route}
	}
	for i := range 15 {
		unavailable(t, s.Check(attempt("login", i)))
		if d := s.Check(attempt("open", i)); !d.Allowed() || !d.Degraded {
			t.Errorf("open: answered %d, degraded %t", d.Status, d.Degraded)
		}
		d := s.Check(attempt("local", i))
		if i < 10 && (!d.Allowed() || !d.Degraded) {
			t.Errorf("local: attempt %d was answered %d, degraded %t", i+1, d.Status, d.Degraded)
		}
		if i >= 10 {
			denied(t, d)
		}
	}
}

// TestReadiness: a service without its store stays ready unless it is told
// otherwise, and says what it knows.
func TestReadiness(t *testing.T) {
	for _, test := range []struct {
		readiness string
		down      int
	}{{"process", http.StatusOK}, {"store", http.StatusServiceUnavailable}} {
		t.Run(test.readiness, func(t *testing.T) {
			t.Parallel()
			server := redisd.Start(t)
			s := service.Start(t, service.Options{Redis: server.URL(), Env: append([]string{"LOGINGUARD_SERVER_READINESS=" + test.readiness}, realBudget...)})
			ready := func(status int, store string) func() bool {
				return func() bool {
					p := s.Page("/readyz")
					var r struct{ Store string }
					if err := json.Unmarshal(p.Body, &r); err != nil {
						t.Fatalf("%v: %s", err, p.Body)
					}
					return p.Status == status && r.Store == store
				}
			}
			service.Await(t, patient, "readiness", ready(http.StatusOK, "up"))
			server.Pause()
			service.Await(t, patient, "the store to be seen as down", ready(test.down, "down"))
			if p := s.Page("/livez"); p.Status != http.StatusOK {
				t.Errorf("/livez answers %d", p.Status)
			}
			server.Resume()
			service.Await(t, patient, "the store to be seen as up", ready(http.StatusOK, "up"))
		})
	}
}

// TestProbesAreNeverLimited asks far more often than any limit allows.
func TestProbesAreNeverLimited(t *testing.T) {
	s := service.Start(t, service.Options{})
	for range 500 {
		for _, path := range []string{"/livez", "/readyz"} {
			if p := s.Page(path); p.Status != http.StatusOK {
				t.Fatalf("%s answers %d", path, p.Status)
			}
		}
	}
}

// TestRetriesAfterAnOutageAreSpread: clients that were turned away together
// must not come back together.
func TestRetriesAfterAnOutageAreSpread(t *testing.T) {
	server := redisd.Start(t)
	s := service.Start(t, service.Options{Redis: server.URL(), Env: realBudget})
	server.Kill()
	waits := make(map[int]int)
	for i := range 60 {
		d := s.Check(client.Attempt{Account: "alice", IP: address(i)})
		busy(t, d)
		waits[d.RetryAfter]++
	}
	if len(waits) < 2 {
		t.Errorf("60 answers all said to wait as long: %v", waits)
	}
	for w := range waits {
		if w > 60 {
			t.Errorf("a wait of %d s for an outage of unknown length", w)
		}
	}
}
