package front

import (
	"net/http"
	"strings"
	"testing"
)

// Applications find a page behind a format, behind the program that serves all
// of them, and behind both: when the account's attempts are used up, they hear
// of none of these.
func TestFormatsAndProgramsAreNoWayAround(t *testing.T) {
	a := newApp(t)
	g := start(t, a.URL, behindProxy)
	g.drain("alice")
	before := a.requests.Load()
	for _, target := range []string{
		"/login.123", "/login.superlongformat", "/login.x-y", "/login.a_b", "/login.1a", "/login.%E6%97%A5", "/login%2e123", "/login.json.json",
		"/login.%5cb", "/login.%2fb", "/login.a%2fb", "/login.a%5cb", "/;x=1%2fy/login", "/;x%252fy/login", "/login.json/", "/login/.json", "/login..json", "/login.a%20b", "/login.%f0%9f%98%80x", "/LOGIN.V1", "/login.1;x", "/login.tar.gz", "/login.%6a",
		"/index.php/login", "/app.cgi/login", "/index.aspx/login", "/sub/index.php/login", "/cgi-bin/app.fcgi/login", "/INDEX.PHP/login",
		"/index.php//login", "/index.php;x/login", "/index%2ephp/login", "/index.php%2flogin", "/index.php/login.json", "/index.php5/login",
		"/a.php/b.php/login", "/index.php.en/login", "/index.cfm/login", "/index.php/login/", "/index.php::$DATA/login", "/index/login",
		"/x.do/login", "/x.action/login.12",
	} {
		for _, res := range raw(t, g, guess("POST", target, "alice", "X-Forwarded-For: 20.9.9.9\r\n")) {
			if res.StatusCode != http.StatusTooManyRequests && res.StatusCode != http.StatusBadRequest {
				t.Errorf("%s: %d", target, res.StatusCode)
			}
		}
	}
	if n := a.requests.Load() - before; n != 0 {
		t.Errorf("%d guesses went around the front", n)
	}
}

// Two readings of one path that are logins of different kinds would let the
// account be read for one and tried at the other.
func TestPathOfTwoLoginsIsRefused(t *testing.T) {
	a := newApp(t)
	g := startWith(t, "server: {front: {listen: \"127.0.0.1:0\"}}\nfront:\n  upstream: "+a.URL+`
  rules:
    - {methods: [POST], path: /login.php, route: login, account: {form: username}, success: {status: [200]}, failure: {status: [401]}}
    - {methods: [POST], path: /reset, route: password_reset, account: {form: email}, success: {status: [200]}, failure: {status: [401]}}
`)
	for _, target := range []string{"/login.php/reset", "/LOGIN.PHP/reset", "/login.php;/reset", "/login.php/index.php/reset"} {
		r := g.do("POST", target, "email=decoy&username=victim&password=x", "Content-Type", formType)
		if r.Status != http.StatusBadRequest {
			t.Errorf("%s: %d", target, r.Status)
		}
	}
	if n := a.requests.Load(); n != 0 {
		t.Errorf("%d requests reached the application", n)
	}
}

