package handlers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loginguard/guard"
)

// eventLines returns the lines of a log that have a field "event", without time.
func eventLines(t *testing.T, log string) []map[string]any {
	t.Helper()
	var all []map[string]any
	for l := range strings.Lines(log) {
		var v map[string]any
		if err := json.Unmarshal([]byte(l), &v); err != nil {
			t.Fatalf("%v in %s", err, l)
		}
		if v["event"] != nil {
			all = append(all, v)
		}
	}
	return all
}

// hooked is a hook that keeps what it is sent, as JSON.
type hooked struct {
	mu   sync.Mutex
	full bool
	got  []string
}

func (h *hooked) send(kind string, _ time.Time, data any) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.full {
		return false
	}
	b, err := json.Marshal(data)
	h.got = append(h.got, fmt.Sprintf("%s %s %v", kind, b, err))
	return true
}

// withHook gives a bench a hook for the kinds.
func withHook(h *hooked, out *syncBuffer, kinds ...string) func(*Config, *fakeEngine) {
	return func(c *Config, _ *fakeEngine) {
		c.Events = NewEvents(c.Log.Output(out), &Hook{Send: h.send, Kinds: kinds})
	}
}

func TestDenialIsOneLineAndOneEvent(t *testing.T) {
	var h hooked
	b := newBench(t, withHook(&h, new(syncBuffer), EventAttemptDenied))
	b.engine.decision = accountDenial()
	serve(b.API(), post("/v1/check", goodCheck))
	b.engine.decision = someAllow()
	serve(b.API(), post("/v1/check", goodCheck))
	b.engine.decision = guard.Decision{Verdict: guard.Challenge, Limit: "network", Level: "host"}
	serve(b.API(), post("/v1/check", goodCheck))
	got := eventLines(t, b.out.String())
	if len(got) != 1 || got[0]["event"] != EventAttemptDenied || got[0]["limit"] != "account" || got[0]["client"] != "203.0.113.9" {
		t.Errorf("the events in the log are %v, want one denial by account", got)
	}
	want := `login.attempt_denied {"realm":"default","route":"login","caller":"idp","limit":"account","client":"203.0.113.9",` +
		`"account_hash":"AAAAAAAAAAAAAAAAAAAAAA","request_id":"` + fmt.Sprint(got[0]["request_id"]) + `"} <nil>`
	if diff := cmp.Diff([]string{want}, h.got); diff != "" {
		t.Errorf("(-want +sent)\n%s", diff)
	}
}

// TestDenialsArePassedOnWhateverIsLogged: who logs warnings only may still
// want to be told of denials elsewhere.
func TestDenialsArePassedOnWhateverIsLogged(t *testing.T) {
	var h hooked
	b := newBench(t, withHook(&h, new(syncBuffer), EventAttemptDenied), func(c *Config, _ *fakeEngine) { c.Log = c.Log.Level(3) })
	b.engine.decision = accountDenial()
	serve(b.API(), post("/v1/check", goodCheck))
	if len(h.got) != 1 || b.out.String() != "" {
		t.Errorf("sent %v, logged %q, want one event and nothing", h.got, b.out.String())
	}
}

// TestFloodOfDenialsIsSampled: at most 50 a second are told, the others are
// counted, and the next line and event say how many there were.
func TestFloodOfDenialsIsSampled(t *testing.T) {
	var h hooked
	b := newBench(t, withHook(&h, new(syncBuffer), EventAttemptDenied))
	b.engine.decision = accountDenial()
	const floods = 200
	at := time.Unix(1e9, 0)
	r := func() *record {
		r := &record{id: "id"}
		r.decision(accountDenial())
		return r
	}
	for range floods {
		b.line("/v1/check", r(), at)
	}
	b.line("/v1/check", r(), at.Add(time.Second))
	logged := eventLines(t, b.out.String())
	if len(logged) != linesPerSecond+1 || len(h.got) != linesPerSecond+1 {
		t.Fatalf("%d lines and %d events, want %d each", len(logged), len(h.got), linesPerSecond+1)
	}
	if last := logged[linesPerSecond]["lines_dropped"]; last != float64(floods-linesPerSecond) {
		t.Errorf("the last line says %v were dropped", last)
	}
	if !strings.Contains(h.got[linesPerSecond], fmt.Sprintf(`"dropped":%d`, floods-linesPerSecond)) {
		t.Errorf("the last event is %s", h.got[linesPerSecond])
	}
	if !hasSeries(scrape(t, b), fmt.Sprintf(`loginguard_events_dropped_total{kind="attempt_denied"} %d`, floods-linesPerSecond)) {
		t.Error("what was dropped is not counted")
	}
}

