package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"loginguard/cmd/loginguard/config"
	"loginguard/guard"
)

// reloading is a service whose configuration a test changes.
type reloading struct {
	*running
	t    *testing.T
	file string
}

func startReloading(t *testing.T, config string, environ ...string) *reloading {
	t.Helper()
	file := write(t, "config.yaml", config)
	return &reloading{startFile(t, file, environ...), t, file}
}

// put replaces the configuration in one step.
func (r *reloading) put(config string) {
	r.t.Helper()
	next := r.file + ".next"
	if err := os.WriteFile(next, []byte(config), 0o600); err != nil {
		r.t.Fatal(err)
	}
	if err := os.Rename(next, r.file); err != nil {
		r.t.Fatal(err)
	}
}

// logged waits until the log has so many lines with a text, and returns the
// last of them.
func (r *reloading) logged(n int, text string) string {
	r.t.Helper()
	for end := time.Now().Add(patience); ; {
		var found []string
		for line := range strings.Lines(r.log.String()) {
			if strings.Contains(line, text) {
				found = append(found, line)
			}
		}
		if len(found) > n {
			r.t.Fatalf("%q is logged %d times, want %d: %s", text, len(found), n, r.log)
		}
		if len(found) == n {
			return strings.Join(found[max(0, n-1):], "")
		}
		if time.Now().After(end) {
			r.t.Fatalf("%q is logged %d times, want %d: %s", text, len(found), n, r.log)
		}
		<-time.After(5 * time.Millisecond)
	}
}

const (
	reloadedLine = "the configuration was reloaded"
	refusedLine  = "the new configuration is refused"
)

// metric returns the value of a metric without labels, as it is written.
func (r *reloading) metric(name string) string {
	r.t.Helper()
	m := regexp.MustCompile(`(?m)^loginguard_` + name + ` (\S+)$`).FindStringSubmatch(r.get(r.admin + "/metrics"))
	if m == nil {
		r.t.Fatalf("there is no metric %s", name)
	}
	return m[1]
}

