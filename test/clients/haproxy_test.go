package clients

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"loginguard/test/internal/client"
	"loginguard/test/internal/service"
)

// startHAProxy runs the example for HAProxy.
func startHAProxy(t *testing.T, guard, app string) string {
	t.Helper()
	program, dir, address := installed(t, "haproxy", "haproxy"), t.TempDir(), free(t)
	lua := write(t, filepath.Join(dir, "loginguard.lua"), example(t, "haproxy/loginguard.lua",
		"REPLACE-WITH-THE-CALLER-KEY", key, "127.0.0.1:8080", guard))
	file := write(t, filepath.Join(dir, "haproxy.cfg"), example(t, "haproxy/haproxy.cfg",
		"/etc/haproxy/loginguard.lua", lua, "127.0.0.1:3000", app, "127.0.0.1:8000", address))
	run(t, address, nil, program, "-db", "-f", file)
	return address
}

func setUpHAProxy(t *testing.T, o service.Options) proxy {
	t.Helper()
	p := proxy{app: startApplication(t), guard: guarded(t, "haproxy/loginguard.yaml", o)}
	p.address = startHAProxy(t, addressOf(p.guard.API), p.app.address)
	return p
}

// explain asks loginguard itself, on its admin listener.
func explain(t *testing.T, s *service.Service, account, ip string) client.Explanation {
	t.Helper()
	a := s.Operate(http.MethodPost, "/v1/explain", http.Header{"Content-Type": {"application/json"}},
		fmt.Sprintf(`{"account":%q,"ip":%q}`, account, ip))
	var e client.Explanation
	if err := json.Unmarshal(a.Body, &e); err != nil || a.Status != http.StatusOK {
		t.Fatalf("explain: %d %v %s", a.Status, err, a.Body)
	}
	return e
}

func TestHAProxyRefusesTheEleventhGuessOfStrangersAndNotTheOwner(t *testing.T) {
	p := setUpHAProxy(t, service.Options{})
	send(t, p.address, "127.0.9.9", right).want(t, http.StatusSeeOther)
	if e := explain(t, p.guard, "alice", "127.0.9.9"); !e.Familiar || e.Find("familiar", "").Remaining != 10 {
		t.Fatalf("a sign-in was not reported: familiar %t, %+v", e.Familiar, e.Limits)
	}
	for i := range 10 {
		send(t, p.address, fmt.Sprintf("127.1.%d.1", i), wrong).want(t, http.StatusUnauthorized)
	}
	a := send(t, p.address, "127.1.99.1", wrong)
	a.want(t, http.StatusTooManyRequests)
	if a.header.Get("Retry-After") == "" || !strings.HasPrefix(a.header.Get("RateLimit"), `"account";r=0;t=`) || a.header.Get("RateLimit-Policy") != `"account";q=10;w=21600` {
		t.Errorf("headers of the denial: %v", a.header)
	}
	if n := p.app.posts.Load(); n != 11 {
		t.Errorf("%d attempts reached the login, want 11", n)
	}
	send(t, p.address, "127.0.9.9", right).want(t, http.StatusSeeOther)
}

func TestHAProxyIgnoresWhatAClientClaims(t *testing.T) {
	p := setUpHAProxy(t, service.Options{Env: fewer})
	for i := range 6 {
		a := send(t, p.address, "127.0.1.1", fmt.Sprintf("username=user%d&password=wrong", i),
			"X-Forwarded-For", fmt.Sprintf("203.0.113.%d", i), "X-Login", "victim", "X-API-Key", "stolen", "X-Loginguard-Attempt", "forged")
		if want := http.StatusUnauthorized; i < 5 {
			a.want(t, want)
			if got := p.app.got("X-Forwarded-For") + p.app.got("X-Loginguard-Attempt"); got != "127.0.1.1" {
				t.Errorf("the application is told %q", got)
			}
			continue
		}
		a.want(t, http.StatusTooManyRequests)
	}
}

