package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An owner who mistyped is explained, and let in again.
func TestExplainAndForgetOfARunningService(t *testing.T) {
	s := start(t, "networks: {pools: [{name: carrier-a, cidrs: [203.0.113.0/24]}]}\n")
	about := func(more ...string) []string {
		return append([]string{"explain", "--url", s.api, "--account", "alice", "--ip", "203.0.113.7"}, more...)
	}
	code, out, errs := once(t, nil, about()...)
	if code != 0 || !strings.HasPrefix(out, "allowed: account is nearest to its end, 10 of 10 left\n") || errs != "" {
		t.Errorf("before: %d, %s%s", code, out, errs)
	}
	for range 11 {
		post(t, http.DefaultClient, s.api+"/v1/check", "", check)
	}
	code, out, errs = once(t, nil, about()...)
	want := "denied by account: 0 of 10 left, 1 strike, may try again in "
	if code != int(exitFound) || !strings.HasPrefix(out, want) || errs != "" {
		t.Errorf("after: %d, %s%s\nwant %s", code, out, errs, want)
	}
	for _, line := range []string{
		"to let it in now: loginguard forget --account, with the account of this attempt\n",
		"client    203.0.113.7, taken from ip\n",
		"class     pool: a carrier's pool, all of it is one network\n",
		"networks  host 203.0.113.7/32, pool carrier-a\n",
		"network pool  90 of 100",
	} {
		if !strings.Contains(out, line) {
			t.Errorf("the explanation lacks %q:\n%s", line, out)
		}
	}
	// JSON is what the service says, from either listener.
	for _, url := range []string{s.api, s.admin} {
		code, out, _ = once(t, nil, about("--json", "--url", url)...)
		var x explanation
		if err := json.Unmarshal([]byte(out), &x); err != nil || code != int(exitFound) || x.Decision != "deny" || x.Limit != "account" {
			t.Errorf("as JSON: %d, %v in %s", code, err, out)
		}
	}
	if code, out, _ = once(t, nil, "explain", "--url", s.api, "--account", "alice", "--ip", "203.0.113.7", "--route", "signup"); code != int(exitFound) ||
		!strings.Contains(out, "route signup") {
		t.Errorf("of another route: %d, %s", code, out)
	}

	code, out, errs = once(t, nil, "forget", "--url", s.api, "--account", "alice")
	if code != 0 || out != "the waits and charges of alice in the realm default are forgotten\n" || errs != "" {
		t.Errorf("forget: %d, %s%s", code, out, errs)
	}
	if code, out, _ = once(t, nil, about()...); code != 0 {
		t.Errorf("after forget: %d, %s", code, out)
	}
	for _, tt := range []struct{ args, want string }{
		{"--network carrier-a", "the charges of carrier-a in the realm default are forgotten\n"},
		{"--network 203.0.113.7/32 --json", `{"applied":true}` + "\n"},
		{"--account alice --scope credentials", "all that was known of alice in the realm default is forgotten; its device tokens are void\n"},
	} {
		code, out, errs = once(t, nil, append([]string{"forget", "--url", s.admin}, strings.Fields(tt.args)...)...)
		if code != 0 || out != tt.want || errs != "" {
			t.Errorf("forget %s: %d, %s%s", tt.args, code, out, errs)
		}
	}
	if code, out, _ = once(t, nil, about("--json")...); code != 0 || !strings.Contains(out, `"level":"pool","mode":"enforce","capacity":100,"remaining":100`) {
		t.Errorf("the pool keeps its charges: %d, %s", code, out)
	}
}

// A known device and a known network are told apart.
func TestExplainSaysByWhatTheAttemptIsTheAccountsOwn(t *testing.T) {
	s := start(t, "")
	_, _, body := post(t, http.DefaultClient, s.api+"/v1/check", "", check)
	var a struct{ Attempt, Device string }
	if err := json.Unmarshal([]byte(body), &a); err != nil {
		t.Fatal(err)
	}
	_, _, body = post(t, http.DefaultClient, s.api+"/v1/report", "", `{"attempt":"`+a.Attempt+`","outcome":"success","remember_device":true}`)
	if err := json.Unmarshal([]byte(body), &a); err != nil || a.Device == "" {
		t.Fatalf("%v: %s", err, body)
	}
	for _, tt := range []struct{ ip, device, want string }{
		{"198.51.100.9", a.Device, "familiar  yes: the attempt comes with a known device, guesses"},
		{"203.0.113.7", a.Device, "familiar  yes: the attempt comes with a known device, guesses"},
		{"203.0.113.7", "", "familiar  yes: the account has signed in from here, guesses"},
		{"198.51.100.9", "", "familiar  no: the account has not signed in from here"},
		{"198.51.100.9", "forged", "familiar  no: the account has not signed in from here"},
	} {
		code, out, errs := once(t, nil, "explain", "--url", s.api, "--account", "alice", "--ip", tt.ip, "--device", tt.device)
		if code != 0 || errs != "" || !strings.Contains(out, tt.want) {
			t.Errorf("from %s with device %q: %d, %s%s\nwant %s", tt.ip, tt.device, code, out, errs, tt.want)
		}
	}
}

