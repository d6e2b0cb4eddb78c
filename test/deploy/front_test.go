package deploy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"loginguard/test/internal/service"
)

// key is the key of every caller here.
const key = "key-of-the-proxy-1"

var keyHash = func() string { s := sha256.Sum256([]byte(key)); return hex.EncodeToString(s[:]) }()

// tenFromAHost lets a host fail ten times, so that the eleventh is refused also
// where accounts are not known.
var tenFromAHost = []string{"LOGINGUARD_LIMITS_NETWORK_HOST_CAPACITY=10", "LOGINGUARD_LIMITS_NETWORK_HOST_REFILL=10/1h"}

// standIn answers as another program does. It knows one password and counts how
// often it was asked for one.
type standIn struct {
	*httptest.Server
	tried atomic.Int64
}

func newStandIn(t *testing.T, answer func(s *standIn, w http.ResponseWriter, r *http.Request)) *standIn {
	t.Helper()
	s := &standIn{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(s, w, r) }))
	t.Cleanup(s.Close)
	return s
}

func (s *standIn) right(password string) bool {
	s.tried.Add(1)
	return password == "right"
}

var frontLine = regexp.MustCompile(`(?m)^  front  (\S+)$`)

// frontOf starts loginguard with the configuration of an example, before a
// stand-in, and returns the URL of its front. The test is the trusted proxy.
func frontOf(t *testing.T, path, upstream, redis string) (string, *service.Service) {
	t.Helper()
	config := read(t, path)
	for _, r := range []struct{ old, put string }{
		{`listen: "127.0.0.1:8000"`, `listen: "127.0.0.1:0"`}, {`listen: "127.0.0.1:8002"`, `listen: "127.0.0.1:0"`},
		{`listen: ":8000"`, `listen: "127.0.0.1:0"`}, {"172.30.57.2", "127.0.0.1"},
		{"http://127.0.0.1:8180", upstream}, {"http://127.0.0.1:4433", upstream}, {"http://application:3000", upstream},
	} {
		config = strings.ReplaceAll(config, r.old, r.put)
	}
	s := service.Start(t, service.Options{Config: config, Redis: redis})
	found := frontLine.FindStringSubmatch(s.Output())
	if found == nil || !strings.Contains(config, upstream) {
		t.Fatalf("there is no front before %s: %s", upstream, s.Output())
	}
	return found[1], s
}

