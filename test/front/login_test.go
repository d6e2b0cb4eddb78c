package front

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// variants are the ways in which the application takes a password.
var variants = []struct {
	name string
	try  func(g *guarded, user, pass string, more ...string) reply
	fail int // its answer to a wrong password
	good int
}{
	{"form", (*guarded).login, 401, 200},
	{"json", func(g *guarded, user, pass string, more ...string) reply {
		body, _ := json.Marshal(map[string]string{"username": user, "password": pass})
		return g.do("POST", "/api/login", string(body), append([]string{"Content-Type", jsonType}, more...)...)
	}, 401, 200},
	{"redirect", func(g *guarded, user, pass string, more ...string) reply {
		body := "user%5Bemail%5D=" + user + "&user%5Bpassword%5D=" + strings.ReplaceAll(pass, " ", "%20")
		return g.do("POST", "/redirecting", body, append([]string{"Content-Type", formType}, more...)...)
	}, 302, 302},
	{"multipart", func(g *guarded, user, pass string, more ...string) reply {
		body := "--XyZ\r\nContent-Disposition: form-data; name=\"username\"\r\n\r\n" + user +
			"\r\n--XyZ\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n" + pass + "\r\n--XyZ--\r\n"
		return g.do("POST", "/login", body, append([]string{"Content-Type", "multipart/form-data; boundary=XyZ"}, more...)...)
	}, 401, 200},
	{"basic", func(g *guarded, user, pass string, more ...string) reply {
		key := base64.StdEncoding.EncodeToString([]byte(user + ":" + pass))
		return g.do("GET", "/basic", "", append([]string{"Authorization", "Basic " + key}, more...)...)
	}, 401, 200},
	{"header", func(g *guarded, user, pass string, more ...string) reply {
		return g.do("POST", "/by-header", "", append([]string{"X-Login", user, "X-Password", pass}, more...)...)
	}, 401, 200},
}

func TestTenWrongPasswordsThenTheApplicationIsLeftAlone(t *testing.T) {
	a := newApp(t)
	g := start(t, a.URL, behindProxy)
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			user, before := v.name, a.guesses.Load()
			for i := range 10 {
				if r := v.try(g, user, "wrong", away(i)...); r.Status != v.fail {
					t.Fatalf("guess %d: %d %s", i+1, r.Status, r.Body)
				}
			}
			for i := range 3 {
				r := v.try(g, user, password, away(100+i)...)
				wait, err := strconv.Atoi(r.Header.Get("Retry-After"))
				if r.Status != 429 || err != nil || wait < 1 || wait > 3600 || r.Header.Get("Content-Type") != "application/problem+json" {
					t.Errorf("guess %d: %d %v %s", 11+i, r.Status, r.Header, r.Body)
				}
				if all := fmt.Sprint(r.Header); strings.Contains(all, "account") || !strings.Contains(all, "network-host") {
					t.Errorf("strangers see %s", all)
				}
			}
			if n := a.guesses.Load() - before; n != 10 {
				t.Errorf("the application saw %d guesses, want 10", n)
			}
		})
	}
}

func TestOwnerIsAdmittedWhileStrangersGuess(t *testing.T) {
	a := newApp(t)
	g := start(t, a.URL, behindProxy)
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			user := "owner-" + v.name
			first := v.try(g, user, password, from("203.0.113.9")...)
			if first.Status != v.good {
				t.Fatalf("the owner: %d %s", first.Status, first.Body)
			}
			device := first.device()
			if device == nil || device.Value == "planted" || !device.Secure || !device.HttpOnly ||
				device.SameSite != http.SameSiteLaxMode || device.Path != "/" || device.Domain != "" || device.MaxAge != 7776000 {
				t.Fatalf("the device cookie is %+v", device)
			}
			g.drain(user)
			if r := v.try(g, user, password, from("203.0.113.9")...); r.Status != v.good {
				t.Errorf("the owner at home: %d %s", r.Status, r.Body)
			}
			cookie := []string{"Cookie", "theme=dark; __Host-device=" + device.Value + "; lang=en"}
			if r := v.try(g, user, password, append(cookie, from("198.51.100.9")...)...); r.Status != v.good {
				t.Errorf("the owner's device elsewhere: %d %s", r.Status, r.Body)
			}
			if r, _ := a.last(t); r.Header.Get("Cookie") != "theme=dark; lang=en" {
				t.Errorf("the application got the cookies %q", r.Header["Cookie"])
			}
			// Two of them: one was planted, nobody knows which.
			for _, twice := range []string{"__Host-device=" + device.Value + "; __Host-device=x", "__Host-device=x; __Host-device=" + device.Value} {
				if r := v.try(g, user, password, append(from("198.51.100.9"), "Cookie", twice)...); r.Status != 429 {
					t.Errorf("with two device cookies: %d", r.Status)
				}
			}
		})
	}
}

func TestParallelClientsGetExactlyTheCapacity(t *testing.T) {
	a := newApp(t)
	g := start(t, a.URL, behindProxy)
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			before := a.guesses.Load()
			var all sync.WaitGroup
			var denied atomic.Int64
			for i := range 32 {
				all.Go(func() {
					if v.try(g, "crowd-"+v.name, "wrong", away(i)...).Status == 429 {
						denied.Add(1)
					}
				})
			}
			all.Wait()
			if n := a.guesses.Load() - before; n != 10 || denied.Load() != 22 {
				t.Errorf("%d guesses reached the application and %d were denied, want 10 and 22", n, denied.Load())
			}
		})
	}
}

func TestBrowserGetsAPage(t *testing.T) {
	a := newApp(t)
	g := start(t, a.URL, behindProxy+"support_url: https://help.example.com/?a=1&b=2\n")
	g.drain("reader")
	r := g.login("reader", password, append(away(50), "Accept", "text/html,application/xhtml+xml,*/*;q=0.8")...)
	if r.Status != 429 || r.Header.Get("Retry-After") == "" || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") ||
		!strings.Contains(r.Body, "https://help.example.com/?a=1&amp;b=2") || !strings.Contains(r.Body, "seconds") ||
		r.Header.Get("RateLimit") == "" || r.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v\n%s", r.Status, r.Header, r.Body)
	}
}

// Failures must not wait for the connection to end (one client, one connection).
func TestGuessesOnOneConnectionCountAtOnce(t *testing.T) {
	a := newApp(t)
	g := start(t, a.URL, "")
	codes := map[int]int{}
	for i := range 40 {
		codes[g.login(fmt.Sprintf("user%d", i), "wrong").Status]++
	}
	if codes[401] != 30 || codes[429] != 10 {
		t.Errorf("answers %v, want 30 guesses from one address", codes)
	}
}

func TestSuccessIsNotCharged(t *testing.T) {
	a := newApp(t)
	g := start(t, a.URL, behindProxy)
	for i := range 25 {
		for _, v := range variants {
			if r := v.try(g, "daily", password, away(i)...); r.Status != v.good {
				t.Fatalf("%s, sign-in %d: %d %s", v.name, i+1, r.Status, r.Body)
			}
		}
	}
}
