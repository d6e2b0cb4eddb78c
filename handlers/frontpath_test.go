package handlers

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
	"pgregory.net/rapid"
)

// readers are ways in which servers find the page of a request target: each
// returns the path as it compares it.
var readers = map[string]func(u *url.URL) string{
	"ServeMux": func(u *url.URL) string {
		mux := http.NewServeMux()
		for _, p := range []string{"/login", "/api/login"} {
			mux.HandleFunc(p, func(http.ResponseWriter, *http.Request) {})
		}
		_, pattern := mux.Handler(&http.Request{Method: "POST", URL: u, Host: "x"})
		return pattern
	},
	"Echo": func(u *url.URL) string {
		e := echo.New()
		found := ""
		for _, p := range []string{"/login", "/api/login"} {
			e.POST(p, func(c echo.Context) error { found = c.Path(); return nil })
		}
		e.ServeHTTP(httptest.NewRecorder(), &http.Request{Method: "POST", URL: u, Header: http.Header{}, Body: http.NoBody})
		return found
	},
	"raw": func(u *url.URL) string { return u.EscapedPath() },
	"nginx": func(u *url.URL) string { // decodes, merges slashes, resolves dots
		return path.Clean("/" + unescape(u.EscapedPath()))
	},
	"lower case": func(u *url.URL) string { return strings.ToLower(path.Clean(unescape(u.EscapedPath()))) },
	"twice":      func(u *url.URL) string { return path.Clean(unescape(unescape(u.EscapedPath()))) },
	"thrice":     func(u *url.URL) string { return path.Clean(unescape(unescape(unescape(u.EscapedPath())))) },
	"dots before decoding": func(u *url.URL) string {
		return unescape(path.Clean(u.EscapedPath()))
	},
	"Windows": func(u *url.URL) string {
		p := path.Clean(strings.ReplaceAll(unescape(u.EscapedPath()), `\`, "/"))
		list := strings.Split(strings.ToLower(p), "/")
		for i := range list {
			list[i] = strings.TrimRight(list[i], ". ")
		}
		return strings.Join(list, "/")
	},
	"servlet": func(u *url.URL) string { // parameters go first, then dots
		list := strings.Split(u.EscapedPath(), "/")
		for i := range list {
			list[i], _, _ = strings.Cut(list[i], ";")
		}
		return path.Clean(unescape(strings.Join(list, "/")))
	},
	"cut": func(u *url.URL) string {
		p := unescape(u.EscapedPath())
		if i := strings.IndexAny(p, ";?#\x00"); i >= 0 {
			p = p[:i]
		}
		return path.Clean(p)
	},
	"resolved with empty segments": func(u *url.URL) string { // RFC 3986 to the letter
		return (&url.URL{Path: "/"}).ResolveReference(&url.URL{Path: unescape(u.EscapedPath())}).Path
	},
	"formats": func(u *url.URL) string { // Rails
		p := strings.TrimRight(unescape(u.EscapedPath()), "/")
		return format.ReplaceAllString(p, "")
	},
	"front controller": func(u *url.URL) string { // PATH_INFO
		p := path.Clean(unescape(u.EscapedPath()))
		if at := runs.FindStringIndex(p); at != nil {
			return p[at[1]:]
		}
		return p
	},
	"front controller and formats": func(u *url.URL) string {
		p := strings.TrimRight(unescape(u.EscapedPath()), "/")
		return format.ReplaceAllString(runs.ReplaceAllString(p, ""), "")
	},
}

var (
	format = regexp.MustCompile(`\.[^./?]+$`)
	runs   = regexp.MustCompile(`^(/[^/]*)*?/[^/]+\.(php|cgi|aspx)\b`)
)

func unescape(s string) string { return decodePercent(s) }

// covered tells whether the front guards or refuses a target.
func covered(rules *frontRules, u *url.URL) bool {
	if u.Opaque != "" || u.Path != "" && u.Path[0] != '/' {
		return true
	}
	list, err := spellings(u.EscapedPath())
	if err != nil {
		return true
	}
	rule, _, err := rules.match("POST", list)
	return rule != nil || err != nil
}

func loginRules(t testing.TB) *frontRules {
	t.Helper()
	rules := &frontRules{}
	for _, p := range []string{"/login", "/api/login"} {
		r, err := FrontRule{Methods: []string{"POST"}, Path: p}.ready()
		if err != nil {
			t.Fatal(err)
		}
		rules.rules = append(rules.rules, r)
	}
	return rules
}

// checkTarget fails when a server would show a guarded page for a target that
// the front neither guards nor refuses.
func checkTarget(t interface{ Errorf(string, ...any) }, rules *frontRules, target string) {
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return // net/http answers 400
	}
	for name, read := range readers {
		p := strings.TrimRight(read(u), "/")
		if slices.Contains([]string{"/login", "/api/login"}, p) && !covered(rules, u) {
			t.Errorf("%q is %s to the reader %q and goes around the front", target, p, name)
		}
	}
}

func TestEveryReadingOfTheLoginIsCovered(t *testing.T) {
	rules := loginRules(t)
	pieces := []string{"/", "/", "login", "LOGIN", "api", "a", "..", ".", "%2e", "%2f", "%5c", `\`, ";x=1", ";", "%3b", "%3f", "%23", "%00", "%20", " ",
		"%6c", "%256c", "ogin", "%25", "%252e", "%252f", "l", "/login", "/api/login", ".json", ".123", ".a-b", ".%5c", "/index.php", "/x.cgi", "%c0%af", "+", "?x=1", "%ff", "//"}
	rapid.Check(t, func(t *rapid.T) {
		checkTarget(t, rules, "/"+strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 8).Draw(t, "pieces"), ""))
	})
}

func FuzzPath(f *testing.F) {
	for _, s := range []string{"/login", "//login", "/a/../login", "/l%256fgin", "/login;x/y", `/\login`, "/login%00", "/..;/login", "/login/x/..",
		"/login%3f/..", "/%c0%aflogin", "/LOGIN.", "http://h/login", "/login.json", "/login//..", "/x;/../login", "/login;/../x", "/api//login", "/login.1-x", "/a/index.php/login.x", "/x.cgi/y.php/login"} {
		f.Add(s)
	}
	rules := loginRules(f)
	f.Fuzz(func(t *testing.T, target string) { checkTarget(t, rules, target) })
}

func TestMatchFindsTheRule(t *testing.T) {
	rules := &frontRules{}
	for _, r := range []FrontRule{
		{Methods: []string{"POST"}, Path: "/login", Route: "form"},
		{Methods: []string{"POST"}, Path: "/login.json", Route: "json"},
		{Methods: []string{"GET"}, Path: "/login", Route: "basic"},
		{Methods: []string{"POST"}, Path: "/wp-login.php", Route: "wp"},
		{Methods: []string{"POST"}, Path: "/v1/accounts:signIn", Route: "verb"},
		{Methods: []string{"POST"}, Path: "/über/登录", Route: "unicode"},
		{Methods: []string{"POST"}, Path: "/", Route: "root"},
		{Methods: []string{"POST"}, Path: "/shop/index.php/sign-in", Route: "shop"},
		{Methods: []string{"POST"}, Path: "/admin/index.php", Route: "admin"},
	} {
		ready, err := r.ready()
		if err != nil {
			t.Fatal(err)
		}
		rules.rules = append(rules.rules, ready)
	}
	for _, tt := range []struct {
		method, path, route string
		known               bool
	}{
		{"POST", "/login", "form", true},
		{"POST", "/login.json", "json", true},
		{"POST", "/LOGIN.JSON", "json", true},
		{"POST", "/login.xml", "form", true},
		{"GET", "/login/", "basic", true},
		{"HEAD", "/login", "basic", true},
		{"PUT", "/login", "", true},
		{"POST", "/wp-login.php/x", "wp", true},
		{"POST", "/wp-login", "wp", true},
		{"POST", "/login/x", "", false},
		{"POST", "/log-in", "", false},
		{"POST", "/v1/accounts:signIn", "verb", true},
		{"POST", "/v1/accounts:signUp", "", false},
		{"POST", "/v1/accounts", "", false},
		{"POST", "/%C3%BCber/%E7%99%BB%E5%BD%95", "unicode", true},
		{"POST", "/%E7%99%BB%E5%BD%95", "", false},
		{"POST", "", "root", true},
		{"POST", "//", "root", true},
		{"POST", "/;x", "root", true},
		{"POST", "/index.php", "root", true},
		{"POST", "/upload.php", "", false},
		{"POST", "/login.tar.gz", "form", true},
		{"POST", "/index.php/login.json", "json", true},
		{"POST", "/app/x.cgi/LOGIN", "form", true},
		{"POST", "/wp-login/x", "wp", true},
		{"POST", "/wp-login.php5/x", "wp", true},
		{"POST", "/v1/2.0/login", "", false},
		{"POST", "/shop/index.php/sign-in", "shop", true},
		{"POST", "/shop/sign-in", "shop", true},
		{"POST", "/shop/index/sign-in.html", "shop", true},
		{"POST", "/admin", "admin", true},
		{"POST", "/admin/index.php", "admin", true},
		{"POST", "/admin/users", "", false},
	} {
		list, err := spellings(tt.path)
		if err != nil {
			t.Errorf("%s: %v", tt.path, err)
			continue
		}
		rule, known, err := rules.match(tt.method, list)
		if err != nil {
			t.Errorf("%s: %v", tt.path, err)
		}
		route := ""
		if rule != nil {
			route = rule.Route
		}
		if route != tt.route || known != tt.known {
			t.Errorf("%s %s: rule %q, known %v, want %q, %v", tt.method, tt.path, route, known, tt.route, tt.known)
		}
	}
}

func TestPathOfTwoRulesIsRefused(t *testing.T) {
	rules := &frontRules{}
	for _, p := range []string{"/login.php", "/reset", "/index.php/reset"} {
		r, err := FrontRule{Methods: []string{"POST"}, Path: p}.ready()
		if err != nil {
			t.Fatal(err)
		}
		rules.rules = append(rules.rules, r)
	}
	for p, want := range map[string]string{
		"/login.php/reset": "", "/login/reset": "/login.php", "/x.php/reset": "/reset", "/index.php/reset": "/index.php/reset",
		"/login.php;/reset": "", "/login.php/x.cgi/reset": "", "/a.php/b.php/c.php/d.php/x": "none", "/a.php/b.php/c.php/d.php/e.php/x": "",
	} {
		list, err := spellings(p)
		if err != nil {
			t.Fatal(err)
		}
		rule, _, err := rules.match("POST", list)
		got := "none"
		if err != nil {
			got = ""
		} else if rule != nil {
			got = rule.Path
		}
		if got != want {
			t.Errorf("%s is %q, want %q", p, got, want)
		}
	}
}

func TestPathsWithMoreThanOneMeaningAreRefused(t *testing.T) {
	for _, p := range []string{"/..", "/a/../b", "/a/%2e%2e/b", "/a/%252e./b", `/a\..\b`, "/a/..;x/b", "/.", "/a/. /b", "/a/.%20./b", "/...",
		"/%00", "/a%0ab", "/a%7fb", "/a%c2%85b", "/%25252541", "/%u0041", "/%25u0041", "/%c0%ae%c0%ae/b", "/a%2500"} {
		if list, err := spellings(p); err == nil {
			t.Errorf("%s: read as %q", p, list)
		}
	}
	for _, p := range []string{"/a.b/c..d", "/100%25", "/a%20b", "/%E9t%E9", "/x;v=1.0", "/~user/@me", "/a//b", "/.well-known/x"} {
		if _, err := spellings(p); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
}

func TestRulesNeedPlainPaths(t *testing.T) {
	for _, p := range []string{"login", "/a/../login", "/l%6fgin", "/login;x", `/a\b`, "/a?b", "/a#b", "/./a", "/a\x00"} {
		if err := CheckFrontPath(p); err == nil {
			t.Errorf("%q is accepted", p)
		}
	}
}
