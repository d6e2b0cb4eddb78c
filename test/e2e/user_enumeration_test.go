package e2e

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loginguard/test/internal/client"
	"loginguard/test/internal/redisd"
	"loginguard/test/internal/service"
)

// TestStrangersLearnNothingOfAnAccount compares an account whose owner signs
// in every day with a name that nobody has: every answer to a stranger must be
// the same, from the first attempt to the denial.
func TestStrangersLearnNothingOfAnAccount(t *testing.T) {
	onEachStore(t, service.Options{}, func(t *testing.T, s *service.Service) {
		for range 5 {
			signIn(t, s, client.Attempt{Account: "owner", IP: "198.51.100.7"})
		}
		for i := range 13 {
			// Each pair from one /16 that differs in nothing that is counted.
			owner := s.Check(client.Attempt{Account: "owner", IP: address(2 * i)})
			nobody := s.Check(client.Attempt{Account: "nobody", IP: address(2*i + 1)})
			if diff := cmp.Diff(shown(t, owner), shown(t, nobody)); diff != "" {
				t.Errorf("attempt %d (-account +no account):\n%s", i+1, diff)
			}
			for _, d := range []client.Decision{owner, nobody} {
				if d.Allowed() {
					report(t, s, d.Attempt, "failure")
				}
			}
		}
	})
}

// shown returns what a stranger could see of an answer: its status, headers
// and members, without those that are different for everybody. Waits and
// resets count down, so that only their presence is compared; so is global's
// remaining, which the two share.
func shown(t *testing.T, d client.Decision) map[string]any {
	t.Helper()
	all := map[string]any{"status": d.Status}
	for name, values := range d.Header {
		switch name {
		case "Date", "X-Request-Id", "Retry-After", "Ratelimit-Reset", "Ratelimit", "Content-Length":
			all[name] = len(values)
		default:
			all[name] = values
		}
	}
	var members map[string]any
	if err := json.Unmarshal(d.Body, &members); err != nil {
		t.Fatal(err)
	}
	for name, v := range members {
		switch name {
		case "attempt":
			all[name] = len(v.(string))
		case "retry_after":
			all[name] = ""
		default:
			all[name] = v
		}
	}
	return all
}

// TestAnyNameIsAnAccount: what a stranger types is counted before anybody
// looks it up, whatever it is.
func TestAnyNameIsAnAccount(t *testing.T) {
	s := service.Start(t, service.Options{})
	for i, name := range []string{
		"a", "'; DROP TABLE users; --", "{alice}", "a:b:c", "lg:{x}", "../../etc/passwd", "%00", "alice\nbob", "\U0001F600",
		"alice@", "@example.com", "a@b@c", "null", "0", strings.Repeat("x", 1024),
	} {
		d := s.Check(client.Attempt{Account: name, IP: address(i)})
		if !d.Allowed() {
			t.Errorf("%q was answered %d: %s", name, d.Status, d.Body)
		}
	}
}

// TestKnownAndUnknownAccountsTakeTheSamePath: both are one script over keys of
// the same shape, so that no time tells them apart.
func TestKnownAndUnknownAccountsTakeTheSamePath(t *testing.T) {
	server := redisd.Start(t)
	s := service.Start(t, service.Options{Redis: server.URL()})
	signIn(t, s, client.Attempt{Account: "owner", IP: "198.51.100.7"})
	path := func(account string, i int) (scripts int, keys []string) {
		before, was := calls(t, server, "evalsha"), stored(server)
		if d := s.Check(client.Attempt{Account: account, IP: address(i)}); d.Status != http.StatusOK {
			t.Fatalf("answered %d", d.Status)
		}
		scripts = calls(t, server, "evalsha") - before
		for key := range stored(server) {
			if _, old := was[key]; !old {
				keys = append(keys, key[strings.LastIndex(key, "}"):])
			}
		}
		slices.Sort(keys)
		return scripts, keys
	}
	a, _ := path("owner", 1)
	b, made := path("nobody", 2)
	if a != 1 || b != 1 {
		t.Errorf("a check of a known account was %d scripts, of an unknown one %d, want 1 and 1", a, b)
	}
	c, again := path("nobody else", 3)
	if c != b || !slices.EqualFunc(made[:1], again[:1], func(x, y string) bool { return x == y }) || len(made) != len(again) {
		t.Errorf("two unknown accounts made keys %v and %v", made, again)
	}
}