func TestFullHookIsCounted(t *testing.T) {
	h := hooked{full: true}
	b := newBench(t, withHook(&h, new(syncBuffer), EventStoreDown))
	b.events.StoreChanged(false, "closed")
	if !hasSeries(scrape(t, b), `loginguard_events_dropped_total{kind="store_down"} 1`) {
		t.Error("an event that the hook did not take is not counted")
	}
}

func TestOnlyTheKindsThatWereAskedForArePassedOn(t *testing.T) {
	var h hooked
	out := new(syncBuffer)
	b := newBench(t, withHook(&h, out, EventStoreUp))
	b.engine.decision = accountDenial()
	serve(b.API(), post("/v1/check", goodCheck))
	b.events.StoreChanged(false, "open")
	b.events.StoreChanged(true, "open")
	b.metrics.FirstStrike("default", "hash", "203.0.113.9")
	b.events.OverrideExpired("network", "host", "why", "2027-01-31")
	if len(h.got) != 1 || !strings.HasPrefix(h.got[0], "login.store_up ") {
		t.Errorf("sent %v, want store_up alone", h.got)
	}
	if got := eventLines(t, out.String()); len(got) != 4 {
		t.Errorf("%d lines, want all 4: %v", len(got), got)
	}
}

// TestEachEventIsALineAndAMessage checks every kind but denials, word for
// word: these are what people build alerts on.
func TestEachEventIsALineAndAMessage(t *testing.T) {
	var h hooked
	out := new(syncBuffer)
	b := newBench(t, withHook(&h, out, EventKinds()...))
	e := b.events
	var later []func()
	e.after = func(_ time.Duration, f func()) { later = append(later, f) }
	at := time.Unix(1e9, 0)
	e.storeChanged(false, "local", at)
	e.storeChanged(true, "local", at.Add(90*time.Second))
	e.firstStrike("shop", "hash", "203.0.113.9", at)
	e.globalDenied("shop", at)
	e.globalDenied("shop", at.Add(30*time.Second))
	e.globalQuiet("shop", at.Add(70*time.Second)) // denied 40 s ago: not over
	e.globalQuiet("shop", at.Add(90*time.Second))
	e.globalQuiet("shop", at.Add(91*time.Second)) // and not twice
	e.OverrideExpired("network", "host", "exam hall", "2027-01-31")
	if len(later) != 2 {
		t.Errorf("%d timers were set, want one at the beginning and one more", len(later))
	}
	want := []string{
		`login.store_down {"on_failure":"local"} <nil>`,
		`login.store_up {"lasted_seconds":90} <nil>`,
		`login.account_first_strike {"realm":"shop","account_hash":"hash","client":"203.0.113.9"} <nil>`,
		`login.global_exhausted {"realm":"shop","state":"began"} <nil>`,
		`login.global_exhausted {"realm":"shop","state":"ended","lasted_seconds":30} <nil>`,
		`login.override_expired {"limit":"network","level":"host","reason":"exam hall","expires":"2027-01-31"} <nil>`,
	}
	if diff := cmp.Diff(want, h.got); diff != "" {
		t.Errorf("(-want +sent)\n%s", diff)
	}
	for i, l := range eventLines(t, out.String()) {
		delete(l, "message")
		text, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{
			`{"event":"store_down","level":"warn","on_failure":"local"}`,
			`{"event":"store_up","lasted_seconds":90,"level":"info"}`,
			`{"account_hash":"hash","client":"203.0.113.9","event":"account_first_strike","level":"info","realm":"shop"}`,
			`{"event":"global_exhausted","level":"warn","realm":"shop","state":"began"}`,
			`{"event":"global_exhausted","lasted_seconds":30,"level":"info","realm":"shop","state":"ended"}`,
			`{"event":"override_expired","expires":"2027-01-31","level":"warn","limit":"network","network_level":"host","reason":"exam hall"}`,
		}[i]; string(text) != want {
			t.Errorf("line %d is %s, want %s", i, text, want)
		}
	}
}

