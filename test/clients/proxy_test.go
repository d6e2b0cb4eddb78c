package clients

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"loginguard/test/internal/service"
)

const (
	wrong = "username=alice&password=wrong"
	right = "username=alice&password=secret"
)

// proxy is a proxy of an example in front of an application.
type proxy struct {
	address string
	app     *application
	guard   *service.Service
}

// asksBeforeTheLogin checks what every proxy must do that asks about networks.
// start starts it, with loginguard at an address.
func asksBeforeTheLogin(t *testing.T, file string, start func(t *testing.T, guard, app string) string) {
	setUp := func(t *testing.T, o service.Options) proxy {
		t.Helper()
		p := proxy{app: startApplication(t), guard: guarded(t, file, o)}
		p.address = start(t, addressOf(p.guard.API), p.app.address)
		return p
	}

	t.Run("the denial reaches the client", func(t *testing.T) {
		p := setUp(t, service.Options{Env: fewer})
		for range 5 {
			send(t, p.address, "127.0.1.1", wrong).want(t, http.StatusUnauthorized)
		}
		a := send(t, p.address, "127.0.1.1", right)
		a.want(t, http.StatusTooManyRequests)
		seconds, err := strconv.Atoi(a.header.Get("Retry-After"))
		if err != nil || seconds < 1 || seconds > 3600 {
			t.Errorf("Retry-After %q", a.header.Get("Retry-After"))
		}
		for name, form := range map[string]string{"RateLimit": `^"network-host";r=0;t=\d+$`, "RateLimit-Policy": `^"network-host";q=5;w=3600$`} {
			if got := a.header.Get(name); !regexp.MustCompile(form).MatchString(got) {
				t.Errorf("%s is %q, want %s", name, got, form)
			}
		}
		if n := p.app.posts.Load(); n != 5 {
			t.Errorf("%d attempts reached the login, want 5", n)
		}
		// Another client is not affected.
		send(t, p.address, "127.0.1.2", right).want(t, http.StatusSeeOther)
	})

	t.Run("the page with the form is no attempt", func(t *testing.T) {
		p := setUp(t, service.Options{Env: fewer})
		for range 10 {
			r, err := http.NewRequest(http.MethodGet, "http://"+p.address+"/login", nil)
			if err != nil {
				t.Fatal(err)
			}
			do(t, r, "127.0.1.1").want(t, http.StatusOK)
		}
		send(t, p.address, "127.0.1.1", right).want(t, http.StatusSeeOther)
	})

	t.Run("what a client claims changes nothing", func(t *testing.T) {
		p := setUp(t, service.Options{Env: fewer})
		claims := func(i string) []string {
			return []string{
				"X-Forwarded-For", "203.0.113." + i, "Forwarded", "for=203.0.113." + i, "X-Real-IP", "203.0.113." + i,
				"X-Login", "victim" + i, "X-API-Key", "stolen", "X-Loginguard-Attempt", "forged", "Origin", "https://example.com",
			}
		}
		for i := range 5 {
			send(t, p.address, "127.0.1.1", wrong, claims(strconv.Itoa(i))...).want(t, http.StatusUnauthorized)
		}
		if got := p.app.got("X-Loginguard-Attempt"); strings.Contains(got, "forged") || len(got) < 40 {
			t.Errorf("the application is told of the attempt %q", got)
		}
		if got := p.app.got("X-Forwarded-For"); strings.Contains(got, "203.0.113") {
			t.Errorf("the application is told that the client is %q", got)
		}
		send(t, p.address, "127.0.1.1", right, claims("9")...).want(t, http.StatusTooManyRequests)
	})

	t.Run("wrong key", func(t *testing.T) {
		app := startApplication(t)
		// Not the guard of the key that the proxy has.
		guard := service.Start(t, service.Options{Config: example(t, file, "REPLACE-WITH-THE-SHA256-OF-THE-CALLER-KEY", strings.Repeat("ab", 32))})
		a := send(t, start(t, addressOf(guard.API), app.address), "127.0.1.1", right)
		if a.status < 400 || app.posts.Load() != 0 {
			t.Errorf("answered %d, and %d attempts reached the login", a.status, app.posts.Load())
		}
		guard.AwaitLog("wrong_key")
	})

	t.Run("loginguard does not answer", func(t *testing.T) {
		app := startApplication(t)
		send(t, start(t, silent(t), app.address), "127.0.1.1", right).want(t, http.StatusServiceUnavailable)
		if app.posts.Load() != 0 {
			t.Errorf("%d attempts reached the login", app.posts.Load())
		}
	})

	t.Run("loginguard is gone", func(t *testing.T) {
		app := startApplication(t)
		a := send(t, start(t, free(t), app.address), "127.0.1.1", right)
		a.want(t, http.StatusServiceUnavailable)
		if app.posts.Load() != 0 || a.header.Get("Retry-After") == "" {
			t.Errorf("%d attempts reached the login, Retry-After %q", app.posts.Load(), a.header.Get("Retry-After"))
		}
	})
}

// floodStopsAtTheEdge checks that a proxy answers a flood without asking.
// most is how many of 100 requests at once it may ask about.
func floodStopsAtTheEdge(t *testing.T, p proxy, most int) {
	t.Helper()
	refused := 0
	for range 100 {
		a := send(t, p.address, "127.0.1.1", wrong)
		switch {
		case a.status == http.StatusTooManyRequests && strings.Contains(a.body, "too_many_requests"):
			refused++
			if a.header.Get("Retry-After") == "" {
				t.Fatalf("no Retry-After: %v", a.header)
			}
		case a.status != http.StatusUnauthorized && a.status != http.StatusTooManyRequests:
			t.Fatalf("answered %d: %s", a.status, a.body)
		}
	}
	asked := decisions(t, p.guard)
	if asked == 0 || asked > most || asked+refused != 100 {
		t.Errorf("of 100 requests %d were refused at the edge and loginguard was asked about %d, want 1 to %d", refused, asked, most)
	}
}

// decisions returns about how many attempts loginguard was asked.
func decisions(t *testing.T, guard *service.Service) int {
	t.Helper()
	asked := 0
	for line := range strings.Lines(string(guard.Page("/metrics").Body)) {
		if strings.HasPrefix(line, "loginguard_decisions_total") {
			n, err := strconv.Atoi(strings.TrimSpace(line[strings.LastIndex(line, " ")+1:]))
			if err != nil {
				t.Fatal(err)
			}
			asked += n
		}
	}
	return asked
}
