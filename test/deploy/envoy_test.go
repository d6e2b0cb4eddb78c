package deploy

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"loginguard/test/internal/service"
)

// spellings of a login's path, and whether a proxy has to ask about them.
var spellings = map[string]bool{
	"/login": true, "/LOGIN": true, "//login": true, "/login/": true, "/login;x=1": true, "/login.json": true,
	`/login\x`: true, "/login%2f": true,
	"/": false, "/logins": false, "/blog/login": false, "/loginpage": false,
}

// asksAboutAllSpellings checks the expression by which a proxy finds the login.
// Envoy and Traefik use the same language for it as Go.
func asksAboutAllSpellings(t *testing.T, expression string, more ...string) {
	t.Helper()
	re, err := regexp.Compile("^(?:" + expression + ")$") // Envoy wants all of the path to match
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range spellings {
		if got := re.MatchString(path); got != want {
			t.Errorf("%s: asked about %v, want %v", path, got, want)
		}
	}
	for _, path := range more {
		if !re.MatchString(path) {
			t.Errorf("%s is not asked about", path)
		}
	}
}

// envoy is the parts of the example for Envoy that others refer to.
type envoy struct {
	filters []any // of the HTTP connection manager
	routes  []any
	authz   object
	login   object // the route to it
}

func readEnvoy(t *testing.T) (envoy, object) {
	t.Helper()
	config := document(t, "deploy/envoy/envoy.yaml")
	manager := at[object](t, config, "static_resources", "listeners", 0, "filter_chains", 0, "filters", 0, "typed_config")
	e := envoy{filters: at[[]any](t, manager, "http_filters"), routes: at[[]any](t, manager, "route_config", "virtual_hosts", 0, "routes")}
	e.authz = at[object](t, named(t, e.filters, "envoy.filters.http.ext_authz"), "typed_config")
	e.login = named(t, e.routes, "login")
	if !at[bool](t, manager, "use_remote_address") {
		t.Error("the client's address is not that of the connection")
	}
	return e, config
}

func TestEnvoyFailsClosedAndAsksTheRightPlace(t *testing.T) {
	e, config := readEnvoy(t)
	if at[bool](t, e.authz, "failure_mode_allow") {
		t.Error("it fails open")
	}
	if got := at[string](t, e.authz, "status_on_error", "code"); got != "ServiceUnavailable" {
		t.Errorf("without loginguard it answers %s", got)
	}
	if got := at[string](t, e.authz, "http_service", "path_prefix"); got != "/v1/forward-auth/envoy" {
		t.Errorf("it asks at %s", got)
	}
	if got := at[string](t, e.authz, "http_service", "authorization_request", "headers_to_add", 0, "key"); got != "x-api-key" {
		t.Errorf("its key is in %s", got)
	}

	var order []string
	for _, f := range e.filters {
		order = append(order, at[string](t, f, "name"))
	}
	if want := []string{"envoy.filters.http.local_ratelimit", "envoy.filters.http.ext_authz", "envoy.filters.http.router"}; !slices.Equal(order, want) {
		t.Errorf("the filters are %v, want %v", order, want)
	}

	// The cluster that is asked is there, at the address where loginguard listens.
	clusters := at[[]any](t, config, "static_resources", "clusters")
	asked := named(t, clusters, at[string](t, e.authz, "http_service", "server_uri", "cluster"))
	address := at[object](t, asked, "load_assignment", "endpoints", 0, "lb_endpoints", 0, "endpoint", "address", "socket_address")
	if address["address"] != "127.0.0.1" || address["port_value"] != 8080 {
		t.Errorf("loginguard is looked for at %v", address)
	}
	guard := document(t, "deploy/envoy/loginguard.yaml")
	if got := at[string](t, guard, "server", "api", "listen"); got != "127.0.0.1:8080" {
		t.Errorf("loginguard listens on %s", got)
	}
	if got := at[int](t, guard, "client_address", "hops"); got != 2 {
		t.Errorf("%d hops: Envoy appends its own address", got)
	}
	for _, r := range e.routes {
		named(t, clusters, at[string](t, r, "route", "cluster"))
	}
}

func TestEnvoyAsksAboutEverySpellingOfTheLogin(t *testing.T) {
	e, _ := readEnvoy(t)
	asksAboutAllSpellings(t, at[string](t, e.login, "match", "safe_regex", "regex"), "/%6cogin", "/l%4Fgi%6e/")
	if e.routes[0].(object)["name"] != "login" {
		t.Error("another route is looked at before that of the login")
	}
	// The login is asked about; where it is switched off is everything else.
	if off, ok := at[object](t, e.login, "typed_per_filter_config")["envoy.filters.http.ext_authz"]; ok {
		t.Errorf("the login is not asked about: %v", off)
	}
	limit := at[object](t, e.login, "typed_per_filter_config", "envoy.filters.http.local_ratelimit")
	for _, part := range []string{"filter_enabled", "filter_enforced"} { // both are 0 % unless they are set
		if got := at[int](t, limit, part, "default_value", "numerator"); got != 100 {
			t.Errorf("%s is %d %%", part, got)
		}
	}
}

// What loginguard answers to a question as Envoy sends it is what Envoy may hand on.
func TestEnvoyHandsOnAllOfADenial(t *testing.T) {
	e, _ := readEnvoy(t)
	allowed := map[string]bool{}
	for _, p := range at[[]any](t, e.authz, "http_service", "authorization_response", "allowed_client_headers", "patterns") {
		allowed[at[string](t, p, "exact")] = true
	}
	config := strings.NewReplacer(placeholders.Replace("REPLACE-WITH-THE-SHA256-OF-THE-CALLER-KEY"), keyHash).Replace(read(t, "deploy/envoy/loginguard.yaml"))
	s := service.Start(t, service.Options{Config: config, Env: tenFromAHost})
	ask := func(client string) (int, http.Header) {
		// "192.0.2.7" is what the example calls the address of Envoy.
		h := http.Header{"X-Api-Key": {key}, "X-Forwarded-For": {"198.51.100.1, " + client + ",192.0.2.7"}}
		a := s.Do(http.MethodPost, "/v1/forward-auth/envoy/login?next=/", h, "")
		return a.Status, a.Header
	}
	for i := range 10 {
		status, h := ask("203.0.113.7")
		if status != http.StatusOK || h.Get("X-Loginguard-Attempt") == "" {
			t.Fatalf("attempt %d: %d %v", i+1, status, h)
		}
	}
	status, h := ask("203.0.113.7")
	if status != http.StatusTooManyRequests {
		t.Fatalf("the eleventh: %d", status)
	}
	for name := range h {
		name = strings.ToLower(name)
		if (strings.HasPrefix(name, "ratelimit") || slices.Contains([]string{"retry-after", "content-type", "cache-control"}, name)) && !allowed[name] {
			t.Errorf("%s does not reach the client", name)
		}
	}
	if status, _ := ask("203.0.113.8"); status != http.StatusOK {
		t.Errorf("another client: %d: all share an address", status)
	}
}
