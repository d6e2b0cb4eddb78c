package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loginguard/policy"
)

// same compares what was configured, without the secrets.
var same = cmpopts.IgnoreUnexported(Config{})

// Two digests of keys.
const (
	key  = "0" + rest
	key2 = "f" + rest
	rest = "123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

func TestNothingGivesTheDefaults(t *testing.T) {
	got := mustLoad(t, "")
	if diff := cmp.Diff(Default(), got, same, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-default +loaded)\n%s", diff)
	}
	// A few by hand, since both sides come from the same code.
	if got.Server.API.Listen != "127.0.0.1:8080" || got.Server.Admin.Listen != "127.0.0.1:8081" || got.Server.MaxInFlight != 2048 ||
		got.Store.Timeout != 50*time.Millisecond || got.AttemptTTL != 2*time.Minute || got.Familiar.Remember != 720*time.Hour ||
		got.Device.TTL != 2160*time.Hour || got.Limits.Account.Refill != (policy.Rate{Tokens: 10, Per: 6 * time.Hour}) ||
		got.Limits.Global.Shards != 8 || got.Limits.Network.Site.IPv6 != 56 || got.Networks.Hosting.Scale != 0.25 ||
		got.Routes["signup"] != (Route{Cost: 5, Success: "none"}) || !got.Front.PassThrough {
		t.Errorf("got %+v", got)
	}
}

func TestMapsAreLaidOverTheDefaults(t *testing.T) {
	c := mustLoad(t, "routes:\n  sso: {cost: 2, success: full}\n  login: {cost: 3}\nlimits: {account: {backoff: {base: 45s}}}\nstore: {}\n")
	want := map[string]Route{
		"login": {Cost: 3, Success: "full"}, "signup": {Cost: 5, Success: "none"}, "password_reset": {Cost: 3, Success: "none"},
		"mfa": {Cost: 1, Success: "full"}, "sso": {Cost: 2, Success: "full"},
	}
	if diff := cmp.Diff(want, c.Routes); diff != "" {
		t.Error(diff)
	}
	if got, want := c.Limits.Account.Backoff, (Backoff{45 * time.Second, 2, time.Hour, 6 * time.Hour}); got != want {
		t.Errorf("backoff %+v, want %+v", got, want)
	}
	if c.Limits.Account.Capacity != 10 || c.Store.URL != "memory:" {
		t.Errorf("neighbours changed: %+v, %+v", c.Limits.Account, c.Store)
	}
}

func TestAnAddedRouteProvesNothingUnlessItSaysSo(t *testing.T) {
	c := mustLoad(t, "routes: {sso: {}, magic: {on_failure: open, account: none}}\n")
	if got, want := c.Routes["sso"], (Route{Cost: 1, Success: "none"}); got != want {
		t.Errorf("sso is %+v, want %+v", got, want)
	}
	if got, want := c.Routes["magic"], (Route{Cost: 1, Success: "none", Account: "none", OnFailure: "open"}); got != want {
		t.Errorf("magic is %+v, want %+v", got, want)
	}
}