// Fields that some application stores where it stores the account's, or in
// place of it: PHP ignores what follows ], qs what stands between two brackets,
// Rack what is not closed, Spring quotes, and ASP.NET prefers fields with the
// name of a parameter in front.
func TestFieldsThatMayReplaceTheAccountAreRefused(t *testing.T) {
	a := newApp(t)
	g := start(t, a.URL, "")
	const nested, plain = "user[email]", "username"
	for _, tt := range []struct{ want, name string }{
		{nested, "user[email]x"}, {nested, "user[email]x[y]"}, {nested, "user[email]-"}, {nested, "user[email]%E2%80%8B"}, {nested, "user[email]]x"},
		{nested, "user[email]]"}, {nested, "user[email]%00"}, {nested, "user[email]+"}, {nested, "user[email]_"}, {nested, "user[email]2"},
		{nested, "USER[Email]x"}, {nested, "+user[email]x"}, {nested, "user[email"}, {nested, "user[email%00]"}, {nested, "user]email"},
		{nested, "[user][email]"}, {nested, "user[][email]"}, {nested, "user[[email]"}, {nested, "user['email']"}, {nested, `user["email"]`},
		{nested, "user('email')"}, {nested, "user+email"}, {nested, "user.email.x"}, {nested, "user_email[]"}, {nested, "user.email[0]"},
		{nested, "user"}, {nested, "user[]"}, {nested, "user]"}, {nested, "model.user.email"}, {nested, "user[email]x=y]"}, {nested, "userEmail"},
		{plain, "username]"}, {plain, "username]x"}, {plain, "username["}, {plain, "username[x"}, {plain, "[username]"}, {plain, "+%09username"},
		{plain, "username%E2%80%8B"}, {plain, "username:string"}, {plain, "user_name"}, {plain, "user-name"}, {plain, "user.name"},
		{plain, "model.Username"}, {plain, "model[Username]"}, {plain, "!username"}, {plain, "user%ffname"}, {plain, "%00username"},
	} {
		path := map[string]string{nested: "/redirecting", plain: "/login"}[tt.want]
		for _, body := range []string{tt.want + "=decoy&" + tt.name + "=victim", tt.name + "=victim&" + tt.want + "=decoy"} {
			if r := g.do("POST", path, body, "Content-Type", formType); r.Status != http.StatusBadRequest {
				t.Errorf("%s: %d %s", body, r.Status, r.Body)
			}
		}
		if r := g.do("POST", path+"?"+tt.name+"=victim", tt.want+"=decoy", "Content-Type", formType); r.Status != http.StatusBadRequest {
			t.Errorf("query %s: %d %s", tt.name, r.Status, r.Body)
		}
		if strings.ContainsAny(tt.name, `%+"`) {
			continue // written in another way in multipart, where most of it is refused anyway
		}
		body := multipart(field(tt.want, "decoy"), field(tt.name, "victim"))
		if r := g.do("POST", path, body, "Content-Type", "multipart/form-data; boundary=XyZ"); r.Status != http.StatusBadRequest {
			t.Errorf("multipart %s: %d %s", tt.name, r.Status, r.Body)
		}
	}
	if n := a.requests.Load(); n != 0 {
		t.Errorf("%d requests reached the application: %q", n, a.bodies())
	}
	for path, body := range map[string]string{
		"/login":       "username=carol&password=x&username_hint=1&username2=2&remember[me]=1&utf8=%E2%9C%93&_csrf=x&=&[]=&next=/&login=Log+in",
		"/redirecting": "user[email]=carol&user[password]=x&user[email_confirmation]=y&user[remember_me]=0&commit=Log+in&email=z&users[email]=q",
	} {
		if r := g.do("POST", path, body, "Content-Type", formType); r.Status == http.StatusBadRequest {
			t.Errorf("an honest form is refused: %s: %s", body, r.Body)
		}
	}
}

func TestMethodFieldCannotBeDisguised(t *testing.T) {
	a := newApp(t)
	g := start(t, a.URL, "")
	for _, name := range []string{"+_method", "_method[]", "_method[x", "[_method]", "_method]x", "_method%00", "_method%00x", ".method", "%09_method", "_METHOD"} {
		if r := g.do("PUT", "/login", name+"=POST&username=alice", "Content-Type", formType); r.Status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", name, r.Status, r.Body)
		}
		if r := g.do("PUT", "/login?"+name+"=POST", ""); r.Status != http.StatusBadRequest {
			t.Errorf("query %s: %d %s", name, r.Status, r.Body)
		}
	}
	if n := a.requests.Load(); n != 0 {
		t.Errorf("%d requests reached the application", n)
	}
	if r := g.login("alice", password+"&method=password"); r.Status == http.StatusBadRequest {
		t.Errorf("a field called method is refused: %s", r.Body)
	}
}
