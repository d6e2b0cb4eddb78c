package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loginguard/guard"
)

// frontBench is a front on a fake engine, before an application.
type frontBench struct {
	*bench
	front *Front
	http  *httptest.Server
}

func newFrontBench(t *testing.T, app http.HandlerFunc, change ...func(*FrontConfig, *Front)) *frontBench {
	t.Helper()
	upstream := httptest.NewServer(app)
	t.Cleanup(upstream.Close)
	b := &frontBench{bench: newBench(t)}
	c := FrontConfig{
		Upstream: upstream.URL, PassThrough: true, DeviceCookie: "__Host-d",
		Rules: []FrontRule{{Methods: []string{"POST"}, Path: "/login", Route: "login", Account: FrontAccount{JSON: "/user"},
			Success: FrontMatch{Status: []int{200}}, Failure: FrontMatch{Status: []int{401}}}},
	}
	var err error
	for _, f := range change {
		f(&c, nil)
	}
	if b.front, err = NewFront(b.Server, c); err != nil {
		t.Fatal(err)
	}
	for _, f := range change {
		f(&c, b.front)
	}
	b.http = httptest.NewServer(b.front)
	t.Cleanup(b.http.Close)
	return b
}

// try posts a body to the login and returns the answer, read.
func (b *frontBench) try(t *testing.T, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest("POST", b.http.URL+"/login", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := b.http.Client().Do(with(r, headers...))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(text)
}

const goodLogin = `{"user":"alice"}`

func TestFrontAsksTheGuard(t *testing.T) {
	b := newFrontBench(t, func(http.ResponseWriter, *http.Request) {})
	b.engine.reported = guard.Reported{Applied: true, Device: "token", DeviceTTL: time.Hour}
	res, _ := b.try(t, goodLogin, "Cookie", "a=b; __Host-d=old", "X-Forwarded-For", "6.6.6.6")
	if res.StatusCode != 200 {
		t.Fatal(res.Status)
	}
	want := guard.Request{Realm: "default", Route: "login", Account: "alice", Device: "old"}
	q := b.engine.asked[0]
	forwarded := q.Forwarded
	q.Forwarded = nil
	if diff := cmp.Diff(want, q); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if forwarded == nil || !strings.HasPrefix(forwarded.Peer, "127.0.0.1") || len(forwarded.Lines) != 1 {
		t.Errorf("forwarded %+v", forwarded)
	}
	if diff := cmp.Diff(guard.Caller{Name: "front", Realms: []string{"default"}}, b.engine.callers[0]); diff != "" {
		t.Errorf("caller (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]guard.Report{{Attempt: "att-1", Outcome: "success", RememberDevice: true}}, b.engine.reports); diff != "" {
		t.Errorf("report (-want +got)\n%s", diff)
	}
	if got := res.Header.Values("Set-Cookie"); len(got) != 1 || got[0] != "__Host-d=token; Path=/; Max-Age=3600; HttpOnly; Secure; SameSite=Lax" {
		t.Errorf("cookies %q", got)
	}
}

func TestJudge(t *testing.T) {
	cookie := FrontMatch{Status: []int{302}, Header: "Set-Cookie", Contains: "session="}
	for _, tt := range []struct {
		name             string
		success, failure FrontMatch
		status           int
		header           http.Header
		want             string
	}{
		{"status", FrontMatch{Status: []int{200, 302}}, FrontMatch{Status: []int{401}}, 302, nil, "success"},
		{"failure", FrontMatch{Status: []int{200}}, FrontMatch{Status: []int{401}}, 401, nil, "failure"},
		{"neither", FrontMatch{Status: []int{200}}, FrontMatch{Status: []int{401}}, 418, nil, "failure"},
		{"crash", FrontMatch{Status: []int{200}}, FrontMatch{Status: []int{401}}, 500, nil, "failure"},
		{"gateway", FrontMatch{Status: []int{200}}, FrontMatch{Status: []int{401}}, 502, nil, "cancelled"},
		{"unavailable", FrontMatch{Status: []int{200}}, FrontMatch{Status: []int{401}}, 503, nil, "cancelled"},
		{"timeout", FrontMatch{Status: []int{200}}, FrontMatch{Status: []int{401}}, 504, nil, "cancelled"},
		{"named failure", FrontMatch{Status: []int{200}}, FrontMatch{Status: []int{503}}, 503, nil, "failure"},
		{"both, same weight", FrontMatch{Status: []int{200}}, FrontMatch{Status: []int{200}}, 200, nil, "failure"},
		{"cookie", cookie, FrontMatch{Status: []int{302}}, 302, http.Header{"Set-Cookie": {"a=b", "session=x; Path=/"}}, "success"},
		{"no cookie", cookie, FrontMatch{Status: []int{302}}, 302, nil, "failure"},
		{"other status", cookie, FrontMatch{Status: []int{302}}, 200, http.Header{"Set-Cookie": {"session=x"}}, "failure"},
		{"cookie removed", cookie, FrontMatch{}, 302, http.Header{"Set-Cookie": {"session=x; Max-Age=0"}}, "failure"},
		{"cookie expired", cookie, FrontMatch{}, 302, http.Header{"Set-Cookie": {"session=x; Expires=Thu, 01 Jan 1970 00:00:00 GMT"}}, "failure"},
		{"cookie emptied", cookie, FrontMatch{}, 302, http.Header{"Set-Cookie": {"session=; Path=/"}}, "failure"},
		{"header of a failure", FrontMatch{Status: []int{200}}, FrontMatch{Header: "X-Error"}, 200, http.Header{"X-Error": {""}}, "failure"},
		{"both headers", FrontMatch{Header: "X-A"}, FrontMatch{Header: "X-B"}, 200, http.Header{"X-A": {"1"}, "X-B": {"1"}}, "failure"},
		{"nothing named", FrontMatch{}, FrontMatch{}, 200, nil, "failure"},
	} {
		r := frontRule{FrontRule: FrontRule{Success: tt.success, Failure: tt.failure}}
		if tt.header == nil {
			tt.header = http.Header{}
		}
		if got, _ := r.judge(&http.Response{StatusCode: tt.status, Header: tt.header}, time.Now()); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestFrontRefusesAsTheAPIDoes(t *testing.T) {
	b := newFrontBench(t, func(http.ResponseWriter, *http.Request) { t.Error("the application was asked") })
	for _, tt := range []struct {
		name     string
		decision guard.Decision
		err      error
		status   int
	}{
		{"account", accountDenial(), nil, 429},
		{"global", guard.Decision{Verdict: guard.Deny, Limit: "global", Busy: true, RetryAfter: 7, Shown: -1}, nil, 503},
		{"store", guard.Decision{Verdict: guard.Deny, Reason: guard.ReasonStore, Busy: true, RetryAfter: 1, Shown: -1}, nil, 503},
		{"challenge", guard.Decision{Verdict: guard.Challenge, Limit: "account", Shown: -1}, nil, 429},
		{"value", guard.Decision{}, &guard.Error{Kind: guard.KindInvalid, Field: "account", Detail: "is empty"}, 400},
		{"unknown", guard.Decision{}, errors.New("secret inside"), 500},
	} {
		b.engine.decision, b.engine.err = tt.decision, tt.err
		res, body := b.try(t, goodLogin)
		var p problem
		if err := json.Unmarshal([]byte(body), &p); err != nil || res.StatusCode != tt.status || p.Status != tt.status || strings.Contains(body, "secret") {
			t.Errorf("%s: %s %s", tt.name, res.Status, body)
		}
		if wait := tt.status == 429 || tt.status == 503; wait != (res.Header.Get("Retry-After") != "") {
			t.Errorf("%s: Retry-After %q", tt.name, res.Header.Get("Retry-After"))
		}
		if all := fmt.Sprint(res.Header); strings.Contains(all, `"account"`) {
			t.Errorf("%s: strangers see %s", tt.name, all)
		}
	}
	if len(b.engine.reports) != 0 {
		t.Errorf("reported %v", b.engine.reports)
	}
}

// An upstream that hangs may have tested the password: no answer is no proof
// that it did not.
func TestHangingUpstreamIsAFailure(t *testing.T) {
	release := make(chan struct{})
	b := newFrontBench(t, func(http.ResponseWriter, *http.Request) { <-release }, func(_ *FrontConfig, f *Front) {
		if f != nil {
			f.guarded = newTransport(1, 20*time.Millisecond)
		}
	})
	defer close(release)
	if res, body := b.try(t, goodLogin); res.StatusCode != 504 {
		t.Errorf("%s %s", res.Status, body)
	}
	if diff := cmp.Diff([]guard.Report{{Attempt: "att-1", Outcome: "failure", Reason: "other"}}, b.engine.reports); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestFrontBoundsWhatItHolds(t *testing.T) {
	reached := make(chan struct{}, 8)
	release := make(chan struct{})
	b := newFrontBench(t, func(_ http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err == nil {
			reached <- struct{}{}
		}
		<-release
	}, func(c *FrontConfig, f *Front) {
		c.MaxInFlight = 2
		if f != nil {
			f.large = make(chan struct{}, 1)
		}
	})
	large := `{"user":"alice","x":"` + strings.Repeat("x", smallBody) + `"}`
	done := make(chan struct{}, 2)
	hold := func(body string) {
		go func() { b.try(t, body); done <- struct{}{} }()
		<-reached
	}
	hold(large)
	if res, body := b.try(t, large); res.StatusCode != 503 || !strings.Contains(body, "overloaded") {
		t.Errorf("a second large body: %s %s", res.Status, body)
	}
	hold(goodLogin)
	if res, body := b.try(t, goodLogin); res.StatusCode != 503 || !strings.Contains(body, "overloaded") {
		t.Errorf("one too many: %s %s", res.Status, body)
	}
	close(release)
	<-done
	<-done
	if res, _ := b.try(t, large); res.StatusCode != 200 { // all places are free again
		t.Errorf("after the rush: %s", res.Status)
	}
}

// TestFormsThatPassKeepTheirPlace: their bodies are in memory until the
// application has answered, too.
func TestFormsThatPassKeepTheirPlace(t *testing.T) {
	reached, release := make(chan struct{}), make(chan struct{})
	var later atomic.Bool
	b := newFrontBench(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if !later.Swap(true) {
			close(reached)
			<-release
		}
	}, func(_ *FrontConfig, f *Front) {
		if f != nil {
			f.large = make(chan struct{}, 1)
		}
	})
	put := func() *http.Response {
		r, err := http.NewRequest("PUT", b.http.URL+"/login", strings.NewReader("x="+strings.Repeat("x", smallBody)))
		if err != nil {
			t.Error(err)
			return nil
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		res, err := b.http.Client().Do(r)
		if err != nil {
			t.Error(err)
			return nil
		}
		res.Body.Close()
		return res
	}
	done := make(chan struct{})
	go func() { put(); close(done) }()
	<-reached
	if res := put(); res == nil || res.StatusCode != 503 {
		t.Errorf("a second large form: %+v, want 503", res)
	}
	close(release)
	<-done
	if res := put(); res == nil || res.StatusCode != 200 { // the place is free again
		t.Errorf("after the rush: %+v", res)
	}
}

func TestFrontConfigIsChecked(t *testing.T) {
	b := newBench(t)
	for _, c := range []FrontConfig{
		{}, {Upstream: "ftp://x"}, {Upstream: "http://"}, {Upstream: "http://x/path"}, {Upstream: "http://u:p@x"}, {Upstream: "http://x?q"},
		{Upstream: "http://x", DeviceCookie: "device"},
		{Upstream: "http://x", Rules: []FrontRule{{Path: "/a/../b"}}},
		{Upstream: "http://x", Rules: []FrontRule{{Path: "/a", Account: FrontAccount{JSON: "user"}}}},
	} {
		if _, err := NewFront(b.Server, c); err == nil {
			t.Errorf("accepted: %+v", c)
		}
	}
}

func TestFailedReportKeepsTheAnswer(t *testing.T) {
	b := newFrontBench(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "welcome") })
	b.front.server.engine = reportless{b.engine}
	if res, body := b.try(t, goodLogin); res.StatusCode != 200 || body != "welcome" {
		t.Errorf("%s %s", res.Status, body)
	}
	b.http.Close()
	if !strings.Contains(b.out.String(), `"cause":"unreported"`) {
		t.Errorf("the log is silent: %s", b.out)
	}
}

// reportless is an engine whose store is lost between check and report.
type reportless struct{ *fakeEngine }

func (reportless) Report(context.Context, guard.Caller, guard.Report) (guard.Reported, error) {
	return guard.Reported{}, &guard.Error{Kind: guard.KindStore, Err: net.ErrClosed}
}

func TestFrontLogsNoSecret(t *testing.T) {
	b := newFrontBench(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) })
	b.try(t, `{"user":"`+secretName+`","password":"`+secretTag+`"}`, "Cookie", "__Host-d="+secretDev, "Authorization", "Bearer "+idpKey)
	b.http.Close()
	for _, s := range []string{secretName, secretTag, secretDev, idpKey} {
		if strings.Contains(b.out.String(), s) {
			t.Errorf("the log has %s: %s", s, b.out)
		}
	}
	if !strings.Contains(b.out.String(), `"outcome":"failure"`) {
		t.Errorf("the log is silent: %s", b.out)
	}
}