// The headline names what a person has to know, whatever the service decides.
func TestHeadlines(t *testing.T) {
	limit := func(name, level, mode string, left, of, wait, strikes int64, denies bool) bucket {
		return bucket{Limit: name, Level: level, Mode: mode, Remaining: left, Capacity: of, RetryAfter: wait, Strikes: strikes, WouldDeny: denies}
	}
	for _, tt := range []struct {
		name string
		x    explanation
		want string
	}{
		{"a backoff", explanation{Decision: "deny", Limit: "account", RetryAfter: 900, Limits: []bucket{
			limit("account", "", "enforce", 0, 10, 830, 3, true)}},
			"denied by account: 0 of 10 left, 3 strikes, may try again in 14 min"},
		{"the level that denies longest", explanation{Decision: "deny", Limit: "network", RetryAfter: 60, Limits: []bucket{
			limit("network", "host", "enforce", 0, 30, 60, 0, true), limit("network", "subnet", "enforce", 0, 100, 90, 0, true),
			limit("network", "pool", "log_only", 0, 100, 500, 0, true)}},
			"denied by network subnet: 0 of 100 left, may try again in 90 s"},
		{"a challenge", explanation{Decision: "challenge", Limit: "global", Limits: []bucket{limit("global", "", "enforce", 0, 1000, 4, 0, true)}},
			"asked for a challenge by global: 0 of 1000 left, may try again in 4 s"},
		{"a limit that is not shown", explanation{Decision: "deny", Limit: "global"}, "denied by global"},
		{"no limit at all", explanation{Decision: "deny"}, "denied by the service"},
		{"the nearest limit", explanation{Decision: "allow", Limits: []bucket{
			limit("account", "", "enforce", 9, 10, 0, 0, false), limit("network", "host", "enforce", 15, 30, 0, 0, false),
			limit("global", "", "log_only", 0, 1000, 5, 0, true)}},
			"allowed: network host is nearest to its end, 15 of 30 left; denied if it were enforced by global"},
		{"nothing is charged", explanation{Decision: "allow"}, "allowed"},
	} {
		if got := tt.x.headline(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestRemediesAreCommands(t *testing.T) {
	var x explanation
	if err := json.Unmarshal([]byte(`{"decision":"deny","limit":"network","networks":[{"level":"host","network":"203.0.113.7/32"}],
		"limits":[{"limit":"network","level":"host","mode":"enforce","would_deny":true}]}`), &x); err != nil {
		t.Fatal(err)
	}
	if got := x.remedy(); got != "loginguard forget --network 203.0.113.7/32" {
		t.Errorf("of a network: %q", got)
	}
	x.Limit, x.Limits[0].Limit = "global", "global"
	if got := x.remedy(); got != "" {
		t.Errorf("of the global limit: %q", got)
	}
}

// Whatever a service says, the terminal shows text.
func TestExplanationsAreHarmless(t *testing.T) {
	x := explanation{Decision: "deny", Limit: "\x1b[2J", Client: "\x1b]0;x\a", Class: "a\nb", Limits: []bucket{{Limit: "a", Override: "x\ty\u202e"}}}
	var b bytes.Buffer
	if err := x.write(&b, question{Realm: "\x9b", Route: "r"}); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(b.String(), "\x1b\a\t\u202e\u009b") || strings.Contains(b.String(), "a\nb") {
		t.Errorf("printed %q", b.String())
	}
}

func TestDurationsAreNeverTooShort(t *testing.T) {
	got := map[int64]string{}
	want := map[int64]string{0: "0 s", 1: "1 s", 119: "119 s", 120: "2 min", 121: "3 min", 840: "14 min", 3540: "59 min", 3541: "1 h", 3600: "1 h", 3601: "1 h 1 min", 7200: "2 h"}
	for s := range want {
		got[s] = duration(s)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("durations (-want +got):\n%s", diff)
	}
}

func TestWrongQuestionsAreNotAsked(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"explain", "needs --ip"},
		{"explain --ip 192.0.2.1", "needs --account"},
		{"explain --ip 192.0.2.1 --account a now", "unknown command"},
		{"explain --ip 192.0.2.1 --account a --timeout 0s", "--timeout must be above 0"},
		{"forget", "one of --account and --network"},
		{"forget --account a --network b", "one of --account and --network"},
		{"forget --network 192.0.2.0/24 --scope limits", "--scope is for an account"},
		{"forget --account a --scope all", "must be limits or credentials"},
		{"forget --account a --url example.com", "must begin with http:// or https://"},
		{"forget --account a --url http://", "must begin with http:// or https:// and a host"},
		{"forget --account a --url http://x:lgk_secret@127.0.0.1", "use --key-file"},
		{"forget --account a --url http://127.0.0.1?key=lgk_secret", "must end before ?"},
		{"forget --account a --url http://%zz", "is no address"},
	} {
		code, out, errs := once(t, nil, strings.Fields(tt.args)...)
		if code != exitUsage || out != "" || !strings.Contains(errs, tt.want) || strings.Contains(errs, "lgk_secret") {
			t.Errorf("%s: %d, %s%s", tt.args, code, out, errs)
		}
	}
}
