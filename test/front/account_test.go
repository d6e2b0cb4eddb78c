package front

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func multipart(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString("--XyZ\r\n" + p + "\r\n")
	}
	return b.String() + "--XyZ--\r\n"
}

func field(name, value string) string {
	return "Content-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value
}

// What the application might read another account from than the guard is
// refused, and no guess of it is made.
func TestAmbiguousAndMissingAccountsAreRefused(t *testing.T) {
	a := newApp(t)
	g := start(t, a.URL, "")
	const multi = "multipart/form-data; boundary=XyZ"
	for _, tt := range []struct{ name, path, contentType, body string }{
		{"empty form", "/login", formType, ""},
		{"no field", "/login", formType, "password=x"},
		{"empty field", "/login", formType, "username=&password=x"},
		{"blank field", "/login", formType, "username=++&password=x"},
		{"field twice", "/login", formType, "username=a&username=b"},
		{"field twice, encoded", "/login", formType, "username=a&%75sername=b"},
		{"field in other case", "/login", formType, "username=a&Username=b"},
		{"only in other case", "/login", formType, "USERNAME=b"},
		{"field as list", "/login", formType, "username=a&username[]=b"},
		{"field as element", "/login", formType, "username=a&username%5B0%5D=b"},
		{"field with blank", "/login", formType, "username=a&+username=b"},
		{"field with NUL", "/login", formType, "username=a&username%00x=b"},
		{"in query, too", "/login?username=b", formType, "username=a"},
		{"in query behind semicolon", "/login?x;username=b", formType, "username=a"},
		{"in query as list", "/login?username[]=b", formType, "username=a"},
		{"semicolon separates", "/login", formType, "username=a;username=b"},
		{"bad escape", "/login", formType, "username=%zz"},
		{"half an escape", "/login", formType, "username=a&x=%"},
		{"not UTF-8", "/login", formType, "username=%ff"},
		{"NUL", "/login", formType, "username=alice%00x"},
		{"line end", "/login", formType, "username=alice%0ax"},
		{"charset field", "/login", formType, "_charset_=utf-7&username=a"},
		{"other charset", "/login", formType + "; charset=utf-16", "username=a"},
		{"latin-1", "/login", formType + "; charset=iso-8859-1", "username=a"},
		{"json for a form", "/login", jsonType, `{"username":"a"}`},
		{"text for a form", "/login", "text/plain", "username=a"},
		{"no type", "/login", "", "username=a"},
		{"too long", "/login", formType, "username=" + strings.Repeat("a", 1025)},
		{"nested twice", "/redirecting", formType, "user[email]=a&user.email=b"},
		{"nested and flat", "/redirecting", formType, "user[email]=a&user_email=b"},
		{"nested in query", "/redirecting?user[email]=b", formType, "user[email]=a"},
		{"other half in query", "/redirecting?user=b", formType, "user[email]=a"},

		{"empty body", "/api/login", jsonType, ""},
		{"no member", "/api/login", jsonType, `{"password":"x"}`},
		{"null", "/api/login", jsonType, `{"username":null}`},
		{"number", "/api/login", jsonType, `{"username":42}`},
		{"list", "/api/login", jsonType, `{"username":["alice"]}`},
		{"object", "/api/login", jsonType, `{"username":{"$gt":""}}`},
		{"true", "/api/login", jsonType, `{"username":true}`},
		{"empty", "/api/login", jsonType, `{"username":""}`},
		{"member twice", "/api/login", jsonType, `{"username":"a","username":"b"}`},
		{"member in other case", "/api/login", jsonType, `{"username":"a","Username":"b"}`},
		{"in other case first", "/api/login", jsonType, `{"USERNAME":"a","username":"b"}`},
		{"member with a sign", "/api/login", jsonType, `{"username":"a","user_name":"b"}`},
		{"only in other case", "/api/login", jsonType, `{"Username":"a"}`},
		{"long s", "/api/login", jsonType, `{"u\u017fername":"a"}`},
		{"twice, escaped", "/api/login", jsonType, `{"username":"a","user\u006eame":"b"}`},
		{"name with NUL", "/api/login", jsonType, `{"username":"a","username\u0000":"b"}`},
		{"value with NUL", "/api/login", jsonType, `{"username":"a\u0000b"}`},
		{"half a character", "/api/login", jsonType, `{"username":"\ud800"}`},
		{"not UTF-8", "/api/login", jsonType, "{\"username\":\"\xff\"}"},
		{"batch", "/api/login", jsonType, `[{"username":"a"},{"username":"b"}]`},
		{"two documents", "/api/login", jsonType, `{"username":"a"}{"username":"b"}`},
		{"comment", "/api/login", jsonType, `{"username":"a"/*,"username":"b"*/}`},
		{"byte order mark", "/api/login", jsonType, "\ufeff" + `{"username":"a"}`},
		{"in query, too", "/api/login?username=b", jsonType, `{"username":"a"}`},
		{"form for json", "/api/login", formType, `username=a`},
		{"text for json", "/api/login", "text/plain", `{"username":"a"}`},
		{"no type", "/api/login", "", `{"username":"a"}`},
		{"utf-16", "/api/login", jsonType + "; charset=utf-16", `{"username":"a"}`},

		{"multipart twice", "/login", multi, multipart(field("username", "a"), field("username", "b"))},
		{"multipart other case", "/login", multi, multipart(field("username", "a"), field("userName", "b"))},
		{"multipart as a file", "/login", multi, multipart("Content-Disposition: form-data; name=\"username\"; filename=\"x\"\r\n\r\na")},
		{"multipart without quotes", "/login", multi, multipart("Content-Disposition: form-data; name=username\r\n\r\na")},
		{"multipart name*", "/login", multi, multipart("Content-Disposition: form-data; name*=utf-8''username\r\n\r\na")},
		{"multipart two names", "/login", multi, multipart("Content-Disposition: form-data; name=\"x\"; name=\"username\"\r\n\r\na")},
		{"multipart escaped name", "/login", multi, multipart("Content-Disposition: form-data; name=\"user\\name\"\r\n\r\na")},
		{"multipart folded header", "/login", multi, multipart("Content-Disposition: form-data;\r\n name=\"username\"\r\n\r\na")},
		{"multipart two dispositions", "/login", multi, multipart("Content-Disposition: form-data; name=\"x\"\r\nContent-Disposition: form-data; name=\"username\"\r\n\r\na")},
		{"multipart base64", "/login", multi, multipart("Content-Disposition: form-data; name=\"username\"\r\nContent-Transfer-Encoding: base64\r\n\r\nYQ==")},
		{"multipart utf-16 part", "/login", multi, multipart("Content-Disposition: form-data; name=\"username\"\r\nContent-Type: text/plain; charset=utf-16\r\n\r\na")},
		{"multipart preamble", "/login", multi, "x\r\n" + multipart(field("username", "a"))},
		{"multipart epilogue", "/login", multi, multipart(field("username", "a")) + "--XyZ\r\n" + field("username", "b") + "\r\n--XyZ--\r\n"},
		{"multipart bare LF", "/login", multi, strings.ReplaceAll(multipart(field("username", "a")), "\r\n", "\n")},
		{"multipart not ended", "/login", multi, "--XyZ\r\n" + field("username", "a")},
		{"multipart inner delimiter", "/login", multi, multipart(field("x", "\n--XyZ\n"+field("username", "b")), field("username", "a"))},
		{"multipart two boundaries", "/login", "multipart/form-data; boundary=XyZ; boundary=AbC", multipart(field("username", "a"))},
		{"multipart boundary*", "/login", "multipart/form-data; boundary=XyZ; boundary*=utf-8''AbC", multipart(field("username", "a"))},
		{"multipart boundary of two", "/login", "multipart/form-data; boundary=XyZ,AbC", multipart(field("username", "a"))},
		{"multipart no boundary", "/login", "multipart/form-data", multipart(field("username", "a"))},
	} {
		var headers []string
		if tt.contentType != "" {
			headers = []string{"Content-Type", tt.contentType}
		}
		r := g.do("POST", tt.path, tt.body, headers...)
		var p struct {
			Type, Title, Detail string
			Status              int
		}
		if r.Status != 400 || json.Unmarshal([]byte(r.Body), &p) != nil || p.Status != 400 || p.Detail == "" ||
			r.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s: %d %s", tt.path, tt.name, r.Status, r.Body)
		}
	}
	for _, tt := range []struct {
		name, method, path string
		status             int
		headers            []string
	}{
		{"type twice", "POST", "/login", 400, []string{"Content-Type", formType, "Content-Type", jsonType}},
		{"type in another spelling", "POST", "/login", 400, []string{"Content-Type", formType, "Content_Type", jsonType}},
		{"compressed", "POST", "/login", 400, []string{"Content-Type", formType, "Content-Encoding", "gzip"}},
		{"type named by Connection", "POST", "/login", 400, []string{"Content-Type", formType, "Connection", "Content-Type"}},
		{"no header", "POST", "/by-header", 400, nil},
		{"empty header", "POST", "/by-header", 400, []string{"X-Login", " "}},
		{"two headers", "POST", "/by-header", 400, []string{"X-Login", "a", "X-Login", "b"}},
		{"header in two spellings", "POST", "/by-header", 400, []string{"X-Login", "a", "X_Login", "b"}},
		{"header named by Connection", "POST", "/by-header", 400, []string{"X-Login", "a", "Connection", "X-Login"}},
		{"header not UTF-8", "POST", "/by-header", 400, []string{"X-Login", "a\xff"}},
		{"no credentials", "GET", "/basic", 401, nil},
		{"bearer", "GET", "/basic", 400, []string{"Authorization", "Bearer x"}},
		{"not base64", "GET", "/basic", 400, []string{"Authorization", "Basic YWxpY2U6eA"}},
		{"no colon", "GET", "/basic", 400, []string{"Authorization", "Basic YWxpY2U="}},
		{"no name", "GET", "/basic", 400, []string{"Authorization", "Basic Ong="}},
		{"two of them", "GET", "/basic", 400, []string{"Authorization", "Basic YTp4", "Authorization", "Basic Yjp4"}},
		{"HEAD", "HEAD", "/basic", 401, nil},
	} {
		r := g.do(tt.method, tt.path, "username=a", tt.headers...)
		if r.Status != tt.status {
			t.Errorf("%s: %d %s, want %d", tt.name, r.Status, r.Body, tt.status)
		}
		if r.Status == 401 && !strings.HasPrefix(r.Header.Get("WWW-Authenticate"), "Basic ") {
			t.Errorf("%s: not asked for Basic: %v", tt.name, r.Header)
		}
	}
	if n := a.requests.Load(); n != 0 {
		t.Errorf("%d requests reached the application: %q", n, a.bodies())
	}
}

