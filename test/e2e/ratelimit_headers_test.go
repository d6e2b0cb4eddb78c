package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"loginguard/test/internal/client"
	"loginguard/test/internal/service"
)

// TestHeadersShowTheTightestLimit has the account with the smallest share left
// of all the limits that an attempt is charged on.
func TestHeadersShowTheTightestLimit(t *testing.T) {
	onEachStore(t, service.Options{}, func(t *testing.T, s *service.Service) {
		var d client.Decision
		for i := range 7 {
			d = guess(t, s, client.Attempt{Account: "alice", IP: address(i)})
		}
		// Seven of ten are gone; one comes back in 36 minutes.
		plain(t, d, 10, 3, 7*36*60)
		items(t, d, map[string]item{
			"account":        {10, 21600, 3, 7 * 36 * 60},
			"network-host":   {30, 3600, 29, 120},
			"network-subnet": {100, 3600, 99, 36},
			"global":         {1000, 3600, 993, 26},
		})

		// From one address that tries accounts, the address becomes the one.
		for i := range 28 {
			d = guess(t, s, client.Attempt{Account: fmt.Sprint("account", i), IP: "203.0.113.9"})
		}
		plain(t, d, 30, 2, 28*120)
	})
}

// TestDenialHeadersShowTheBucketThatDenies, and of two that do, the one that
// denies for longer.
func TestDenialHeadersShowTheBucketThatDenies(t *testing.T) {
	onEachStore(t, service.Options{}, func(t *testing.T, s *service.Service) {
		d := exhaust(t, s, "alice", 0)
		plain(t, d, 10, 0, 30)
		items(t, d, map[string]item{"account": {10, 21600, 0, 30}})

		const from = "203.0.113.9"
		for i := range 30 {
			guess(t, s, client.Attempt{Account: fmt.Sprint("account", i), IP: from})
		}
		d = s.Check(client.Attempt{Account: "alice", IP: from})
		denied(t, d)
		if d.Limit != "network" || d.Level != "host" {
			t.Errorf("denied by %s %s, want network host, which takes longer than the account", d.Limit, d.Level)
		}
		plain(t, d, 30, 0, 120)
		items(t, d, map[string]item{"network-host": {30, 3600, 0, 120}})
	})
}

// TestHeadersOfAFamiliarPlace show the owner's own lane.
func TestHeadersOfAFamiliarPlace(t *testing.T) {
	s := service.Start(t, service.Options{})
	home := client.Attempt{Account: "alice", IP: "203.0.113.9"}
	signIn(t, s, home)
	d := guess(t, s, home)
	plain(t, d, 10, 9, 720)
	items(t, d, map[string]item{
		"familiar":       {10, 7200, 9, 720},
		"network-host":   {30, 3600, 29, 120},
		"network-subnet": {100, 3600, 99, 36},
	})
}

// plain checks the three simple headers. Resets may be a few seconds less,
// since time passes while a test runs.
func plain(t *testing.T, d client.Decision, limit, remaining, reset int) {
	t.Helper()
	for _, h := range []struct {
		name  string
		want  int
		slack int
	}{{"RateLimit-Limit", limit, 0}, {"RateLimit-Remaining", remaining, 0}, {"RateLimit-Reset", reset, slack}} {
		got, err := strconv.Atoi(d.Header.Get(h.name))
		if err != nil || got > h.want || got < h.want-h.slack {
			t.Errorf("%s is %q, want %d", h.name, d.Header.Get(h.name), h.want)
		}
	}
}

// slack is how many seconds a test may have taken since the state that it
// looks at was made.
const slack = 15

// item is one item of the structured headers.
type item struct{ quota, window, remaining, reset int }

var (
	policyItem = regexp.MustCompile(`^"([a-z-]+)";q=(\d+);w=(\d+)$`)
	stateItem  = regexp.MustCompile(`^"([a-z-]+)";r=(\d+);t=(\d+)$`)
)

