package front

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// password is the right one of every account.
const password = "correct horse"

// app is a login application as there are many: a form, JSON and Basic, and one
// that redirects either way. It has no limit of its own and counts what it is
// asked.
type app struct {
	*httptest.Server
	guesses  atomic.Int64 // credentials that it verified
	requests atomic.Int64

	mu   sync.Mutex
	seen []*http.Request // with their bodies read
	body []string
}

// newApp serves the application until the test ends.
func newApp(t *testing.T) *app {
	t.Helper()
	a := &app{}
	a.Server = httptest.NewServer(a.keep(a.routes()))
	t.Cleanup(a.Close)
	return a
}

// lenient reads a path as lenient servers do: it decodes, ignores the case and
// what follows a semicolon, and cleans.
func lenient(r *http.Request) string {
	p := strings.ToLower(strings.ReplaceAll(r.URL.Path, `\`, "/"))
	p, _, _ = strings.Cut(p, ";")
	var kept []string
	for s := range strings.SplitSeq(p, "/") {
		if s = strings.TrimRight(s, ". "); s != "" {
			kept = append(kept, s)
		}
	}
	return "/" + strings.Join(kept, "/")
}

func (a *app) routes() http.Handler {
	pages := map[string]http.HandlerFunc{
		"/login": func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost && r.Header.Get("X-HTTP-Method-Override") != "POST" && r.URL.Query().Get("_method") != "POST" {
				io.WriteString(w, "<form>")
				return
			}
			a.answer(w, a.verify(r.FormValue("username"), r.FormValue("password")))
		},
		"/api/login": func(w http.ResponseWriter, r *http.Request) {
			var q struct{ Username, Password string }
			if json.NewDecoder(r.Body).Decode(&q) != nil {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			a.answer(w, a.verify(q.Username, q.Password))
		},
		"/redirecting": func(w http.ResponseWriter, r *http.Request) {
			if a.verify(r.FormValue("user[email]"), r.FormValue("user[password]")) {
				http.SetCookie(w, &http.Cookie{Name: "session", Value: "s3cret", HttpOnly: true})
				http.Redirect(w, r, "/home", http.StatusFound)
				return
			}
			http.SetCookie(w, &http.Cookie{Name: "session", MaxAge: -1})
			http.Redirect(w, r, "/redirecting?failed", http.StatusFound)
		},
		"/basic": func(w http.ResponseWriter, r *http.Request) {
			user, pass, _ := r.BasicAuth()
			a.answer(w, a.verify(user, pass))
		},
		"/by-header": func(w http.ResponseWriter, r *http.Request) {
			a.answer(w, a.verify(r.Header.Get("X-Login"), r.Header.Get("X-Password")))
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if page, ok := pages[lenient(r)]; ok {
			page(w, r)
			return
		}
		io.WriteString(w, "other page")
	})
}

// verify counts a guess.
func (a *app) verify(user, pass string) bool {
	a.guesses.Add(1)
	return user != "" && pass == password
}

func (a *app) answer(w http.ResponseWriter, ok bool) {
	if !ok {
		http.Error(w, "wrong", http.StatusUnauthorized)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: "session", Value: "s3cret"})
	// An application that tries to plant the front's cookie.
	http.SetCookie(w, &http.Cookie{Name: "__Host-device", Value: "planted"})
	io.WriteString(w, "welcome")
}

// keep notes every request, and hands on a body that can be read again.
func (a *app) keep(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.requests.Add(1)
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		a.mu.Lock()
		a.seen, a.body = append(a.seen, r.Clone(r.Context())), append(a.body, string(body))
		a.mu.Unlock()
		next.ServeHTTP(w, r)
	})
}

// last returns the request that came last, and its body.
func (a *app) last(t *testing.T) (*http.Request, string) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.seen) == 0 {
		t.Fatal("the application saw no request")
	}
	return a.seen[len(a.seen)-1], a.body[len(a.body)-1]
}

// bodies returns the bodies of all requests so far.
func (a *app) bodies() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.body)
}
