package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"loginguard/test/internal/client"
	"loginguard/test/internal/redisd"
	"loginguard/test/internal/service"
)

const hookSecret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// TestEventsReachTheWebhook: an account under attack and an outage of the
// store are told, signed, and what is left at SIGTERM as well. The receiver is
// slow, and no check waits for it.
func TestEventsReachTheWebhook(t *testing.T) {
	t.Parallel()
	verifier, err := standardwebhooks.NewWebhook(hookSecret)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var got []string
	hold := make(chan struct{})
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-hold
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = verifier.Verify(body, r.Header)
		}
		if err != nil {
			t.Errorf("%v in %s", err, body)
		}
		mu.Lock()
		defer mu.Unlock()
		got = append(got, string(body))
	}))
	defer receiver.Close()
	var once sync.Once
	release := func() { once.Do(func() { close(hold) }) }
	defer release()

	server := redisd.Start(t)
	s := service.Start(t, service.Options{
		Redis: server.URL(),
		Env:   append([]string{"LOGINGUARD_EVENTS_WEBHOOK_SECRET=" + hookSecret}, realBudget...),
		Config: fmt.Sprintf("events: {webhook: {url: %q, kinds: [attempt_denied, account_first_strike, store_down]}}\n",
			receiver.URL+"/hook"),
	})
	exhaust(t, s, "planted-alice", 0)
	hash := s.Explain(client.Attempt{Account: "planted-alice", IP: "203.0.113.9"}).Account
	server.Kill()
	s.AwaitLog(`"event":"store_down"`)
	release()
	s.Stop()

	var kinds []string
	for _, body := range got {
		var m struct {
			Type string
			Data map[string]any
		}
		if err := json.Unmarshal([]byte(body), &m); err != nil {
			t.Fatalf("%v in %s", err, body)
		}
		kinds = append(kinds, m.Type)
		if m.Type != "login.store_down" && m.Data["account_hash"] != hash {
			t.Errorf("%s is not about %s", body, hash)
		}
		if strings.Contains(body, "planted") {
			t.Errorf("an account is told in %s", body)
		}
	}
	for _, want := range []string{"login.account_first_strike", "login.attempt_denied", "login.store_down"} {
		if !slices.Contains(kinds, want) {
			t.Errorf("%s was not told, only %v", want, kinds)
		}
	}
}
