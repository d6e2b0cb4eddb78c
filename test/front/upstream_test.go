package front

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"loginguard/test/internal/client"
	"loginguard/test/internal/service"
)

// left returns how many attempts strangers have left at an account.
func (g *guarded) left(user string) int64 {
	g.t.Helper()
	e := g.Explain(client.Attempt{Account: user, IP: "192.0.2.200"})
	for _, l := range e.Limits {
		if l.Limit == "account" {
			return int64(l.Remaining)
		}
	}
	g.t.Fatalf("no limit account in %s", e.Body)
	return 0
}

func TestOutcomesOfAnUpstreamThatFails(t *testing.T) {
	var status atomic.Int64
	g := start(t, upstream(t, func(w http.ResponseWriter, r *http.Request) {
		switch s := status.Load(); s {
		case 0: // the process dies
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				conn.Close()
			}
		default:
			w.WriteHeader(int(s))
		}
	}), "")
	for _, tt := range []struct {
		status, want int
		user         string
		left         int64
	}{
		{401, 401, "u401", 9}, {200, 200, "u200", 10}, {500, 500, "u500", 9}, {501, 501, "u501", 9}, {505, 505, "u505", 9},
		{502, 502, "u502", 10}, {503, 503, "u503", 10}, {504, 504, "u504", 10},
		{404, 404, "u404", 9}, {302, 302, "u302", 9}, {204, 204, "u204", 9}, {429, 429, "u429", 9}, {0, 502, "udead", 9},
	} {
		status.Store(int64(tt.status))
		if r := g.login(tt.user, "wrong"); r.Status != tt.want {
			t.Errorf("%d: %d %s", tt.status, r.Status, r.Body)
		}
		if n := g.left(tt.user); n != tt.left {
			t.Errorf("after %d: %d attempts left, want %d", tt.status, n, tt.left)
		}
	}
}

func TestUnreachableUpstreamCostsNothing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := "http://" + l.Addr().String()
	l.Close()
	g := start(t, dead, "")
	for i := range 12 {
		if r := g.login("alice", "wrong"); r.Status != 502 || r.Header.Get("Content-Type") != "application/problem+json" {
			t.Fatalf("attempt %d: %d %s", i+1, r.Status, r.Body)
		}
	}
	if n := g.left("alice"); n != 10 {
		t.Errorf("%d attempts left, want all", n)
	}
	if r := g.do("GET", "/", ""); r.Status != 502 {
		t.Errorf("another page: %d", r.Status)
	}
}

// Who hangs up before the answer pays like everybody, and the application
// hears that nobody waits any more.
func TestClientsThatHangUpStayCharged(t *testing.T) {
	asked, gone := make(chan struct{}, 16), make(chan struct{}, 16)
	g := start(t, upstream(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // only then net/http sees a client leave
		asked <- struct{}{}
		<-r.Context().Done()
		gone <- struct{}{}
	}), "")
	for range 10 {
		ctx, leave := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, "POST", g.url+"/login", strings.NewReader("username=alice&password=x"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", formType)
		go func() { <-asked; leave() }()
		if res, err := g.http.Do(req); err == nil {
			t.Fatalf("answered: %s", res.Status)
		}
		<-gone
	}
	service.Await(t, 10*time.Second, "the attempts to be settled", func() bool {
		return strings.Contains(string(g.Page("/metrics").Body), `loginguard_reports_total{outcome="failure"} 10`)
	})
	if r := g.login("alice", "wrong"); r.Status != 429 {
		t.Errorf("the eleventh guess: %d", r.Status)
	}
}

// The outcome is known before the client can know it: no answer is given while
// the report is not in.
func TestReportComesBeforeTheAnswer(t *testing.T) {
	a := newApp(t)
	g := start(t, a.URL, "")
	for i := range 5 {
		g.login("alice", "wrong")
		if n := g.left("alice"); n != int64(9-i) {
			t.Fatalf("%d left after %d guesses", n, i+1)
		}
		if !strings.Contains(string(g.Page("/metrics").Body), `loginguard_reports_total{outcome="failure"} `+string(rune('1'+i))) {
			t.Fatalf("report %d is missing", i+1)
		}
	}
}

func TestStoreDownIsFailClosed(t *testing.T) {
	a := newApp(t)
	s := startOn(t, "redis://127.0.0.1:1/0", "server: {front: {listen: \"127.0.0.1:0\"}}\nfront:\n  upstream: "+a.URL+rules)
	r := s.login("alice", password)
	if r.Status != 503 || r.Header.Get("Retry-After") == "" || !strings.Contains(r.Body, "store_unavailable") || a.requests.Load() != 0 {
		t.Errorf("%d %v %s, %d requests at the application", r.Status, r.Header, r.Body, a.requests.Load())
	}
	if r := s.do("GET", "/", ""); r.Status != 200 {
		t.Errorf("another page: %d", r.Status)
	}
}
