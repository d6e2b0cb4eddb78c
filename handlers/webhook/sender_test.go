package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// at is the moment of every event here, with another zone than the one sent.
var at = time.Date(2026, 11, 30, 13, 0, 0, 0, time.FixedZone("", 3600))

// receiver is the other side: it answers what a test tells it, and keeps what
// it was sent.
type receiver struct {
	*httptest.Server
	t *testing.T

	mu      sync.Mutex
	answers []int // statuses to come; then 204
	got     []delivery
	arrived chan struct{} // one for every request
	hold    chan struct{} // what a request waits for, when set
}

type delivery struct {
	id, when, body string
	header         http.Header
}

func newReceiver(t *testing.T, answers ...int) *receiver {
	r := &receiver{t: t, answers: answers, arrived: make(chan struct{}, 4096)}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		r.t.Error(err)
	}
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		r.t.Error(err)
		return
	}
	if err := verifier.Verify(body, q.Header); err != nil {
		r.t.Errorf("the signature: %v", err)
	}
	r.mu.Lock()
	r.got = append(r.got, delivery{q.Header.Get("webhook-id"), q.Header.Get("webhook-timestamp"), string(body), q.Header.Clone()})
	status := http.StatusNoContent
	if len(r.answers) > 0 {
		status, r.answers = r.answers[0], r.answers[1:]
	}
	r.mu.Unlock()
	r.arrived <- struct{}{}
	if r.hold != nil {
		<-r.hold
	}
	w.Header().Set("Location", "/elsewhere")
	w.WriteHeader(status)
}

// await waits for n requests.
func (r *receiver) await(n int) {
	r.t.Helper()
	for range n {
		select {
		case <-r.arrived:
		case <-time.After(20 * time.Second):
			r.t.Fatalf("no request arrived within 20 s, there were %d", len(r.all()))
		}
	}
}

func (r *receiver) all() []delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// results collects what became of requests.
type results struct {
	mu  sync.Mutex
	all []string
	err []error
}

func (r *results) note(result string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all, r.err = append(r.all, result), append(r.err, err)
}

func (r *results) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.all, " ")
}

func start(t *testing.T, r *receiver, change func(*Options)) (*Sender, *results) {
	t.Helper()
	seen := new(results)
	o := Options{URL: r.URL + "/hook?a=b", Secret: secret, UserAgent: "loginguard/test", Result: seen.note}
	if change != nil {
		change(&o)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = shut(s, 0) })
	return s, seen
}

func shut(s *Sender, grace time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	return s.Close(ctx)
}

func TestEventIsSignedAndHasTheDocumentedForm(t *testing.T) {
	r := newReceiver(t)
	s, seen := start(t, r, nil)
	if !s.Send("login.store_down", at, map[string]any{"on_failure": "closed", "odd": "<&>\u2028"}) {
		t.Fatal("there is no room for the first event")
	}
	if err := shut(s, 20*time.Second); err != nil {
		t.Fatal(err)
	}
	got := r.all()
	if len(got) != 1 || seen.String() != Delivered {
		t.Fatalf("%d requests, results %q", len(got), seen)
	}
	var body struct {
		Type, Timestamp string
		Data            map[string]string
	}
	if err := json.Unmarshal([]byte(got[0].body), &body); err != nil {
		t.Fatal(err)
	}
	if body.Type != "login.store_down" || body.Timestamp != "2026-11-30T12:00:00Z" || body.Data["on_failure"] != "closed" || body.Data["odd"] != "<&>\u2028" {
		t.Errorf("the body is %s", got[0].body)
	}
	if strings.ContainsAny(got[0].body, "\n") || !strings.Contains(got[0].body, `"<&>`) {
		t.Errorf("the body is written as %q", got[0].body)
	}
	h := got[0].header
	if h.Get("Content-Type") != "application/json" || h.Get("User-Agent") != "loginguard/test" || !strings.HasPrefix(h.Get("webhook-signature"), "v1,") {
		t.Errorf("the headers are %v", h)
	}
	if !strings.HasPrefix(got[0].id, "msg_") || len(got[0].id) < 20 {
		t.Errorf("the id is %q", got[0].id)
	}
}