func (r *reloading) get(url string) string {
	r.t.Helper()
	res, err := http.Get(url)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

// capacity returns the capacity of the account limit that is in force.
func (r *reloading) capacity() string {
	r.t.Helper()
	m := regexp.MustCompile(`"name":"account"[^}]*"capacity":(\d+)`).FindStringSubmatch(r.get(r.api + "/v1/limits"))
	if m == nil {
		r.t.Fatal("no limit of accounts is published")
	}
	return m[1]
}

func (r *reloading) want(capacity, successful string) {
	r.t.Helper()
	if got := r.capacity(); got != capacity {
		r.t.Errorf("the capacity is %s, want %s", got, capacity)
	}
	if got := r.metric("config_last_reload_successful"); got != successful {
		r.t.Errorf("config_last_reload_successful is %s, want %s", got, successful)
	}
}

func capacity(n int) string { return fmt.Sprintf("limits: {account: {capacity: %d}}\n", n) }

func TestChangedFileIsInForceAfterOneReload(t *testing.T) {
	s := startReloading(t, capacity(12))
	before := s.metric("config_hash")
	s.put(capacity(13))
	line := s.logged(1, reloadedLine)
	s.want("13", "1")
	after := s.metric("config_hash")
	if before == after || before == "0" {
		t.Errorf("config_hash is %s, and was %s", after, before)
	}
	for _, want := range []string{`"changed":["limits"]`, `"cause":"file changed"`} {
		if !strings.Contains(line, want) {
			t.Errorf("the log lacks %s: %s", want, line)
		}
	}
	s.put(capacity(12))
	s.logged(2, reloadedLine)
	if got := s.metric("config_hash"); got != before {
		t.Errorf("config_hash is %s with the first configuration again, and was %s", got, before)
	}
}

// A file that cannot be used leaves the old policy in force, and log and metric
// say so; the next good one is taken.
func TestRefusedConfigurationLeavesTheOldInForce(t *testing.T) {
	list := write(t, "hosting.txt", "198.51.100.0/24\n")
	good := capacity(12) + "networks: {hosting: {files: [" + list + "]}}\n"
	s := startReloading(t, good)
	n := 0
	for _, tt := range []struct{ name, text, want string }{
		{"no YAML", "limits: {account: {capacity: 13}\n", "is not YAML"},
		{"unknown key", "limits: {acount: {capacity: 13}}\n", "did you mean account?"},
		{"duplicate key", "limits: {account: {capacity: 13}}\nlimits: {host: {capacity: 13}}\n", "is already set in line 1"},
		{"value out of range", capacity(0), "limits.account.capacity"},
		{"duration without a unit", capacity(13) + "attempt_ttl: 300\n", "attempt_ttl"},
		{"cost above a capacity", capacity(13) + "routes: {login: {cost: 900}}\n", "routes.login.cost"},
		{"second document", capacity(13) + "---\n" + capacity(14), "a second YAML document begins here"},
		{"list that is not there", capacity(13) + "networks: {hosting: {files: [/nonexistent]}}\n", "no such file"},
		{"empty", "", "is missing or has no keys"},
		{"comments only", "# later\n", "is missing or has no keys"},
		{"control characters", "\"\u202e\x1b\": 1\n", "config.yaml"},
		{"a secret in the wrong place", capacity(13) + "callers: [{name: a, key_sha256: hunter2hunter2}]\n", "callers[0].key_sha256"},
	} {
		s.put(tt.text)
		n++
		line := s.logged(n, refusedLine)
		if !strings.Contains(line, strings.ReplaceAll(tt.want, `"`, `\"`)) || !strings.Contains(line, "config.yaml") {
			t.Errorf("%s: the log lacks %q: %s", tt.name, tt.want, line)
		}
		if strings.ContainsAny(line, "\x1b\u202e") || strings.Contains(line, "hunter2") {
			t.Errorf("%s: the log shows what it must not: %q", tt.name, line)
		}
		s.want("12", "0")
	}
	when := s.metric("config_last_reload_success_timestamp_seconds")
	s.put(good + "mode: enforce\n")
	s.logged(1, reloadedLine)
	s.want("12", "1")
	if got := s.metric("config_last_reload_success_timestamp_seconds"); got == when {
		t.Error("the time of the last success is still that of the start")
	}
}

func TestVanishedFileLeavesTheOldInForce(t *testing.T) {
	s := startReloading(t, capacity(12))
	if err := os.Remove(s.file); err != nil {
		t.Fatal(err)
	}
	s.logged(1, refusedLine)
	s.want("12", "0")
	s.put(capacity(12))
	s.logged(1, reloadedLine)
	s.want("12", "1")
}

// A pipe in the place of the file is refused: to wait for somebody who writes
// into it would end all reloads, and keep the service from stopping.
func TestPipeInPlaceOfTheFileIsRefused(t *testing.T) {
	s := startReloading(t, capacity(12))
	next := s.file + ".next"
	if err := syscall.Mkfifo(next, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, s.file); err != nil {
		t.Fatal(err)
	}
	line := s.logged(1, refusedLine)
	if !strings.Contains(line, "is a pipe into which nobody writes") {
		t.Errorf("the log does not say why: %s", line)
	}
	s.want("12", "0")
	s.put(capacity(13))
	s.logged(1, reloadedLine)
	s.want("13", "1")
}

// The default file need not be there; once it was, its absence means nothing.
func TestDefaultFileMayAppearAndNotVanish(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	s := &reloading{startArgs(t, nil), t, filepath.Join(dir, "config.yaml")}
	s.want("10", "1")
	hangup(t)
	s.logged(1, reloadedLine)
	s.put(capacity(12))
	s.logged(2, reloadedLine)
	s.want("12", "1")
	if err := os.Remove(s.file); err != nil {
		t.Fatal(err)
	}
	s.logged(1, refusedLine)
	s.want("12", "0")
}

func hangup(t *testing.T) {
	t.Helper()
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
}

func TestHangupReloadsAnUnchangedFile(t *testing.T) {
	s := startReloading(t, "") // empty at the start, and so it may stay
	when := s.metric("config_last_reload_success_timestamp_seconds")
	hangup(t)
	line := s.logged(1, reloadedLine)
	s.want("10", "1")
	if !strings.Contains(line, `"changed":[]`) || !strings.Contains(line, `"cause":"SIGHUP"`) {
		t.Errorf("logged %s", line)
	}
	if got := s.metric("config_last_reload_success_timestamp_seconds"); got == when {
		t.Error("the time of the last success is still that of the start")
	}
}

func TestChangedListIsInForceAndABadLineIsNamed(t *testing.T) {
	list := write(t, "exempt.txt", "198.51.100.0/24\n")
	s := startReloading(t, "networks: {exempt: {files: ["+list+"]}}\n")
	class := func() string {
		_, _, body := post(t, http.DefaultClient, s.api+"/v1/explain", "", `{"account":"alice","ip":"203.0.113.7"}`)
		return regexp.MustCompile(`"class":"(\w+)"`).FindString(body)
	}
	before := s.metric("config_hash")
	for _, tt := range []struct{ text, class, ok string }{
		{"198.51.100.0/24\n203.0.113.0/24\n", `"class":"exempt"`, "1"},
		{"198.51.100.0/24\n203.0.113/24\n", `"class":"exempt"`, "0"},
		{"198.51.100.0/24\n", `"class":"none"`, "1"},
	} {
		if err := os.WriteFile(list, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if tt.ok == "0" {
			if line := s.logged(1, refusedLine); !strings.Contains(line, "exempt.txt:2: ") {
				t.Errorf("the log names no line: %s", line)
			}
		} else {
			line := s.logged(1+strings.Count(s.log.String(), reloadedLine), reloadedLine)
			if !strings.Contains(line, `"changed":["networks"],"lists":["`+list+`"]`) {
				t.Errorf("the log does not say what changed: %s", line)
			}
		}
		if got := class(); got != tt.class {
			t.Errorf("with %q the address is %s, want %s", tt.text, got, tt.class)
		}
		if got := s.metric("config_last_reload_successful"); got != tt.ok {
			t.Errorf("with %q config_last_reload_successful is %s, want %s", tt.text, got, tt.ok)
		}
	}
	if got := s.metric("config_hash"); got != before {
		t.Errorf("config_hash is %s with the first list again, and was %s", got, before)
	}
}

func TestWhatCannotChangeIsNamedAndTheRestTakesEffect(t *testing.T) {
	secret := write(t, "secret", strings.Repeat("QUFB", 11))
	s := startReloading(t, capacity(12), "LOGINGUARD_IDENTITY_SECRET_FILE="+secret)
	if err := os.WriteFile(secret, []byte(strings.Repeat("QkJC", 11)), 0o600); err != nil {
		t.Fatal(err)
	}
	s.put(capacity(13) + `
store: {timeout: 70ms, url: "redis://:hunter2@127.0.0.1:1/0"}
server: {max_in_flight: 3, readiness: store, front: {listen: "127.0.0.1:0"}}
front: {upstream: "http://127.0.0.1:1"}
log: {format: text}
`)
	s.logged(1, reloadedLine)
	s.want("13", "1")
	line := s.logged(1, "cannot change while the service runs")
	want := `"keys":["server.front.listen","server.max_in_flight","server.readiness","store.url","store.timeout","log.format","LOGINGUARD_IDENTITY_SECRET_FILE"]`
	if !strings.Contains(line, want) {
		t.Errorf("the log names other keys than %s: %s", want, line)
	}
	if strings.Contains(s.log.String(), "hunter2") {
		t.Error("the log shows a password")
	}
}

// The loopback service without keys must not stay open to the network, and not
// become so.
func TestCallersComeAndGoAsTheListenerAllows(t *testing.T) {
	caller, key, err := config.NewCaller("idp", nil, "")
	if err != nil {
		t.Fatal(err)
	}
	line, err := caller.Line()
	if err != nil {
		t.Fatal(err)
	}
	s := startReloading(t, capacity(12))
	status := func(key string) int {
		code, _, _ := post(t, http.DefaultClient, s.api+"/v1/check", key, check)
		return code
	}
	if got := status(""); got != 200 {
		t.Fatalf("without a key: %d", got)
	}
	s.put("callers:\n  " + line + "\n")
	s.logged(1, reloadedLine)
	if a, b := status(""), status(key); a != 401 || b != 200 {
		t.Errorf("without a key: %d, with it: %d", a, b)
	}
	s.put(capacity(12))
	s.logged(2, reloadedLine)
	if got := status(""); got != 200 {
		t.Errorf("without callers: %d", got)
	}
}

func TestLogLevelChanges(t *testing.T) {
	s := startReloading(t, "log: {level: info}\n")
	ask := func() { post(t, http.DefaultClient, s.api+"/v1/check", "", check) }
	const line = `"message":"/v1/check"`
	ask()
	s.logged(0, line)
	s.put("log: {level: debug}\n")
	s.logged(1, reloadedLine)
	ask()
	s.logged(1, line)
	s.put("log: {level: info}\n")
	s.logged(2, reloadedLine)
	ask()
	s.logged(1, line)
}

func TestFrontIsReloadedAndCannotBeTakenAway(t *testing.T) {
	var upstreams [2]string
	for i := range upstreams {
		u := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, "upstream %d", i) }))
		t.Cleanup(u.Close)
		upstreams[i] = u.URL
	}
	of := func(i int) string {
		return `server: {front: {listen: "127.0.0.1:0"}}
front: {upstream: "` + upstreams[i] + `"}
`
	}
	s := startReloading(t, of(0))
	if got := s.get(s.front + "/"); got != "upstream 0" {
		t.Fatalf("answered %q", got)
	}
	s.put(of(1))
	s.logged(1, reloadedLine)
	if got := s.get(s.front + "/"); got != "upstream 1" {
		t.Errorf("after the reload %q answered", got)
	}
	s.put(capacity(12))
	s.logged(2, reloadedLine)
	s.want("12", "1")
	if got := s.get(s.front + "/"); got != "upstream 1" {
		t.Errorf("with a front that cannot be taken away %q answered", got)
	}
	if line := s.logged(1, "cannot change while the service runs"); !strings.Contains(line, "server.front.listen") {
		t.Errorf("the log does not name the listener: %s", line)
	}
}