// items checks the two structured headers of
// draft-ietf-httpapi-ratelimit-headers-10, which must name the same limits.
func items(t *testing.T, d client.Decision, want map[string]item) {
	t.Helper()
	got := make(map[string]item)
	numbers := func(m []string) (int, int) {
		a, _ := strconv.Atoi(m[2]) // the pattern has digits only
		b, _ := strconv.Atoi(m[3])
		return a, b
	}
	for _, text := range strings.Split(d.Header.Get("RateLimit-Policy"), ", ") {
		m := policyItem.FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("RateLimit-Policy has the item %q", text)
		}
		i := item{remaining: -1}
		i.quota, i.window = numbers(m)
		got[m[1]] = i
	}
	for _, text := range strings.Split(d.Header.Get("RateLimit"), ", ") {
		m := stateItem.FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("RateLimit has the item %q", text)
		}
		i, there := got[m[1]]
		if !there || i.remaining >= 0 {
			t.Errorf("RateLimit names %q, which RateLimit-Policy does not, or twice", m[1])
		}
		i.remaining, i.reset = numbers(m)
		got[m[1]] = i
	}
	for name, w := range want {
		g := got[name]
		// Global and the networks may have refilled by one since.
		if g.quota != w.quota || g.window != w.window || g.remaining < w.remaining || g.remaining > w.remaining+1 ||
			g.reset > w.reset || g.reset < w.reset-slack {
			t.Errorf("%s is %+v, want %+v", name, g, w)
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("the headers name %+v as well", got)
	}
}

// TestAnswersAreNotCached: a shared cache in between would let an allowance be
// used twice.
func TestAnswersAreNotCached(t *testing.T) {
	s := service.Start(t, service.Options{})
	for _, r := range []client.Reply{
		s.Check(client.Attempt{Account: "alice", IP: "203.0.113.9"}).Reply,
		s.Do("GET", "/v1/limits", nil, ""),
		s.Do("GET", "/nothing", nil, ""),
	} {
		if got := r.Header.Get("Cache-Control"); got != "no-store" {
			t.Errorf("Cache-Control is %q for an answer %d", got, r.Status)
		}
	}
}

// TestLimitsArePublished: what the headers show has a name and a purpose that
// anybody with a key can read.
func TestLimitsArePublished(t *testing.T) {
	s := service.Start(t, service.Options{Config: "support_url: https://help.example.com/login\n"})
	p := s.Do("GET", "/v1/limits", nil, "")
	if p.Status != http.StatusOK {
		t.Fatalf("answered %d", p.Status)
	}
	var page struct {
		Limits []struct {
			Name, Level, Purpose, Scope, Refill, Backoff, Mode string
			Capacity                                           int
		}
		Routes map[string]struct{ Cost int }
	}
	if err := json.Unmarshal(p.Body, &page); err != nil {
		t.Fatal(err)
	}
	capacities := make(map[string]int)
	for _, l := range page.Limits {
		name := l.Name
		if l.Level != "" {
			name += " " + l.Level
		}
		capacities[name] = l.Capacity
		if !strings.HasPrefix(l.Purpose, "protection: ") || l.Scope == "" || l.Refill == "" || l.Mode != "enforce" {
			t.Errorf("%s: %+v", name, l)
		}
	}
	for name, want := range map[string]int{
		"account": 10, "device": 10, "familiar": 10, "network host": 30, "network site": 60, "network subnet": 100,
		"global": 1000, "password": 20, "repeat": 10, "challenged": 5,
	} {
		if capacities[name] != want {
			t.Errorf("%s is published with capacity %d, want %d: %v", name, capacities[name], want, capacities)
		}
	}
	for route, want := range map[string]int{"login": 1, "signup": 5, "password_reset": 3, "mfa": 1} {
		if page.Routes[route].Cost != want {
			t.Errorf("route %s costs %d, want %d", route, page.Routes[route].Cost, want)
		}
	}
	if !strings.Contains(string(p.Body), "https://help.example.com/login") {
		t.Error("the page does not say where to ask for help")
	}
}