var client = &http.Client{
	Timeout:       30 * time.Second,
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// post sends a form, or JSON where the body begins with a brace, from an
// address.
func post(t *testing.T, target, from, body string) (int, http.Header) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if strings.HasPrefix(body, "{") {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("X-Forwarded-For", from)
	p, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Body.Close()
	if _, err := io.Copy(io.Discard, p.Body); err != nil {
		t.Fatal(err)
	}
	return p.StatusCode, p.Header
}

// smoke is the smoke test of the manual: ten wrong passwords from as many
// addresses get what the program answers to one, and the eleventh 429. body has
// a %s for the password. It returns how often the program was asked.
func smoke(t *testing.T, target, body string, wrong int) {
	t.Helper()
	for i := range 10 {
		if status, h := post(t, target, fmt.Sprintf("20.%d.0.7", i), fmt.Sprintf(body, "wrong")); status != wrong {
			t.Fatalf("wrong password %d: %d %v, want %d", i+1, status, h, wrong)
		}
	}
	status, h := post(t, target, "20.99.0.7", fmt.Sprintf(body, "right"))
	if status != http.StatusTooManyRequests || h.Get("Retry-After") == "" {
		t.Fatalf("the eleventh: %d %v", status, h)
	}
}

// signsIn checks that somebody signs in as often as he likes.
func signsIn(t *testing.T, target, body string, right int) http.Header {
	t.Helper()
	var last http.Header
	for i := range 15 {
		status, h := post(t, target, "30.0.0.7", fmt.Sprintf(body, "right"))
		if status != right {
			t.Fatalf("sign-in %d: %d %v", i+1, status, h)
		}
		last = h
	}
	return last
}

// keycloak answers as Keycloak 26 does, by its source: a wrong password shows
// the page again, and the identity cookie comes with the right one. Who signs in
// again is known by his session, and the name in the form is not read.
func keycloak(s *standIn, w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/realms/main/login-actions/authenticate" && r.URL.Query().Get("session_code") == "expired":
		w.Header().Set("Location", "/realms/main/login-actions/authenticate?again")
		w.Header().Set("Set-Cookie", "KEYCLOAK_IDENTITY=; Max-Age=0; Path=/realms/main/")
		w.WriteHeader(http.StatusFound)
	case r.Method == http.MethodPost && r.URL.Path == "/realms/main/login-actions/authenticate":
		if !s.right(r.PostFormValue("password")) {
			fmt.Fprint(w, "<form>Invalid username or password.")
			return
		}
		w.Header().Add("Set-Cookie", "KEYCLOAK_IDENTITY=eyJ; Path=/realms/main/; Secure; HttpOnly")
		w.Header().Set("Location", "https://app.example.com/?code=1")
		w.WriteHeader(http.StatusFound)
	case r.Method == http.MethodPost && r.URL.Path == "/realms/main/protocol/openid-connect/token":
		if r.PostFormValue("grant_type") == "password" && !s.right(r.PostFormValue("password")) {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error":"invalid_grant","error_description":"Invalid user credentials"}`)
			return
		}
		fmt.Fprint(w, `{"access_token":"eyJ"}`)
	default:
		fmt.Fprint(w, "<page>")
	}
}

func TestKeycloakBehindTheFront(t *testing.T) {
	app := newStandIn(t, keycloak)
	front, s := frontOf(t, "deploy/keycloak/loginguard.yaml", app.URL, "")
	login := front + "/realms/main/login-actions/authenticate?session_code=a&execution=b&client_id=account&tab_id=c"
	smoke(t, login, "username=alice&password=%s&credentialId=", http.StatusOK)
	if n := app.tried.Load(); n != 10 {
		t.Errorf("Keycloak verified %d passwords, want 10", n)
	}
	signsIn(t, login, "username=bob&password=%s&credentialId=", http.StatusFound)

	// A redirect of an expired page is no success and charges its guess.
	expired := strings.Replace(login, "session_code=a", "session_code=expired", 1)
	smoke(t, expired, "username=carol&password=%s", http.StatusFound)

	// Signing in again under the name of a victim teaches nothing: the attacker's
	// network stays unfamiliar to her account.
	if status, _ := post(t, login, "66.0.0.7", "username=victim&password=right"); status != http.StatusFound {
		t.Fatalf("signing in again: %d", status)
	}
	explained := s.Do(http.MethodPost, "/v1/explain", http.Header{"Content-Type": {"application/json"}}, `{"account":"victim","ip":"66.0.0.7"}`)
	if !strings.Contains(string(explained.Body), `"familiar":false`) {
		t.Errorf("the attacker is at home with the victim: %s", explained.Body)
	}

	// A page without a name is refused, as the manual says.
	if status, _ := post(t, login, "30.0.0.7", "otp=123456"); status != http.StatusBadRequest {
		t.Errorf("a one-time code: %d", status)
	}
	// All else passes.
	if status, _ := post(t, front+"/realms/main/protocol/openid-connect/token", "30.0.0.7", "grant_type=authorization_code&code=1"); status != http.StatusOK {
		t.Errorf("a code: %d", status)
	}
}

