package deploy

import (
	"regexp"
	"slices"
	"testing"
)

func TestTraefikAsksBeforeTheLogin(t *testing.T) {
	static, dynamic := document(t, "deploy/traefik/traefik.yml"), document(t, "deploy/traefik/dynamic.yml")
	routers, middlewares := at[object](t, dynamic, "http", "routers"), at[object](t, dynamic, "http", "middlewares")
	services, entries := at[object](t, dynamic, "http", "services"), at[object](t, static, "entryPoints")
	used := map[string]bool{}
	for name := range routers {
		for _, e := range at[[]any](t, routers, name, "entryPoints") {
			at[object](t, entries, e)
		}
		for _, m := range at[[]any](t, routers, name, "middlewares") {
			at[object](t, middlewares, m)
			used[m.(string)] = true
		}
		at[object](t, services, at[string](t, routers, name, "service"))
	}
	for name := range middlewares {
		if !used[name] {
			t.Errorf("nothing uses %s", name)
		}
	}

	// The flood is stopped first, the key is there for the question and gone after it.
	if order, want := at[[]any](t, routers, "login", "middlewares"), []any{"flood", "show-key", "ask", "hide-key"}; !slices.Equal(order, want) {
		t.Errorf("the login has %v, want %v", order, want)
	}
	if at[int](t, routers, "login", "priority") <= at[int](t, routers, "everything-else", "priority") {
		t.Error("another route is looked at before that of the login")
	}
	if got := at[string](t, middlewares, "ask", "forwardAuth", "address"); got != "http://127.0.0.1:8080/v1/forward-auth/plain" {
		t.Errorf("it asks at %s", got)
	}
	if got := at[string](t, document(t, "deploy/traefik/loginguard.yaml"), "server", "api", "listen"); got != "127.0.0.1:8080" {
		t.Errorf("loginguard listens on %s", got)
	}
	if got := at[string](t, middlewares, "hide-key", "headers", "customRequestHeaders", "X-API-Key"); got != "" {
		t.Error("the application sees the key")
	}
	if got := at[[]any](t, middlewares, "ask", "forwardAuth", "authRequestHeaders"); !slices.Equal(got, []any{"X-API-Key"}) {
		t.Errorf("loginguard is shown %v of a client", got)
	}
}

func TestTraefikAsksAboutEverySpellingOfTheLogin(t *testing.T) {
	rule := at[string](t, document(t, "deploy/traefik/dynamic.yml"), "http", "routers", "login", "rule")
	found := regexp.MustCompile("PathRegexp\\(`([^`]+)`\\)").FindStringSubmatch(rule)
	if found == nil {
		t.Fatalf("the rule is %s", rule)
	}
	asksAboutAllSpellings(t, found[1])
}