func TestFailedDeliveryIsTriedAgainUnderTheSameID(t *testing.T) {
	r := newReceiver(t, 500, 302, 429, 503)
	s, seen := start(t, r, func(o *Options) { o.Backoff = []time.Duration{1, 1, 1, 1} })
	s.Send("login.store_down", at, nil)
	s.Send("login.store_up", at, nil)
	r.await(6)
	if err := shut(s, 20*time.Second); err != nil {
		t.Fatal(err)
	}
	got := r.all()
	for i := range 4 {
		if got[i+1].id != got[0].id || got[i+1].body != got[0].body {
			t.Errorf("try %d is of another event: %+v", i+2, got[i+1])
		}
	}
	if got[5].id == got[0].id {
		t.Error("two events have one id")
	}
	if want := "retried retried retried retried delivered delivered"; seen.String() != want {
		t.Errorf("results %q, want %q: a redirect is not followed", seen, want)
	}
}

func TestDeliveryIsGivenUp(t *testing.T) {
	r := newReceiver(t, 500, 500, 500, 500)
	s, seen := start(t, r, func(o *Options) { o.Backoff = []time.Duration{1, 1} })
	s.Send("login.store_down", at, nil)
	r.await(3)
	s.Send("login.store_up", at, nil)
	if err := shut(s, 20*time.Second); err != nil {
		t.Fatal(err)
	}
	// The second event is sent while closing: it is tried once or in full.
	if got := seen.String(); !strings.HasPrefix(got, "retried retried failed ") {
		t.Errorf("results %q", got)
	}
	if !strings.Contains(seen.err[2].Error(), "answered 500") {
		t.Errorf("the error is %v", seen.err[2])
	}
}

// TestGoneIsRespected: 410 is how a receiver says that it wants no more.
func TestGoneIsRespected(t *testing.T) {
	r := newReceiver(t, 410)
	s, seen := start(t, r, func(o *Options) { o.Backoff = []time.Duration{1, 1} })
	for range 3 {
		s.Send("login.store_down", at, nil)
	}
	if err := shut(s, 20*time.Second); err != nil {
		t.Fatal(err)
	}
	if got := seen.String(); got != "failed failed failed" || len(r.all()) != 1 {
		t.Errorf("results %q after %d requests, want three failures and one request", got, len(r.all()))
	}
}

func TestFullQueueDropsAtOnce(t *testing.T) {
	r := newReceiver(t)
	r.hold = make(chan struct{})
	s, _ := start(t, r, func(o *Options) { o.Queue = 3 })
	if !s.Send("login.store_down", at, nil) {
		t.Fatal("the first is dropped")
	}
	r.await(1) // it is in progress, and holds the worker
	taken := 0
	for range 10 {
		if s.Send("login.store_down", at, nil) {
			taken++
		}
	}
	if taken != 3 {
		t.Errorf("%d are queued, want 3", taken)
	}
	close(r.hold)
	if err := shut(s, 20*time.Second); err != nil {
		t.Fatal(err)
	}
	if n := len(r.all()); n != 4 {
		t.Errorf("%d arrived, want the 4 that were taken", n)
	}
	if s.Send("login.store_down", at, nil) {
		t.Error("a closed sender takes events")
	}
}

func TestCloseDoesNotWaitForTheNextTry(t *testing.T) {
	r := newReceiver(t, 500)
	s, seen := start(t, r, func(o *Options) { o.Backoff = []time.Duration{time.Hour, time.Hour} })
	s.Send("login.store_down", at, nil)
	r.await(1)
	if err := shut(s, 20*time.Second); err != nil {
		t.Fatal(err)
	}
	// Either it was waiting, and is tried once more, or had not begun to.
	if got := seen.String(); got != "retried delivered" && got != "failed" {
		t.Errorf("results %q", got)
	}
}

func TestCloseEndsWithItsGrace(t *testing.T) {
	r := newReceiver(t)
	r.hold = make(chan struct{})
	defer close(r.hold)
	s, seen := start(t, r, nil)
	s.Send("login.store_down", at, nil)
	s.Send("login.store_up", at, nil)
	r.await(1)
	err := shut(s, 10*time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "2 are lost") {
		t.Errorf("closing: %v, want an error about 2 events", err)
	}
	if got := seen.String(); got != "failed" {
		t.Errorf("results %q", got)
	}
	if err := shut(s, 0); err != nil {
		t.Errorf("closing again: %v", err)
	}
}