func TestHAProxyReadsTheSameNameAsTheApplication(t *testing.T) {
	p := setUpHAProxy(t, service.Options{})
	for form, want := range map[string]int{
		"username=al%69ce%40example.com&password=wrong": http.StatusUnauthorized,
		"username=alice%40example.com&password=wrong":   http.StatusUnauthorized,
		"user%6eame=alice@example.com&password=wrong":   http.StatusUnauthorized,
		"username=eve&username=alice&password=secret":   http.StatusBadRequest,
		"username=eve&user%6eame=alice&password=secret": http.StatusBadRequest,
		"password=secret":           http.StatusBadRequest,
		"username=&password=secret": http.StatusBadRequest,
	} {
		if a := send(t, p.address, "127.0.1.1", form); a.status != want {
			t.Errorf("%s: answered %d, want %d: %s", form, a.status, want, a.body)
		}
	}
	if got := explain(t, p.guard, "alice@example.com", "192.0.2.1").Find("account", "").Remaining; got != 7 {
		t.Errorf("after three spellings of one name the account has %d left, want 7", got)
	}
	// A broken character is nobody's, and what JSON escapes arrives as it was.
	if a := send(t, p.address, "127.0.1.1", "username=bob%ff&password=secret"); a.status < 400 {
		t.Errorf("a name that is no UTF-8 is answered %d", a.status)
	}
	send(t, p.address, "127.0.1.1", "username=%22quo%5cted%22&password=wrong").want(t, http.StatusUnauthorized)
	if got := explain(t, p.guard, `"quo\ted"`, "192.0.2.1").Find("account", "").Remaining; got != 9 {
		t.Errorf("the account with quotes has %d left, want 9", got)
	}
	reached := p.app.posts.Load()
	for _, spelling := range []string{"/login/", "//login", "/LOGIN", "/l%6Fgin", "/login;x=1", "/login%2f"} {
		r, err := http.NewRequest(http.MethodPost, "http://"+p.address+spelling, strings.NewReader(right))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		do(t, r, "127.0.1.1").want(t, http.StatusNotFound)
	}
	r, err := http.NewRequest(http.MethodPost, "http://"+p.address+"/login", io.MultiReader(strings.NewReader(right)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded") // sent in chunks
	do(t, r, "127.0.1.1").want(t, http.StatusLengthRequired)
	if r, err = http.NewRequest(http.MethodPost, "http://"+p.address+"/login", strings.NewReader("pad="+strings.Repeat("x", 40000)+"&"+right)); err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	// HAProxy answers before it has read so much, and closes: who is still
	// writing may find the connection gone instead of an answer.
	switch long, err := try(r, "127.0.1.1"); {
	case err == nil:
		long.want(t, http.StatusBadRequest)
	case !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET):
		t.Fatal(err)
	}
	if n := p.app.posts.Load(); n != reached {
		t.Errorf("%d more attempts reached the login than were asked about", n-reached)
	}
}

func TestHAProxyStopsAFloodByItself(t *testing.T) {
	floodStopsAtTheEdge(t, setUpHAProxy(t, service.Options{}), 60)
}

func TestHAProxyLetsNobodyInWithoutLoginguard(t *testing.T) {
	app := startApplication(t)
	a := send(t, startHAProxy(t, free(t), app.address), "127.0.1.1", right)
	a.want(t, http.StatusServiceUnavailable)
	if app.posts.Load() != 0 || a.header.Get("Retry-After") == "" {
		t.Errorf("%d attempts reached the login, Retry-After %q", app.posts.Load(), a.header.Get("Retry-After"))
	}
}

func TestHAProxyLetsNobodyInWhenLoginguardIsSilent(t *testing.T) {
	app := startApplication(t)
	send(t, startHAProxy(t, silent(t), app.address), "127.0.1.1", right).want(t, http.StatusServiceUnavailable)
	if app.posts.Load() != 0 {
		t.Errorf("%d attempts reached the login", app.posts.Load())
	}
}

func TestHAProxyThatAsksAgainIsChargedOnce(t *testing.T) {
	app, guard := startApplication(t), guarded(t, "haproxy/loginguard.yaml", service.Options{})
	to, err := url.Parse(guard.API)
	if err != nil {
		t.Fatal(err)
	}
	// loginguard decides at once, and its answers come too late.
	var asked atomic.Int64
	release := make(chan struct{})
	handOn := httputil.NewSingleHostReverseProxy(to)
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		handOn.ServeHTTP(httptest.NewRecorder(), r.WithContext(t.Context()))
		<-release
		w.WriteHeader(http.StatusOK)
	}))
	defer slow.Close()
	defer close(release)
	send(t, startHAProxy(t, addressOf(slow.URL), app.address), "127.0.1.1", right).want(t, http.StatusServiceUnavailable)
	service.Await(t, patience, "HAProxy to have asked more than once", func() bool { return asked.Load() > 1 })
	if got := explain(t, guard, "alice", "192.0.2.1").Find("account", "").Remaining; got != 9 {
		t.Errorf("asked %d times about one attempt, the account has %d left, want 9", asked.Load(), got)
	}
	if app.posts.Load() != 0 {
		t.Error("an attempt without an answer reached the login")
	}
}
