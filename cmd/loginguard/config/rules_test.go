package config

import (
	"encoding/base64"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loginguard/keys"
	"loginguard/netprefix"
	"loginguard/policy"
)

func ringOf(t *testing.T, secret string) *keys.Ring {
	t.Helper()
	r, err := keys.ParseRing(secret)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What the file says arrives in each of the parts that decide.
func TestRulesFollowTheConfiguration(t *testing.T) {
	c := mustLoad(t, `
callers:
  - {name: idp, key_sha256: "`+key+`", realms: [shop]}
client_address: {hops: 2, trusted_proxies: [10.0.0.0/8, "2001:db8::/32"], header: forwarded}
identity: {email: [{domain: gmail.com, drop_dots: true}]}
familiar: {remember: 48h}
routes: {sso: {cost: 7, success: refund, account: none, on_failure: local}}
limits: {network: {subnet: {ipv4: 20}}, account: {capacity: 12}, global: {shards: 3}}
networks:
  pools: [{name: carrier, cidrs: [192.0.2.0/24]}]
  hosting: {cidrs: [198.51.100.0/24]}
`)
	ring := ringOf(t, base64.StdEncoding.EncodeToString(make([]byte, 32)))
	rules, err := c.Rules(ring, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if rules.Clients.Hops() != 2 || rules.Clients.Header() != "forwarded" {
		t.Errorf("clients: %d hops over %s", rules.Clients.Hops(), rules.Clients.Header())
	}
	if got := rules.Names.Canonical("a.b@gmail.com"); got != "ab@gmail.com" {
		t.Errorf("canonical name is %q", got)
	}
	if class, networks := rules.Networks.Classify(netip.MustParseAddr("192.0.2.5")); class != netprefix.InPool || networks[1].Name != "carrier" {
		t.Errorf("pool: %v %v", class, networks)
	}
	if class, networks := rules.Networks.Classify(netip.MustParseAddr("198.51.100.5")); class != netprefix.Hosting || networks[1].Name != "198.51.96.0/20" {
		t.Errorf("hosting: %v %v", class, networks)
	}
	route, ok := rules.Policy.Route("sso")
	if !ok || route.Cost != 7 || route.Success != "refund" || !route.NoAccount || route.OnFailure != "local" {
		t.Errorf("route: %+v", route)
	}
	if got := rules.Policy.Realms(); !slices.Equal(got, []string{"default", "shop"}) {
		t.Errorf("realms: %q", got)
	}
	for _, l := range rules.Policy.Published() {
		if l.Name == "account" && l.Capacity != 12 {
			t.Errorf("account: %+v", l)
		}
	}
}

// The policy that the defaults of the file come to is the policy's own default.
func TestDefaultsMakeTheDefaultPolicy(t *testing.T) {
	want := policy.Defaults()
	for _, l := range []*policy.Limit{&want.Limits.Account, &want.Limits.Device, &want.Limits.Familiar, &want.Limits.Host, &want.Limits.Site,
		&want.Limits.Subnet, &want.Limits.Pool, &want.Limits.Global, &want.Limits.Password, &want.Limits.Repeat, &want.Limits.Challenged} {
		l.Mode, l.OnExhausted = "enforce", "deny" // which empty means
	}
	got := mustLoad(t, "").policy(keys.RandomRing(), nil, time.Time{})
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(policy.Config{}, "HashAccount")); diff != "" {
		t.Errorf("(-policy +configuration)\n%s", diff)
	}
}

func TestPolicyFollowsTheConfiguration(t *testing.T) {
	c := mustLoad(t, everything)
	got := c.policy(keys.RandomRing(), nil, time.Unix(1, 0))
	if got.Mode != "log_only" || got.AttemptTTL != time.Hour || got.Remember != 36*time.Hour+30*time.Minute || got.Sources != 3 ||
		got.Instances != 3 || got.HostingScale != 0.125 || got.SupportURL != c.SupportURL || got.Shards || !got.Now.Equal(time.Unix(1, 0)) {
		t.Errorf("%+v", got)
	}
	l := got.Limits.Account
	if l.Mode != "off" || l.OnExhausted != "challenge" || l.Refill != (policy.Rate{Tokens: 7, Per: 90 * time.Minute}) || l.Backoff.Factor != 2.5 {
		t.Errorf("%+v", l)
	}
	want := policy.Override{Limit: "network", Level: "host", Match: policy.Match{Network: "203.0.113.0/24", Caller: "1"}, Capacity: 99,
		Refill: policy.Rate{Tokens: 99, Per: time.Hour}, Reason: "yes: a # reason", Expires: "2099-01-31"}
	if diff := cmp.Diff(want, got.Overrides[0]); diff != "" {
		t.Error(diff)
	}
	c.Store.URL = "rediss+cluster://a:1,b:2"
	if !c.policy(keys.RandomRing(), nil, time.Time{}).Shards {
		t.Error("a cluster does not split the global limit")
	}
	ring := keys.RandomRing()
	names, err := keys.NewCanonicaliser(nil)
	if err != nil {
		t.Fatal(err)
	}
	hash := c.policy(ring, names, time.Time{}).HashAccount
	if hash("shop", " Alice ") != ring.Account("shop", "alice") || hash("shop", "  ") != "" {
		t.Error("accounts of overrides are hashed differently from those of attempts")
	}
}

func TestWarnings(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"expired override", "overrides: [{limit: password, capacity: 50, reason: fair, expires: 2020-01-31}]\n", "expired"},
		{"proxies in one family", "client_address: {hops: 1, trusted_proxies: [10.0.0.0/8]}\n", "lists only IPv4"},
		{"proxies in the other family", "client_address: {hops: 1, trusted_proxies: [\"::1\"]}\n", "lists only IPv6"},
	} {
		_, warnings, err := loadText(t, tt.text)
		if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], tt.want) {
			t.Errorf("%s: %q, %v", tt.name, warnings, err)
		}
	}
	if _, warnings, err := loadText(t, "client_address: {hops: 1, trusted_proxies: [127.0.0.0/8, \"::1/128\"]}\n"); err != nil || len(warnings) > 0 {
		t.Errorf("proxies in both families: %q, %v", warnings, err)
	}
}

func TestLoopback(t *testing.T) {
	for listen, want := range map[string]bool{
		"127.0.0.1:80": true, "127.8.9.1:0": true, "[::1]:80": true, "localhost:80": true, "[::ffff:127.0.0.1]:80": true,
		":80": false, "0.0.0.0:80": false, "[::]:80": false, "192.0.2.1:80": false, "[::ffff:192.0.2.1]:80": false,
		"localhost.example.com:80": false, "80": false, "[fe80::1%lo]:80": false,
	} {
		if got := loopback(listen); got != want {
			t.Errorf("loopback(%q) = %v, want %v", listen, got, want)
		}
	}
	if _, _, err := loadText(t, "server: {api: {listen: \"0.0.0.0:8080\"}}\ncallers: [{name: a, key_sha256: \""+key+"\"}]\n"); err != nil {
		t.Errorf("with a caller all addresses are fine: %v", err)
	}
}