func TestRequestHasATimeout(t *testing.T) {
	r := newReceiver(t)
	r.hold = make(chan struct{})
	defer close(r.hold)
	s, seen := start(t, r, func(o *Options) { o.Timeout, o.Backoff = 20*time.Millisecond, []time.Duration{} })
	s.Send("login.store_down", at, nil)
	if err := shut(s, 20*time.Second); err != nil {
		t.Fatal(err)
	}
	if seen.String() != Failed || strings.Contains(seen.err[0].Error(), "a=b") {
		t.Errorf("results %q, %v: want a failure that does not tell the address", seen, seen.err)
	}
}

// TestCertificateIsVerified: an event is told to nobody who only stands at the
// address.
func TestCertificateIsVerified(t *testing.T) {
	asked := false
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	server.Config.ErrorLog = nil
	server.StartTLS()
	defer server.Close()
	seen := new(results)
	s, err := New(Options{URL: server.URL, Secret: secret, Backoff: []time.Duration{}, Result: seen.note})
	if err != nil {
		t.Fatal(err)
	}
	s.Send("login.store_down", at, nil)
	if err := shut(s, 20*time.Second); err != nil {
		t.Fatal(err)
	}
	if asked || seen.String() != Failed || !strings.Contains(seen.err[0].Error(), "certificate") {
		t.Errorf("asked %t, results %q, %v", asked, seen, seen.err)
	}
}

func TestManySendersAtOnce(t *testing.T) {
	r := newReceiver(t)
	s, _ := start(t, r, nil)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 50 {
				s.Send("login.store_down", at, i)
			}
		})
	}
	wg.Wait()
	if err := shut(s, 30*time.Second); err != nil {
		t.Fatal(err)
	}
	ids := make(map[string]bool)
	for _, d := range r.all() {
		ids[d.id] = true
	}
	if len(ids) != 400 {
		t.Errorf("%d different events arrived, want 400", len(ids))
	}
}

func TestWhatCannotBeWrittenIsDropped(t *testing.T) {
	r := newReceiver(t)
	s, _ := start(t, r, nil)
	if s.Send("login.store_down", at, func() {}) {
		t.Error("a function was taken for data")
	}
}

func TestCheckURL(t *testing.T) {
	for url, ok := range map[string]bool{
		"https://example.com": true, "https://u:hunter2@example.com/a?b": true, "https://203.0.113.9:8443/": true,
		"http://127.0.0.1:9000/x": true, "http://[::1]/": true, "http://localhost:1": true, "http://LOCALHOST": true, "http://127.9.9.9": true,
		"http://example.com/hunter2": false, "http://localhost.example.com": false, "http://127.0.0.1.example.com": false, "http://203.0.113.9": false,
		"": false, "example.com": false, "https://": false, "https:example.com": false, "ftp://example.com/hunter2": false,
		"https://example.com/#hunter2": false, "https://exa mple.com/hunter2": false, "file:///etc/hunter2": false, "https:///hunter2": false,
	} {
		err := CheckURL(url)
		if (err == nil) != ok {
			t.Errorf("%q: %v", url, err)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error repeats the address: %v", err)
		}
	}
}

func TestParseSecret(t *testing.T) {
	for text, size := range map[string]int{
		secret: 32, "whsec_" + strings.Repeat("AAAA", 8): 24, "whsec_" + strings.Repeat("AAAA", 21) + "AA==": 64,
		"": 0, "whsec_": 0, secret + "\n": 0, "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=": 0, "whsec_" + strings.Repeat("AAAA", 7): 0,
		"whsec_" + strings.Repeat("AAAA", 22): 0, "whsec_not base64": 0, "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY": 0,
		"WHSEC_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=": 0, "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWZ=": 0,
	} {
		key, err := ParseSecret(text)
		if len(key) != size || (err == nil) != (size > 0) {
			t.Errorf("%q: %d bytes, %v, want %d", text, len(key), err, size)
		}
	}
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	for name, o := range map[string]Options{
		"address": {URL: "http://example.com/hunter2", Secret: secret},
		"secret":  {URL: "https://example.com", Secret: "whsec_hunter2"},
	} {
		if s, err := New(o); err == nil || s != nil || strings.Contains(fmt.Sprint(err), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzParseSecret: what is read is in bounds, and reading does not fall over.
func FuzzParseSecret(f *testing.F) {
	f.Add(secret)
	f.Add("whsec_")
	f.Add("whsec_AAAA\n")
	f.Fuzz(func(t *testing.T, s string) {
		key, err := ParseSecret(s)
		if err == nil && (len(key) < minSecret || len(key) > maxSecret) {
			t.Errorf("%d bytes", len(key))
		}
		_ = CheckURL(s)
	})
}
