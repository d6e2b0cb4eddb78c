package config

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func printed(t testing.TB, c *Config) string {
	t.Helper()
	var b bytes.Buffer
	if err := c.Print(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const everything = `
mode: log_only
support_url: "https://example.com/help?a=b#c"
server:
  api: {listen: "[::1]:0"}
  max_in_flight: 1
  shutdown_grace: 0s
  readiness: store
callers:
  - {name: "1", key_sha256: "` + key + `", realms: [shop, "2"], role: admin}
  - {name: "null", key_sha256: "` + key2 + `"}
client_address: {hops: 3, trusted_proxies: [10.0.0.0/8, "2001:db8::/32"], header: forwarded, nat64: ["64:ff9b::/96"]}
store: {timeout: 1.5s, on_failure: local, instances: 3, allow_eviction: true}
identity: {email: [{domain: gmail.com, drop_dots: true, aliases: [googlemail.com]}, {domain: example.com}]}
attempt_ttl: 1h
familiar: {remember: 36h30m, sources: 3}
routes: {a.b: {}, login: {cost: 2, account: none, on_failure: open}}
limits:
  account: {mode: "off", refill: 7/1h30m, backoff: {factor: 2.5}, on_exhausted: challenge}
  network: {host: {ipv4: 31, per_user: 0}}
networks:
  exempt: {cidrs: [192.0.2.1]}
  pools: [{name: a, cidrs: [198.51.100.0/24]}]
  hosting: {scale: 0.125}
overrides:
  - {limit: network, level: host, match: {network: 203.0.113.0/24, caller: "1"}, capacity: 99, refill: 99/1h, reason: "yes: a # reason", expires: 2099-01-31}
  - {limit: password, capacity: 30, reason: x, expires: "2099-01-31"}
log: {level: debug, format: text}
`

func TestPrintLoadsToTheSame(t *testing.T) {
	c := mustLoad(t, everything)
	for i := range c.Callers { // all but the secrets
		c.Callers[i].KeySHA256 = maskDigest(c.Callers[i].KeySHA256)
	}
	text := printed(t, c)
	again, warnings, err := loadText(t, text)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%v %q\n%s", err, warnings, text)
	}
	if diff := cmp.Diff(c, again, same); diff != "" {
		t.Errorf("(-before +after)\n%s", diff)
	}
	if twice := printed(t, again); twice != text {
		t.Error(cmp.Diff(text, twice))
	}
}

// The order of the keys is that of the documented file.
func TestPrintKeepsTheOrder(t *testing.T) {
	text, err := os.ReadFile(documented)
	if err != nil {
		t.Fatal(err)
	}
	top := func(s string) (keys []string) {
		for line := range strings.Lines(s) {
			if c := line[0]; c >= 'a' && c <= 'z' {
				keys = append(keys, line[:strings.Index(line, ":")])
			}
		}
		return keys
	}
	if diff := cmp.Diff(top(string(text)), top(printed(t, Default()))); diff != "" {
		t.Errorf("(-documented +printed)\n%s", diff)
	}
}

func TestPrintShowsNoSecret(t *testing.T) {
	c := mustLoad(t, "store: {url: \"redis://user:hunter2@h:1/0\"}\ncallers: [{name: a, key_sha256: \""+key+"\"}]\n",
		"LOGINGUARD_IDENTITY_SECRET=MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
	text := printed(t, c)
	for _, secret := range []string{"hunter2", key[8:20], "MDEyMzQ1"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s is shown:\n%s", secret, text)
		}
	}
	if !strings.Contains(text, "redis://user:xxxxx@h:1/0") || !strings.Contains(text, key[:8]) {
		t.Errorf("too much is hidden:\n%s", text)
	}
}

func TestMaskURL(t *testing.T) {
	for url, want := range map[string]string{
		"memory:":                              "memory:",
		"redis://h:6379/0":                     "redis://h:6379/0",
		"redis://:pw@h:6379/0":                 "redis://:xxxxx@h:6379/0",
		"redis://user:pw@h":                    "redis://user:xxxxx@h",
		"redis://pw@h":                         "redis://:xxxxx@h",
		"redis://u:p:w@[::1]:6379":             "redis://u:xxxxx@[::1]:6379",
		"redis://u:p@w@h:1":                    "redis://u:xxxxx@h:1",
		"redis://u:p/w@h:1":                    "redis://xxxxx",
		"redis://u:1/w@h:1":                    "redis://xxxxx",
		"redis://u:p?w@h:1":                    "redis://xxxxx",
		"redis://u:p#w@h:1":                    "redis://xxxxx",
		"unix:///run/redis.sock?db=1":          "unix:///run/redis.sock?db=1",
		"unix://u:pw@/run/redis.sock":          "unix://u:xxxxx@/run/redis.sock",
		"redis+cluster://u:pw@h1:1,h2:2":       "redis+cluster://u:xxxxx@h1:1,h2:2",
		"redis+cluster://h1:1,[2001:db8::1]:2": "redis+cluster://h1:1,[2001:db8::1]:2",
		"redis+sentinel://u:pw@h1:1,h2:2/m/0?sentinel_user=s&sentinel_password=pw2": "redis+sentinel://u:xxxxx@h1:1,h2:2/m/0?sentinel_user=s&sentinel_password=xxxxx",
		"redis://h/0?p%61ssword=pw&db=1":                                            "redis://h/0?p%61ssword=xxxxx&db=1",
		"redis://h/0?%zz=pw":                                                        "redis://h/0?%zz=xxxxx",
		"redis://h/0?password=a@b":                                                  "redis://xxxxx",
	} {
		if got := maskURL(url); got != want {
			t.Errorf("maskURL(%q) = %q, want %q", url, got, want)
		}
	}
}

func TestNewCaller(t *testing.T) {
	c, secret, err := NewCaller("idp", nil, "")
	if err != nil {
		t.Fatal(err)
	}
	line, err := c.Line()
	if err != nil {
		t.Fatal(err)
	}
	want := `- {name: idp, key_sha256: "` + c.KeySHA256 + `", realms: [default], role: check}`
	if line != want {
		t.Errorf("line %s, want %s", line, want)
	}
	if len(secret) != len("lgk_")+43 || !strings.HasPrefix(secret, "lgk_") {
		t.Errorf("key %q", secret)
	}
	if _, other, _ := NewCaller("idp", nil, ""); other == secret {
		t.Error("two keys are the same")
	}
	// Names that YAML would take for something else.
	c, _, err = NewCaller("1", []string{"2", "0x1", "null"}, "admin")
	if err != nil {
		t.Fatal(err)
	}
	c.KeySHA256 = strings.Repeat("1", 64)
	line, err = c.Line()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Caller{c}, mustLoad(t, "callers:\n  "+line+"\n").Callers); diff != "" {
		t.Errorf("%s\n%s", line, diff)
	}
	for _, bad := range []struct {
		name, realm, role, want string
	}{{"", "default", "", `"" is not a name`}, {"idp", "A", "", `"A" is not a name`}, {"idp", "a", "root", "the role must be check or admin"}} {
		if _, _, err := NewCaller(bad.name, []string{bad.realm}, bad.role); err == nil || !strings.HasPrefix(err.Error(), bad.want) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

func TestNearest(t *testing.T) {
	for word, want := range map[string]string{
		"capcity": "capacity", "Capacity": "capacity", "on-exhausted": "on_exhausted", "reffil": "refill", "modes": "mode", "moed": "mode",
		"burst": "", "x": "", "": "", "backof": "backoff", "limit": "", strings.Repeat("capacity", 20): "",
	} {
		if got := nearest(word, []string{"mode", "capacity", "refill", "on_exhausted", "backoff"}); got != want {
			t.Errorf("nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

// FuzzLoad looks for files that make the loader panic, and for accepted ones
// that mean something else after they were printed.
func FuzzLoad(f *testing.F) {
	f.Add(everything)
	if text, err := os.ReadFile(documented); err == nil {
		f.Add(string(text))
	}
	files, _ := filepath.Glob("testdata/mistakes/*.yaml")
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil {
			f.Add(string(text))
		}
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "file") || strings.Contains(text, "cert") || strings.Contains(text, "_ca") {
			return // no file of this machine is to be read
		}
		file := filepath.Join(dir, "fuzz.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, _, err := Load(file, nil, nil)
		if (c == nil) == (err == nil) {
			t.Fatalf("config %v, error %v", c, err)
		}
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without words")
			}
			return
		}
		for i := range c.Callers {
			c.Callers[i].KeySHA256 = maskDigest(c.Callers[i].KeySHA256)
		}
		c.Events.Webhook.URL, c.Events.Webhook.Secret = "", "" // what is hidden of these does not load
		out := printed(t, c)
		if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
		again, _, err := Load(file, nil, nil)
		if err != nil {
			t.Fatalf("%v\nread %q\nprinted\n%s", err, text, out)
		}
		if diff := cmp.Diff(c, again, same); diff != "" {
			t.Fatalf("(-read +printed)\n%s", diff)
		}
	})
}
