package edge

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	_ "github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/caddyauth"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy/forwardauth"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/rewrite"
)

// settings are those of a limit, which itself must not be copied.
type settings struct {
	rate                      string
	burst, networks, ip4, ip6 int
}

func read(text string) (settings, error) {
	l := new(Limit)
	err := l.UnmarshalCaddyfile(caddyfile.NewTestDispenser(text))
	return settings{l.Rate, l.Burst, l.MaxNetworks, l.IPv4Prefix, l.IPv6Prefix}, err
}

func TestDirective(t *testing.T) {
	for text, want := range map[string]settings{
		"edge_limit":      {},
		"edge_limit {\n}": {},
		"edge_limit {\nrate 20/s\nburst 40\nmax_networks 1000\nipv4_prefix 24\nipv6_prefix 56\n}": {"20/s", 40, 1000, 24, 56},
		"edge_limit {\nburst 7\n}": {burst: 7},
	} {
		if got, err := read(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v, want %+v", text, got, err, want)
		}
	}
}

func TestDirectiveRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"edge_limit 5/s":                          "wrong argument count",
		"edge_limit {\nrat 5/s\n}":                `edge_limit has no setting "rat"`,
		"edge_limit {\nrate\n}":                   "wrong argument count",
		"edge_limit {\nrate 5/s 6/s\n}":           "wrong argument count",
		"edge_limit {\nrate 5/s\nrate 6/s\n}":     "rate is set twice",
		"edge_limit {\nburst 5\nburst 5\n}":       "burst is set twice",
		"edge_limit {\nrate 5\n}":                 "rate: must be written as",
		"edge_limit {\nrate 5/s {\nburst 2\n}\n}": `edge_limit has no setting "{"`,
		"edge_limit {\nburst 0\n}":                `burst: "0" is no whole number above 0`,
		"edge_limit {\nburst -1\n}":               `burst: "-1" is no whole number above 0`,
		"edge_limit {\nburst many\n}":             `burst: "many" is no whole number above 0`,
		"edge_limit {\nmax_networks 1e6\n}":       `max_networks: "1e6" is no whole number above 0`,
	} {
		if got, err := read(text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "Testfile:") {
			t.Errorf("%q: %+v, %v, want %s, with file and line", text, got, err, want)
		}
	}
}

// handlers lists the handlers of a configuration in the order in which they
// run.
func handlers(t *testing.T, config string) []string {
	t.Helper()
	b, warnings, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(config), nil)
	if err != nil || len(warnings) != 0 {
		t.Fatal(err, warnings)
	}
	d := json.NewDecoder(strings.NewReader(string(b)))
	var names []string
	for {
		token, err := d.Token()
		if err != nil {
			return names
		}
		if token == "handler" {
			if token, err = d.Token(); err == nil {
				names = append(names, token.(string))
			}
		}
	}
}

// Wherever it stands, the limit runs before anybody is asked and after
// rewrites.
func TestOrder(t *testing.T) {
	got := handlers(t, `:8000 {
	reverse_proxy 127.0.0.1:3000
	forward_auth 127.0.0.1:8080 {
		uri /ask
	}
	basic_auth {
		alice $2a$14$Zkx19XLiW6VYouLHR5NmfOFU0z2GTNmpkT/5qqR7hx4IjWJPDhjvG
	}
	edge_limit {
		rate 7/s
	}
	rewrite /signin /login
}
`)
	want := []string{"rewrite", "edge_limit", "authentication", "reverse_proxy", "reverse_proxy"}
	if places := slices.DeleteFunc(got, func(s string) bool { return !slices.Contains(want, s) }); !slices.Equal(places, want) {
		t.Errorf("handlers run in the order %v, want %v", places, want)
	}
}

// What the directive writes is what the module reads.
func TestDirectiveBecomesJSON(t *testing.T) {
	b, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(":8000 {\nedge_limit /login {\nrate 7/s\nburst 9\nmax_networks 11\nipv4_prefix 24\nipv6_prefix 56\n}\n}"), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(b), `"handle":[`)
	if !found {
		t.Fatalf("%s", b)
	}
	l := new(Limit)
	if err := json.NewDecoder(strings.NewReader(rest)).Decode(l); err != nil {
		t.Fatal(err)
	}
	if got, want := (settings{l.Rate, l.Burst, l.MaxNetworks, l.IPv4Prefix, l.IPv6Prefix}), (settings{"7/s", 9, 11, 24, 56}); got != want {
		t.Errorf("%+v of %s, want %+v", got, rest, want)
	}
}
