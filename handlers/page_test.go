package handlers

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
)

func TestPageWithoutItsScript(t *testing.T) {
	b := newBench(t, func(c *Config, f *fakeEngine) { c.Version, f.down = "<script>1</script>", true })
	w := serve(b.Admin(), httptest.NewRequest("GET", "/", nil))
	body := w.Body.String()
	if w.Code != 200 || w.Header().Get("Content-Type") != "text/html; charset=UTF-8" {
		t.Errorf("got %s", dump(w))
	}
	for _, want := range []string{"&lt;script&gt;1", "The store is down", `href="/metrics"`, `href="/readyz"`, `href="/v1/status"`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
	if strings.Contains(body, "<script>") {
		t.Errorf("markup came through: %s", body)
	}
}

// TestPageFilesKeepToThemselves checks what a browser is told of every file,
// and that the files name nothing that is elsewhere or inline.
func TestPageFilesKeepToThemselves(t *testing.T) {
	b := newBench(t)
	entries, err := pageFiles.ReadDir("page")
	if err != nil || len(entries) < 3 {
		t.Fatalf("files %v: %v", entries, err)
	}
	inline := regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+=|<script(?:>| [^>]*>[^<])|innerHTML|outerHTML\s*=|insertAdjacent|document\.write|eval\(|https?://`)
	kinds := map[string]string{"html": "text/html; charset=UTF-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
	for _, e := range entries {
		path := "/page/" + e.Name()
		if strings.HasSuffix(path, ".html") {
			path = "/"
		}
		w := serve(b.Admin(), httptest.NewRequest("GET", path, nil))
		_, ext, _ := strings.Cut(e.Name(), ".")
		if w.Code != 200 || w.Header().Get("Content-Type") != kinds[ext] {
			t.Errorf("%s: got %d %s", path, w.Code, w.Header().Get("Content-Type"))
		}
		for name, want := range map[string]string{
			"X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
			"Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
		policy := w.Header().Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self';", "style-src 'self';", "connect-src 'self';", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: no %s in the policy %q", path, want, policy)
			}
		}
		for _, bad := range inline.FindAllString(strings.ReplaceAll(w.Body.String(), "http://www.w3.org/2000/svg", ""), -1) {
			t.Errorf("%s has %q", path, bad)
		}
	}
	for _, path := range []string{"/page/page.html", "/page/", "/page", "/page/..%2fpage.css", "/page/nothing.js"} {
		if w := serve(b.Admin(), httptest.NewRequest("GET", path, nil)); w.Code != 404 {
			t.Errorf("%s: got %d", path, w.Code)
		}
	}
}

// TestForeignPagesCannotActForAnOperator sends what a browser on an operator's
// machine sends when another page tells it to: with the operator's key, which
// such a page cannot know, and without one at the machine itself.
func TestForeignPagesCannotActForAnOperator(t *testing.T) {
	for _, tt := range []struct {
		name                string
		host, site, origin  string
		key, kind           string
		keyed, keyless, api int // status with callers and without any, and of the API without any
	}{
		{"our page", "127.0.0.1:8081", "same-origin", "http://127.0.0.1:8081", "", typeJSON, 200, 200, 200},
		{"no browser", "127.0.0.1:8081", "", "", "", typeJSON, 200, 200, 200},
		{"a foreign page", "127.0.0.1:8081", "cross-site", "https://evil.example", "", typeJSON, 403, 403, 403},
		{"a foreign page that hides its origin", "127.0.0.1:8081", "cross-site", "null", "", typeJSON, 403, 403, 403},
		{"a foreign page, no Origin sent", "127.0.0.1:8081", "cross-site", "", "", typeJSON, 403, 403, 200},
		{"an old browser, a foreign page", "127.0.0.1:8081", "", "https://evil.example", "", typeJSON, 401, 403, 403},
		{"a page on another port of this machine", "127.0.0.1:8081", "same-site", "http://127.0.0.1:3000", "", typeJSON, 403, 403, 200},
		{"a rebound name", "evil.example:8081", "same-origin", "http://evil.example:8081", "", typeJSON, 401, 403, 403},
		{"a rebound name, an old browser", "evil.example:8081", "", "", "", typeJSON, 401, 403, 403},
		{"a form, which needs no permission", "127.0.0.1:8081", "", "", "", "text/plain", 415, 415, 415},
		{"a foreign page with the key that a browser kept", "127.0.0.1:8081", "cross-site", "https://evil.example", adminKey, typeJSON, 403, 403, 403},
	} {
		for _, keyless := range []bool{false, true} {
			b := newBench(t, func(c *Config, f *fakeEngine) {
				if keyless {
					loopback(c, f)
				}
			})
			ask := func(h http.Handler, path, body string) int {
				r := local(post(path, body, "Authorization", "", "Sec-Fetch-Site", tt.site, "Origin", tt.origin, "Content-Type", tt.kind, "X-API-Key", tt.key))
				r.Host = tt.host
				return serve(h, r).Code
			}
			want := tt.keyed
			if keyless {
				want = tt.keyless
			}
			for path, body := range map[string]string{"/v1/forget": `{"account":"alice"}`, "/v1/explain": goodCheck} {
				if got := ask(b.Admin(), path, body); got != want {
					t.Errorf("%s, keyless %v, %s: got %d, want %d", tt.name, keyless, path, got, want)
				}
				if got := ask(b.API(), path, body); keyless && got != tt.api {
					t.Errorf("%s, API, %s: got %d, want %d", tt.name, path, got, tt.api)
				}
			}
			// JSON from elsewhere needs a preflight, and this is no permission.
			w := serve(b.Admin(), local(httptest.NewRequest("OPTIONS", "/v1/forget", nil)))
			for name := range w.Header() {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("a preflight was answered %s", dump(w))
				}
			}
		}
	}
}

func TestReadersAreBounded(t *testing.T) {
	readers := atMost(2)
	var within func(more int) error // that many readers, each while the one before still reads
	within = func(more int) error {
		return readers(func(echo.Context) error {
			if more == 1 {
				return nil
			}
			return within(more - 1)
		})(nil)
	}
	for range 3 { // a place is given back, by one that failed, too
		if err := within(2); err != nil {
			t.Errorf("two at once: %v", err)
		}
		if err := within(3); problemOf(err).Status != 503 {
			t.Errorf("three at once: %v", err)
		}
	}
}
