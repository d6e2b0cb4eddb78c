package front

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// raw sends bytes on a connection of their own and reads all answers until the
// other side ends it, as it must.
func raw(t *testing.T, g *guarded, text string) []*http.Response {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(g.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	var list []*http.Response
	in := bufio.NewReader(conn)
	for {
		res, err := http.ReadResponse(in, nil)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the connection stays open after %.60q", text)
		}
		if err != nil {
			return list
		}
		list = append(list, res)
		if _, err := in.Peek(1); res.ContentLength != 0 && err == nil {
			if _, err := in.Discard(int(res.ContentLength)); err != nil {
				return list
			}
		}
	}
}

// guess is a form login as bytes, for any request target.
func guess(method, target, user, more string) string {
	body := "username=" + user + "&password=wrong"
	return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: app.example\r\nContent-Type: %s\r\nContent-Length: %d\r\n%sConnection: close\r\n\r\n%s",
		method, target, formType, len(body), more, body)
}

// Every way to write the path of the login is guarded like the login itself or
// refused: when the account's attempts are used up, the application hears of
// none of them.
func TestNoSpellingOfThePathIsAWayAround(t *testing.T) {
	a := newApp(t)
	g := start(t, a.URL, behindProxy)
	g.drain("alice")
	before := a.guesses.Load()
	for _, target := range []string{
		"/login", "/l%6Fgin", "/%6c%6f%67%69%6e", "//login", "///login", "/./login", "/a/../login", "/a/b/../../login",
		"/login;x=1", "/login;x=1/y", "/;x/login", "/a;x/../login", "/..;/login", "/LOGIN", "/Login", "/login/", "/login//", "/login/.",
		"/login/x/..", "/%2flogin", "/login%2f", "/%2e/login", "/a/%2e%2e/login", "/a/.%2e/login", "/a/..%2flogin", "/a%2f..%2flogin",
		"/l%256Fgin", "/l%25256Fgin", "/l%2525256Fgin", "/%252e%252e/login", `/\login`, `\login`, `/a\..\login`, "/%5clogin", "/a/..%5clogin",
		"/login%00", "/login%00.png", "/login%0a", "/login%0d%0aX:%20y", "/login%09", "/login%7f", "/login.", "/login..", "/login%20", "/login%20.", "/login+",
		"/login%2e", "/login%3fx", "/login%3f/../y", "/login%23x", "/login#x", "/login?", "/login?x=/../y", "/login?username",
		"http://app.example/login", "http://other.example//login", "HTTP://app.example/l%6fgin", "http://u:p@app.example/login",
		"/login.json", "/login.php", "/login::$DATA", "/login;.css", "/login/;jsessionid=1",
		"/l\u00f6gin", "/%c0%aflogin", "/%c0%ae%c0%ae/login", "/%ef%bc%8flogin", "/logi%ff%6e", "/lo%e2%80%8bgin", "/%EF%BD%8Cogin", "/log\u0131n", "/lo%67%c4%b1n",
		"/%u006cogin", "/%25u006cogin", "*", "login", "http:login", "/login%", "/login%zz",
	} {
		for _, res := range raw(t, g, guess("POST", target, "alice", "X-Forwarded-For: 192.0.2.77\r\n")) {
			if res.StatusCode != 429 && res.StatusCode != 400 {
				t.Errorf("%q: %s", target, res.Status)
			}
		}
	}
	if n := a.guesses.Load() - before; n != 0 {
		t.Errorf("%d guesses went around the front", n)
	}
	// The same paths are guarded for one who has attempts left.
	for i, target := range []string{"/l%6Fgin", "//login", "/LOGIN", "/login;x=1", "/login/", "/login.", `/%5clogin`} {
		res := raw(t, g, guess("POST", target, "bob", fmt.Sprintf("X-Forwarded-For: 20.0.%d.9\r\n", i)))
		if len(res) != 1 || res[0].StatusCode != 401 {
			t.Errorf("%q: %v", target, res)
		}
	}
	for i := range 4 {
		raw(t, g, guess("POST", "/login", "bob", fmt.Sprintf("X-Forwarded-For: 20.1.%d.9\r\n", i)))
	}
	if n := a.guesses.Load() - before; n != 10 {
		t.Errorf("%d of 11 guesses at bob reached the application, want 10", n)
	}
}

