package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"loginguard/test/internal/client"
	"loginguard/test/internal/service"
)

// TestLogTellsNoSecrets plants names, tags, keys and tokens in all that can be
// sent, right and wrong, and looks for them in the log at its most talkative.
func TestLogTellsNoSecrets(t *testing.T) {
	for _, format := range []string{"json", "text"} {
		t.Run(format, func(t *testing.T) {
			s := service.Start(t, service.Options{Config: withCallers(), Env: []string{"LOGINGUARD_LOG_FORMAT=" + format}})
			idp := s.With(idpKey)
			secrets := []string{idpKey, adminKey, "planted"}
			for i := range 12 {
				d := idp.Check(client.Attempt{
					Account: "planted-account@example.com", IP: address(i), ID: "planted-id" + address(i), PasswordTag: "planted-tag",
					Device: "planted-device",
				})
				if !d.Allowed() {
					continue
				}
				r := idp.Send(client.Report{Attempt: d.Attempt, Outcome: "success", RememberDevice: true})
				if r.Device == "" {
					t.Fatalf("no device: %s", r.Body)
				}
				secrets = append(secrets, d.Attempt, r.Device)
				idp.Check(client.Attempt{Account: "planted-account@example.com", IP: address(i), Device: r.Device})
			}
			s.With("planted-key").Check(client.Attempt{Account: "planted", IP: "203.0.113.9"})
			idp.Report("planted-attempt", "success")
			idp.Forget(client.Forget{Account: "planted-account"})
			s.With(adminKey).Forget(client.Forget{Account: "planted-account"})
			s.With(adminKey).Explain(client.Attempt{Account: "planted-account", IP: "203.0.113.9"})
			h := http.Header{"Content-Type": {"application/json"}, "User-Agent": {"planted-agent"}, "X-Request-Id": {"planted-request"}, "X-Forwarded-For": {"planted"}}
			for _, body := range []string{
				`{"planted":1}`, `{"account":"planted"`, `{"account":"203.0.113.9","ip":"planted"}`, `{"account":"alice","ip":"203.0.113.9","route":"planted"}`,
				`{"account":"alice","ip":"203.0.113.9","realm":"planted"}`, `{"account":"planted\r\n{\"level\":\"error\"}\u001b[31m","ip":"203.0.113.9"}`,
			} {
				idp.Do("POST", "/v1/check", h, body)
			}
			idp.Do("GET", "/planted-path?planted=1", h, "")
			idp.Do("PLANTED", "/v1/check", h, "")
			s.Stop()

			log := s.Log() + s.Output()
			for _, secret := range secrets {
				if strings.Contains(log, secret) {
					t.Errorf("the log has %q", secret)
				}
			}
			lines := strings.Split(strings.TrimSpace(s.Log()), "\n")
			if len(lines) < 20 {
				t.Errorf("%d lines, too few for what was done", len(lines))
			}
			for _, line := range lines {
				if format == "json" && !json.Valid([]byte(line)) {
					t.Errorf("no JSON: %q", line)
				}
				if strings.ContainsAny(line, "\x1b\r") {
					t.Errorf("control characters in %q", line)
				}
			}
		})
	}
}

// TestLogNamesTheHash: the line about a denial has the hash that explain
// shows, so that an operator finds the one by the other.
func TestLogNamesTheHash(t *testing.T) {
	s := service.Start(t, service.Options{})
	exhaust(t, s, "alice", 0)
	hash := s.Explain(client.Attempt{Account: "alice", IP: "203.0.113.9"}).Account
	s.AwaitLog(`"account_hash":"` + hash + `"`)
	for _, line := range strings.Split(s.Log(), "\n") {
		if strings.Contains(line, `"decision":"deny"`) {
			for _, part := range []string{`"level":"info"`, `"limit":"account"`, `"client":"` + address(10) + `"`, `"caller":"loopback"`, hash} {
				if !strings.Contains(line, part) {
					t.Errorf("no %s in %s", part, line)
				}
			}
			return
		}
	}
	t.Error("no line about the denial")
}
