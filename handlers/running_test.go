package handlers

import (
	"crypto/sha256"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"loginguard/guard"
	"loginguard/keys"
	"loginguard/netprefix"
	"loginguard/policy"
	"loginguard/store"
)

// inRealm returns a configuration in which the caller idp, and the policy, know
// one realm beside the default one, and the front is of it.
func inRealm(t *testing.T, realm, upstream string) Running {
	t.Helper()
	c := policy.Defaults()
	c.Realms = []string{realm}
	c.Limits.Global.Mode, c.Limits.Host.Mode, c.Limits.Subnet.Mode = policy.Off, policy.Off, policy.Off
	c.Limits.Account.Capacity = 1_000_000
	r := Running{
		Callers: []Caller{{Name: "idp", KeySHA256: sha256.Sum256([]byte(idpKey)), Realms: []string{realm}}},
		Front: &FrontConfig{Upstream: upstream, Realm: realm, Rules: []FrontRule{{
			Methods: []string{"POST"}, Path: "/login", Route: "login", Account: FrontAccount{Basic: true},
			Success: FrontMatch{Status: []int{200}}, Failure: FrontMatch{Status: []int{401}},
		}}},
	}
	for _, err := range []error{
		set(&r.Rules.Policy)(policy.New(c)),
		set(&r.Rules.Networks)(netprefix.NewTable(netprefix.TableConfig{})),
		set(&r.Rules.Clients)(netprefix.NewResolver(netprefix.ResolverConfig{})),
		set(&r.Rules.Names)(keys.NewCanonicaliser(nil)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// set keeps a value that comes with an error.
func set[T any](at *T) func(T, error) error {
	return func(v T, err error) error {
		*at = v
		return err
	}
}

// A caller's realm comes from one part of the configuration and is checked
// against another: whoever saw a part of each would be refused. So would the
// front.
func TestRequestSeesOneConfigurationWhileTwoAreSwapped(t *testing.T) {
	app := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer app.Close()
	sets := []Running{inRealm(t, "red", app.URL), inRealm(t, "blue", app.URL)}
	g := guard.New(store.NewMemory(store.MemoryOptions{}), keys.RandomRing(), sets[0].Rules, guard.Options{})
	defer g.Close()
	s := New(g, Config{Log: zerolog.Nop()}, NewMetrics("v1"))
	front, err := NewFront(s, *sets[0].Front)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Swap(sets[0]); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var swapper, workers sync.WaitGroup
	swapper.Go(func() {
		for i := 1; ; i++ {
			select {
			case <-stop:
				return
			default:
				if err := s.Swap(sets[i%2]); err != nil {
					t.Error(err)
				}
				g.Swap(sets[i%2].Rules)
			}
		}
	})
	for range 4 {
		workers.Go(func() {
			for range 60 {
				ask := httptest.NewRequest(http.MethodGet, "/v1/forward-auth/plain", nil)
				ask.Header.Set("X-API-Key", idpKey)
				if w := serve(s.API(), ask); w.Code != 200 {
					t.Errorf("forward-auth: %d %s", w.Code, w.Body)
				}
				login := httptest.NewRequest(http.MethodPost, "/login", nil)
				login.SetBasicAuth("alice", "right")
				if w := serve(front, login); w.Code != 200 {
					t.Errorf("front: %d %s", w.Code, w.Body)
				}
			}
		})
	}
	workers.Wait()
	close(stop)
	swapper.Wait()
}

func TestSwapThatFailsChangesNothing(t *testing.T) {
	b := newBench(t)
	next := inRealm(t, "red", "ftp://nowhere")
	next.Callers = nil
	if err := b.Swap(next); err == nil {
		t.Fatal("a front without an upstream is taken")
	}
	if w := serve(b.API(), post("/v1/check", goodCheck)); w.Code != 200 {
		t.Errorf("the caller of before is answered %d", w.Code)
	}
}

func TestSwapReplacesCallersAndWhatIsOpenWithoutThem(t *testing.T) {
	b := newBench(t)
	next := Running{Rules: b.engine.rules, Loopback: true}
	if err := b.Swap(next); err != nil {
		t.Fatal(err)
	}
	if w := serve(b.API(), post("/v1/check", goodCheck)); w.Code != 403 {
		t.Errorf("from another machine, without callers: %d, want 403", w.Code)
	}
	if w := serve(b.API(), local(post("/v1/check", goodCheck, "Authorization", ""))); w.Code != 200 {
		t.Errorf("from this machine, without callers: %d, want 200", w.Code)
	}
	next.Loopback, next.Callers = false, []Caller{{Name: "new", KeySHA256: sha256.Sum256([]byte("another")), Realms: []string{"default"}}}
	if err := b.Swap(next); err != nil {
		t.Fatal(err)
	}
	if w := serve(b.API(), local(post("/v1/check", goodCheck))); w.Code != 401 {
		t.Errorf("with the key of a caller that is gone: %d, want 401", w.Code)
	}
	if w := serve(b.API(), post("/v1/check", goodCheck, "Authorization", "Bearer another")); w.Code != 200 {
		t.Errorf("with the key of the new caller: %d, want 200", w.Code)
	}
}