func TestKeycloaksTokenEndpointBehindTheFront(t *testing.T) {
	app := newStandIn(t, keycloak)
	front, s := frontOf(t, "deploy/keycloak/loginguard-token.yaml", app.URL, "")
	token := front + "/realms/main/protocol/openid-connect/token"
	smoke(t, token, "grant_type=password&client_id=cli&username=alice&password=%s", http.StatusUnauthorized)
	signsIn(t, token, "grant_type=password&client_id=cli&username=bob&password=%s", http.StatusOK)

	// Another grant under the name of a victim teaches nothing.
	if status, _ := post(t, token, "66.0.0.7", "grant_type=refresh_token&refresh_token=own&username=victim"); status != http.StatusOK {
		t.Fatalf("a refresh: %d", status)
	}
	explained := s.Do(http.MethodPost, "/v1/explain", http.Header{"Content-Type": {"application/json"}}, `{"account":"victim","ip":"66.0.0.7"}`)
	if !strings.Contains(string(explained.Body), `"familiar":false`) {
		t.Errorf("the attacker is at home with the victim: %s", explained.Body)
	}
	if status, _ := post(t, front+"/realms/main/login-actions/authenticate", "30.0.0.7", "username=bob&password=right"); status != http.StatusNotFound {
		t.Errorf("the login page under this name: %d, want 404", status)
	}
}

// kratos answers as Ory Kratos does, by the description of its API.
func kratos(s *standIn, w http.ResponseWriter, r *http.Request) {
	asJSON := strings.HasPrefix(r.Header.Get("Content-Type"), "application/json")
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/self-service/login" && asJSON:
		b, err := io.ReadAll(r.Body)
		if err != nil || !s.right(map[bool]string{true: "right"}[strings.Contains(string(b), `"password":"right"`)]) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"id":"9f","ui":{"messages":[{"id":4000006}]}}`)
			return
		}
		fmt.Fprint(w, `{"session_token":"ory_st_1"}`)
	case r.Method == http.MethodPost && r.URL.Path == "/self-service/login":
		w.Header().Set("Location", "https://login.example.com/ui?flow=9f")
		w.Header().Add("Set-Cookie", "csrf_token_1=abc; Path=/; HttpOnly")
		if s.right(r.PostFormValue("password")) {
			w.Header().Add("Set-Cookie", "ory_kratos_session=MTY; Path=/; HttpOnly; SameSite=Lax")
			w.Header().Set("Location", "https://app.example.com/")
		}
		w.WriteHeader(http.StatusSeeOther)
	default:
		fmt.Fprint(w, "{}")
	}
}

func TestKratosBehindTheFront(t *testing.T) {
	for path, c := range map[string]struct {
		body         string
		wrong, right int
	}{
		"deploy/kratos/loginguard.yaml":      {"csrf_token=x&method=password&identifier=%s&password=%%s", http.StatusSeeOther, http.StatusSeeOther},
		"deploy/kratos/loginguard-json.yaml": {`{"method":"password","identifier":"%s","password":"%%s"}`, http.StatusBadRequest, http.StatusOK},
	} {
		t.Run(path, func(t *testing.T) {
			app := newStandIn(t, kratos)
			front, _ := frontOf(t, path, app.URL, "")
			login := front + "/self-service/login?flow=9f"
			as := func(name string) string {
				if c.body[0] != '{' {
					name = url.QueryEscape(name)
				}
				return fmt.Sprintf(c.body, strings.ReplaceAll(name, "%", "%%"))
			}
			smoke(t, login, as("alice@example.com"), c.wrong)
			if n := app.tried.Load(); n != 10 {
				t.Errorf("Kratos verified %d passwords, want 10", n)
			}
			h := signsIn(t, login, as("bob@example.com"), c.right)
			if !strings.Contains(strings.Join(h.Values("Set-Cookie"), "\n"), "__Host-device=") {
				t.Errorf("no device is remembered: %v", h)
			}
			// GET leads to the same handler in Kratos.
			p, err := client.Get(login + "&identifier=alice@example.com&password=right&method=password")
			if err != nil {
				t.Fatal(err)
			}
			defer p.Body.Close()
			if p.StatusCode != http.StatusBadRequest {
				t.Errorf("GET: %d", p.StatusCode)
			}
		})
	}
}