func TestOverrideExpiresWithItsDay(t *testing.T) {
	file := write(t, "config.yaml", `
overrides:
  - {limit: account, capacity: 20, reason: the exam week, expires: 2030-01-31}
  - {limit: network, level: host, capacity: 90, reason: the fair, expires: 2030-02-01}
`)
	out := new(lockedBuffer)
	p := &program{stdout: io.Discard, stderr: out, configFile: file}
	c, _, err := p.load()
	if err != nil {
		t.Fatal(err)
	}
	s, err := newService(t.Context(), c, zerolog.New(out))
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	r := newReloader(p, s, &listeners{}, nil, c, nil)
	capacity := func() int64 {
		e, err := s.guard.Explain(t.Context(), guard.Caller{Realms: []string{"default"}, Admin: true}, guard.Request{Account: "alice", IP: "203.0.113.7"})
		if err != nil {
			t.Fatal(err)
		}
		return e.Limits[0].Capacity
	}
	// From here on, the file is of no use.
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		now      string
		capacity int64
		events   int
		pause    time.Duration
	}{
		{"2030-01-31T23:59:30Z", 20, 0, 30 * time.Second},
		{"2030-01-31T23:59:59.9Z", 20, 0, time.Second},
		{"2030-02-01T00:00:00Z", 10, 1, time.Minute},
		{"2030-02-01T12:00:00Z", 10, 1, time.Minute},
		{"2030-05-01T00:00:00Z", 10, 2, time.Minute},
	} {
		now, err := time.Parse(time.RFC3339, tt.now)
		if err != nil {
			t.Fatal(err)
		}
		r.now = func() time.Time { return now }
		r.expire()
		if got := capacity(); got != tt.capacity {
			t.Errorf("at %s the capacity is %d, want %d", tt.now, got, tt.capacity)
		}
		if got := strings.Count(out.String(), `"event":"override_expired"`); got != tt.events {
			t.Errorf("at %s %d events, want %d: %s", tt.now, got, tt.events, out)
		}
		if got := r.pause(); got != tt.pause {
			t.Errorf("at %s it waits %s, want %s", tt.now, got, tt.pause)
		}
	}
	if !strings.Contains(out.String(), `"reason":"the exam week","expires":"2030-01-31"`) {
		t.Errorf("the log does not say which: %s", out)
	}
}
