package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"loginguard/cmd/loginguard/config"
	"loginguard/guard"
	"loginguard/handlers"
	"loginguard/keys"
	"loginguard/store"
	"loginguard/test/internal/client"
	"loginguard/test/internal/service"
)

// recorded is one line of a log for replay.
type recorded struct {
	Time        float64 `json:"time"`
	Account     string  `json:"account"`
	IP          string  `json:"ip"`
	Outcome     string  `json:"outcome"`
	Route       string  `json:"route,omitempty"`
	Device      string  `json:"device,omitempty"`
	PasswordTag string  `json:"password_tag,omitempty"`
	Reason      string  `json:"reason,omitempty"`
}

// mixedDay makes a log of people at home and on their way, who mistype, and of
// guesses at them, at one account above all, from few addresses and from many.
func mixedDay(n int) []recorded {
	random := rand.New(rand.NewPCG(3, 5))
	at, log := 1_790_000_000.0, make([]recorded, 0, n)
	for range n {
		at += float64(random.IntN(24_000)) / 1000
		person := random.IntN(12)
		e := recorded{Time: at, Account: fmt.Sprintf("user%d@example.com", person), IP: fmt.Sprintf("203.0.113.%d", person)}
		switch random.IntN(8) {
		case 0, 1:
			e.Outcome, e.Device = "success", fmt.Sprint("device", random.IntN(2))
		case 2:
			e.Outcome, e.IP = "success", address(5000+random.IntN(50)) // on the way, with nothing to show
		case 3:
			e.Outcome, e.Reason, e.PasswordTag = "failure", "bad_password", fmt.Sprint("typo", person)
		case 4:
			e.Outcome, e.Route, e.IP = "failure", "password_reset", address(random.IntN(3))
		case 5:
			e.Account, e.Outcome, e.Reason, e.IP = "root", "failure", "unknown_account", address(random.IntN(4000))
		default:
			e.Outcome, e.Reason, e.IP, e.PasswordTag = "failure", "bad_password", address(random.IntN(4)), fmt.Sprint("leaked", random.IntN(9))
		}
		log = append(log, e)
	}
	return log
}

// TestReplayDecidesLikeTheService runs one log through replay, and through the
// API of a service whose clock is set to the time of each line.
func TestReplayDecidesLikeTheService(t *testing.T) {
	dir := t.TempDir()
	settings, lines, out := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "day.jsonl"), filepath.Join(dir, "decisions.jsonl")
	if err := os.WriteFile(settings, []byte("mode: enforce\nlimits: {password: {capacity: 6, refill: 6/1h}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	log := mixedDay(2500)
	var text bytes.Buffer
	for _, e := range log {
		if err := json.NewEncoder(&text).Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(lines, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	run := exec.Command(service.Program(t), "replay", lines, "--config", settings, "--decisions", out)
	if said, err := run.CombinedOutput(); err != nil {
		t.Fatalf("replay: %v\n%s", err, said)
	}
	decisions, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSpace(string(decisions)), "\n")
	want := liveDecisions(t, settings, log)
	if len(got) != len(want) {
		t.Fatalf("%d decisions, want %d", len(got), len(want))
	}
	denied := make(map[string]int)
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("attempt %d, %+v:\nreplay  %s\nservice %s", i+1, log[i], got[i], want[i])
		}
		_, limit, _ := strings.Cut(want[i], `"limit":`)
		limit, _, _ = strings.Cut(limit, ",")
		denied[limit]++
	}
	for _, limit := range []string{"null", `"account"`, `"network"`, `"password"`} {
		if denied[limit] == 0 {
			t.Errorf("no attempt was decided by %s: %v", limit, denied)
		}
	}
}

// liveDecisions asks a service over HTTP about each attempt, at its time, and
// reports how it ended. It returns the decisions in the form of replay.
func liveDecisions(t *testing.T, settings string, log []recorded) []string {
	t.Helper()
	c, _, err := config.Load(settings, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	ring := keys.RandomRing()
	rules, err := c.Rules(ring, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var clock atomic.Int64
	clock.Store(1)
	mem := store.NewMemory(store.MemoryOptions{Now: clock.Load})
	defer mem.Close()
	g := guard.New(mem, ring, rules, guard.Options{Jitter: func() float64 { return 0 }})
	defer g.Close()
	server := httptest.NewServer(handlers.New(g, handlers.Config{Loopback: true, Log: zerolog.Nop()}, handlers.NewMetrics("test")).API())
	defer server.Close()
	api := client.New(server.URL, "")
	defer api.Close()

	ctx := context.Background()
	devices := make(map[string]string)
	list := make([]string, 0, len(log))
	for i, e := range log {
		clock.Store(int64(e.Time*1e6 + 0.5))
		device := e.Account + " " + e.Device
		a := client.Attempt{Account: e.Account, IP: e.IP, Route: e.Route, PasswordTag: e.PasswordTag}
		if e.Device != "" {
			a.Device = devices[device]
		}
		d, err := api.Check(ctx, a)
		if err != nil {
			t.Fatal(err)
		}
		limit := "null"
		if d.Limit != "" {
			limit = fmt.Sprintf("%q", d.Limit)
		}
		list = append(list, fmt.Sprintf(`{"n":%d,"decision":%q,"limit":%s,"retry_after":%d}`, i+1, d.Decision, limit, d.RetryAfter))
		if !d.Allowed() {
			continue
		}
		r, err := api.Report(ctx, client.Report{Attempt: d.Attempt, Outcome: e.Outcome, Reason: e.Reason, RememberDevice: e.Device != "" && e.Outcome == "success"})
		if err != nil || !r.Applied {
			t.Fatalf("report of attempt %d: %v, %s", i+1, err, r.Body)
		}
		if r.Device != "" {
			devices[device] = r.Device
		}
	}
	return list
}