// One account in all its spellings has one bucket.
func TestSpellingsOfAnAccountAreOne(t *testing.T) {
	a := newApp(t)
	g := start(t, a.URL, behindProxy)
	for i, user := range []string{"alice", "ALICE", "%20alice", "alice++", "Alice", "a%EF%BD%8Cice", "al%E2%80%8Bice", "alice", "alice", "alice", "Alice"} {
		want := 401
		if i == 10 {
			want = 429
		}
		if r := g.login(user, "wrong", away(i)...); r.Status != want {
			t.Errorf("%s: %d %s", user, r.Status, r.Body)
		}
	}
}

func TestRouteWithoutAccountNeedsNone(t *testing.T) {
	a := newApp(t)
	g := startWith(t, `
routes:
  kiosk: {cost: 10, success: none, account: none}
server: {front: {listen: "127.0.0.1:0"}}
front:
  upstream: `+a.URL+`
  rules:
    - {methods: [POST], path: /code, route: kiosk, success: {status: [200]}, failure: {status: [401]}}
`)
	for i, want := range []int{200, 200, 200, 429} { // 30 tokens of one address, 10 each
		if r := g.do("POST", "/code", fmt.Sprint(i)); r.Status != want {
			t.Errorf("attempt %d: %d %s, want %d", i+1, r.Status, r.Body, want)
		}
	}
}