func TestMethodCannotBeOverridden(t *testing.T) {
	a := newApp(t)
	g := start(t, a.URL, behindProxy)
	for _, tt := range []struct{ method, target, more string }{
		{"PUT", "/login", "X-HTTP-Method-Override: POST\r\n"},
		{"GET", "/login", "X-HTTP-Method-Override: POST\r\n"},
		{"GET", "//LOGIN", "x-http-method-override: POST\r\n"},
		{"PUT", "/login", "X_HTTP_Method_Override: POST\r\n"},
		{"PUT", "/login", "X-HTTP-Method: POST\r\n"},
		{"PUT", "/login", "X-Method-Override: POST\r\n"},
		{"PUT", "/login?_method=POST", ""},
		{"PUT", "/login?x=1;_method=POST", ""},
		{"PUT", "/login?%5Fmethod=post", ""},
		{"post", "/login", ""},
		{"Post", "/login", ""},
		{"POST", "/login", "X-HTTP-Method-Override: GET\r\n"},
	} {
		res := raw(t, g, guess(tt.method, tt.target, "alice", tt.more))
		if len(res) != 1 || res[0].StatusCode != 400 {
			t.Errorf("%s %s %q: %v", tt.method, tt.target, tt.more, res)
		}
	}
	r := g.do("PUT", "/login", "_method=POST&username=alice", "Content-Type", formType)
	if r.Status != 400 {
		t.Errorf("an override in the form: %d", r.Status)
	}
	if n := a.requests.Load(); n != 0 {
		t.Errorf("%d requests reached the application", n)
	}
	// What overrides nothing passes, body and all.
	if r := g.do("PUT", "/login", "x=1", "Content-Type", formType); r.Status != 200 {
		t.Errorf("PUT: %d", r.Status)
	}
	if _, body := a.last(t); body != "x=1" {
		t.Errorf("the application got %q", body)
	}
}

// Headers that make an application take another path than the one asked for.
func TestPathHeadersDoNotPass(t *testing.T) {
	a := newApp(t)
	g := start(t, a.URL, "")
	g.do("POST", "/other", "", "X-Original-URL", "/login", "X-Rewrite-Url", "/login", "X_Original_URL", "/login", "X-Loginguard-Attempt", "x", "X-Own", "kept")
	r, _ := a.last(t)
	for name := range r.Header {
		if l := strings.ToLower(name); strings.Contains(l, "original") || strings.Contains(l, "rewrite") || strings.Contains(l, "loginguard") {
			t.Errorf("%s passed", name)
		}
	}
	if r.Header.Get("X-Own") != "kept" {
		t.Error("another header was lost")
	}
}

func TestUnguardedPathsPassOrAreNotThere(t *testing.T) {
	a := newApp(t)
	open := start(t, a.URL, "")
	for _, target := range []string{"/", "/logins", "/login2", "/x/login", "/a%20b?q=1;2&%zz", "/login/deeper", "/%E9"} {
		r := raw(t, open, guess("POST", target, "alice", ""))
		if len(r) != 1 || r[0].StatusCode != 200 {
			t.Fatalf("%q: %v", target, r)
		}
		if got, _ := a.last(t); got.RequestURI != target {
			t.Errorf("%q arrived as %q", target, got.RequestURI)
		}
	}
	before := a.requests.Load()
	closed := startWith(t, "server: {front: {listen: \"127.0.0.1:0\"}}\nfront:\n  pass_through: false\n  upstream: "+a.URL+rules)
	for _, path := range []string{"/", "/logins", "/login/x/y"} {
		if r := closed.do("POST", path, ""); r.Status != 404 {
			t.Errorf("%s: %d", path, r.Status)
		}
	}
	if n := a.requests.Load() - before; n != 0 {
		t.Errorf("%d requests reached the application", n)
	}
	if r := closed.login("carol", password); r.Status != 200 {
		t.Errorf("the login: %d %s", r.Status, r.Body)
	}
}