// TestGlobalExhaustionIsToldByItsEdges through the observer: one realm does
// not end that of another.
func TestGlobalExhaustionIsToldByItsEdges(t *testing.T) {
	var h hooked
	b := newBench(t, withHook(&h, new(syncBuffer), EventGlobalExhausted))
	b.events.after = func(time.Duration, func()) {}
	for range 100 {
		for _, realm := range []string{"default", "shop"} {
			b.metrics.Decided(realm, "login", guard.Decision{Verdict: guard.Deny, Limit: "global", Busy: true})
			b.metrics.Decided(realm, "login", accountDenial())
			b.metrics.Decided(realm, "login", someAllow())
			b.metrics.Decided(realm, "login", guard.Decision{Verdict: guard.Challenge, Limit: "global"})
		}
	}
	if len(h.got) != 2 {
		t.Errorf("sent %v, want one beginning for each realm", h.got)
	}
	b.events.globalQuiet("shop", time.Now().Add(exhaustionQuiet+time.Second))
	b.metrics.Decided("shop", "login", guard.Decision{Verdict: guard.Deny, Limit: "global", Busy: true})
	if len(h.got) != 4 || !strings.Contains(h.got[2], `"realm":"shop","state":"ended"`) {
		t.Errorf("sent %v, want an end and a new beginning", h.got)
	}
}

func TestFloodOfFirstStrikesIsSampled(t *testing.T) {
	var h hooked
	out := new(syncBuffer)
	b := newBench(t, withHook(&h, out, EventFirstStrike))
	at := time.Unix(1e9, 0)
	for i := range 120 {
		b.events.firstStrike("default", fmt.Sprint("hash", i), "203.0.113.9", at)
	}
	b.events.firstStrike("default", "last", "203.0.113.9", at.Add(time.Second))
	got := eventLines(t, out.String())
	if len(got) != linesPerSecond+1 || got[linesPerSecond]["lines_dropped"] != float64(120-linesPerSecond) {
		t.Errorf("%d lines, the last %v", len(got), got[len(got)-1])
	}
	if !hasSeries(scrape(t, b), fmt.Sprintf(`loginguard_events_dropped_total{kind="account_first_strike"} %d`, 120-linesPerSecond)) {
		t.Error("what was dropped is not counted")
	}
}

// TestEventsCarryNothingAStrangerChose: what is planted in every member of a
// check appears in no event, and no line is broken by it.
func TestEventsCarryNothingAStrangerChose(t *testing.T) {
	var h hooked
	b := newBench(t, withHook(&h, new(syncBuffer), EventKinds()...))
	b.engine.decision = accountDenial()
	for _, account := range []string{
		`alice\nlevel=info msg=login_ok ip=192.0.2.1`, `x ip=192.0.2.50 denied`, `\u0085\u2028\u001b[31m\u202e`, `planted\r\n{\"event\":\"store_up\"}`,
	} {
		body := `{"account":"` + account + `","ip":"203.0.113.9","id":"planted-id","device":"planted","password_tag":"planted"}`
		if w := serve(b.API(), post("/v1/check", body, "User-Agent", "planted", "X-Forwarded-For", "192.0.2.50 planted")); w.Code != http.StatusTooManyRequests {
			t.Fatalf("answered %d %s", w.Code, w.Body)
		}
	}
	got := eventLines(t, b.out.String()) // each is valid JSON
	if len(got) != 4 || len(h.got) != 4 {
		t.Fatalf("%d lines and %d events, want 4 each", len(got), len(h.got))
	}
	for _, text := range append(h.got, strings.Split(b.out.String(), "\n")...) {
		for _, bad := range []string{"planted", "192.0.2.", "login_ok", "\u0085", "\u2028", "\x1b", "\u202e", `\u001b`, `\u202e`} {
			if strings.Contains(text, bad) {
				t.Errorf("%q is in %s", bad, text)
			}
		}
	}
	// What bans addresses by the log finds the client before any other word
	// that is not fixed.
	for line := range strings.Lines(b.out.String()) {
		if client := strings.Index(line, `"client":"203.0.113.9"`); client < 0 || strings.Index(line, `"account_hash"`) < client {
			t.Errorf("the address is not first in %s", line)
		}
	}
}