// viper would split this name at its dots into maps within maps.
func TestNamesMayContainDots(t *testing.T) {
	c := mustLoad(t, "routes:\n  api.v2.login: {cost: 2}\n  login.cost: {cost: 4}\nidentity: {email: [{domain: mail.example.com, drop_plus: true}]}\n",
		"LOGINGUARD_ROUTES_API_V2_LOGIN_SUCCESS=full")
	if got, want := c.Routes["api.v2.login"], (Route{Cost: 2, Success: "full"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if c.Routes["login.cost"].Cost != 4 || c.Routes["login"].Cost != 1 {
		t.Errorf("login.cost and login are mixed up: %+v", c.Routes)
	}
}

// Decoding a shorter list into a longer one would leave elements of the latter.
func TestAListReplacesTheListBelow(t *testing.T) {
	const file = "callers:\n  - {name: a, key_sha256: \"" + key + "\", realms: [x, y, z], role: admin}\n" +
		"  - {name: b, key_sha256: \"" + key2 + "\"}\n" +
		"client_address: {trusted_proxies: [192.0.2.1, 192.0.2.2, 2001:db8::1]}\n"
	c := mustLoad(t, file, "LOGINGUARD_CLIENT_ADDRESS_TRUSTED_PROXIES=198.51.100.1")
	if got := c.ClientAddress.TrustedProxies; !slices.Equal(got, []string{"198.51.100.1"}) {
		t.Errorf("trusted proxies are %q", got)
	}
	want := []Caller{{"a", key, []string{"x", "y", "z"}, "admin"}, {"b", key2, []string{"default"}, "check"}}
	if diff := cmp.Diff(want, c.Callers); diff != "" {
		t.Error(diff)
	}
	if c = mustLoad(t, file, "LOGINGUARD_CLIENT_ADDRESS_TRUSTED_PROXIES="); len(c.ClientAddress.TrustedProxies) != 0 {
		t.Errorf("the empty list left %q", c.ClientAddress.TrustedProxies)
	}
}

func TestEnvironmentWinsOverFileAndFlagsOverBoth(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte("log: {level: warn}\nserver: {max_in_flight: 5}\nstore: {timeout: 70ms}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _, err := Load(file, []string{"LOGINGUARD_LOG_LEVEL=error", "LOGINGUARD_STORE_TIMEOUT=1s"},
		[]Setting{{"--log-level", "log.level", "debug"}})
	if err != nil {
		t.Fatal(err)
	}
	if c.Log.Level != "debug" || c.Store.Timeout != time.Second || c.Server.MaxInFlight != 5 {
		t.Errorf("got %q, %s, %d", c.Log.Level, c.Store.Timeout, c.Server.MaxInFlight)
	}
	_, _, err = Load(file, nil, []Setting{{"--log-level", "log.level", "loud"}, {"--nonsense", "log.nonsense", "x"}})
	const want = "--log-level: log.level: must be debug, info, warn or error, not \"loud\"\n--nonsense: log.nonsense: is no key of the configuration"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Every scalar and every list of scalars has a variable, with or without a
// default, whether or not the file names it.
func TestEveryScalarHasAVariable(t *testing.T) {
	values := map[kind]string{boolKind: "true", intKind: "7", floatKind: "0.5", durationKind: "90s", rateKind: "7/1h", textKind: "text"}
	defaults, _ := schema.zero().(map[string]any)
	defaults["routes"] = map[string]any{"login": map[string]any{}}
	targets := schema.targets(defaults, nil)
	if len(targets) < 100 {
		t.Fatalf("only %d keys can be set", len(targets))
	}
	for _, target := range targets {
		n := target.node
		text := values[n.kind]
		if n.kind == listKind {
			text = "a, b"
		}
		if n.oneof != nil {
			text = n.oneof[len(n.oneof)-1]
		}
		r := newReport("x")
		tree := r.environment([]string{envName(target.elems) + "=" + text}, targets)
		if len(r.warnings) > 0 || len(r.mistakes) > 0 && !strings.Contains(r.mistakes[0].Msg, "must be 5ms to") {
			t.Errorf("%s: %v %v", envName(target.elems), r.warnings, r.mistakes)
		}
		if len(tree) != 1 && len(r.mistakes) == 0 {
			t.Errorf("%s sets %v", envName(target.elems), tree)
		}
	}
	for _, name := range []string{"LOGINGUARD_STORE_URL", "LOGINGUARD_SERVER_API_LISTEN", "LOGINGUARD_LIMITS_ACCOUNT_CAPACITY",
		"LOGINGUARD_CLIENT_ADDRESS_TRUSTED_PROXIES", "LOGINGUARD_LIMITS_NETWORK_HOST_PER_USER", "LOGINGUARD_ROUTES_LOGIN_ON_FAILURE"} {
		if !slices.ContainsFunc(targets, func(t target) bool { return envName(t.elems) == name }) {
			t.Errorf("there is no %s", name)
		}
	}
}

func TestUnknownVariablesAreWarnedAbout(t *testing.T) {
	c, warnings, err := loadText(t, "mode: enforce\n", "LOGINGUARD_SERVICE_HOST=10.0.0.1", "LOGINGUARD_PORT_8080_TCP=tcp://10.0.0.1:8080",
		"LOGINGUARD_STORE_ULR=memory:", "PATH=/bin", "loginguard_mode=off", "LOGINGUARD_MODE=log_only", "LOGINGUARD_MODE=off")
	if err != nil {
		t.Fatal(err)
	}
	if c.Mode != "log_only" {
		t.Errorf("of two variables of one name the second counts: mode %s", c.Mode)
	}
	want := []string{
		"LOGINGUARD_PORT_8080_TCP: unknown variable, ignored",
		"LOGINGUARD_SERVICE_HOST: unknown variable, ignored",
		"LOGINGUARD_STORE_ULR: unknown variable, ignored (did you mean LOGINGUARD_STORE_URL?)",
	}
	if diff := cmp.Diff(want, warnings); diff != "" {
		t.Error(diff)
	}
}

// viper's watching writes into the instance that is being read.
func TestLoadsShareNothing(t *testing.T) {
	text := "routes: {sso: {cost: 2}}\nnetworks: {exempt: {cidrs: [192.0.2.1]}}\n"
	a, b := mustLoad(t, text), mustLoad(t, text)
	a.Routes["sso"] = Route{Cost: 9}
	a.Routes["login"] = Route{Cost: 9}
	a.Networks.Exempt.CIDRs[0] = "198.51.100.1"
	if b.Routes["sso"].Cost != 2 || b.Routes["login"].Cost != 1 || b.Networks.Exempt.CIDRs[0] != "192.0.2.1" {
		t.Errorf("a change of one is seen in the other: %+v", b)
	}
	if c := mustLoad(t, ""); c.Routes["login"].Cost != 1 || len(c.Routes) != 4 {
		t.Errorf("a change of one is seen in the defaults: %+v", c.Routes)
	}
}

func TestRatesAndDurations(t *testing.T) {
	c := mustLoad(t, "limits:\n  global: {refill: 20/s, capacity: 100}\n  password: {refill: 90/90m}\nstore: {timeout: 5ms}\n"+
		"overrides: [{limit: password, refill: 3/s, reason: x}]\n")
	if got, want := c.Limits.Global.Refill, (policy.Rate{Tokens: 20, Per: time.Second}); got != want {
		t.Errorf("20/s is %v, want %v", got, want)
	}
	if got, want := c.Overrides[0].Refill, (policy.Rate{Tokens: 3, Per: time.Second}); got != want {
		t.Errorf("3/s in a list is %v, want %v", got, want)
	}
}

func TestRedisNeedsASecret(t *testing.T) {
	const url, secret = "store: {url: \"redis://127.0.0.1\"}\n", "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	c := mustLoad(t, url, "LOGINGUARD_IDENTITY_SECRET="+secret)
	ring, random := c.Ring()
	if random || ring.Account("default", "alice") != ringOf(t, secret).Account("default", "alice") {
		t.Error("the secret is not used")
	}
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c = mustLoad(t, url, "LOGINGUARD_IDENTITY_SECRET_FILE="+file)
	fromFile, random := c.Ring()
	if random || fromFile.Account("default", "alice") != ring.Account("default", "alice") {
		t.Error("the secret in the file is not used")
	}
	if _, random = mustLoad(t, "").Ring(); !random {
		t.Error("without a secret the ring is not random")
	}
}

func TestStoreURLIsParsedByTheStore(t *testing.T) {
	_, _, err := loadText(t, "store: {url: \"redis+sentinel://a:1,b:2/\"}\n", "LOGINGUARD_IDENTITY_SECRET=MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
	if err == nil || !strings.Contains(err.Error(), ":1: store.url: lacks the master's name") {
		t.Errorf("got %v", err)
	}
}

// What viper is asked to do must not depend on what was checked before: it
// converts nothing and drops nothing.
func TestMergeConvertsNothing(t *testing.T) {
	for name, layer := range map[string]map[string]any{
		"number as text":        {"server": map[string]any{"max_in_flight": "10"}},
		"number for a duration": {"attempt_ttl": "60"},
		"duration as text":      {"attempt_ttl": "60s"},
		"text for a list":       {"client_address": map[string]any{"nat64": "a,b"}},
		"boolean as number":     {"forward_auth": map[string]any{"reports": int64(1)}},
		"unknown key":           {"mod": "enforce"},
		"unknown key in a list": {"callers": []any{map[string]any{"nam": "a"}}},
		"key in other case":     {"callers": []any{map[string]any{"Name": "a", "name ": "b"}}},
		"list over map":         {"store": []any{"a"}},
	} {
		if c, err := merge(layer); err == nil {
			t.Errorf("%s: accepted as %+v", name, c)
		}
	}
	below := map[string]any{"client_address": map[string]any{"nat64": []any{"a", "b", "c"}, "hops": int64(1)}}
	c, err := merge(below, map[string]any{"client_address": map[string]any{"nat64": []any{"d"}}})
	if err != nil || !slices.Equal(c.ClientAddress.NAT64, []string{"d"}) || c.ClientAddress.Hops != 1 {
		t.Errorf("%v, %v", c, err)
	}
}
