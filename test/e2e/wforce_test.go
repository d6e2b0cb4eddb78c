package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"loginguard/test/internal/client"
	"loginguard/test/internal/redisd"
	"loginguard/test/internal/service"
)

// mail sends a command of a mail server; the answer must be 200 with an
// integer status, which is returned.
func mail(t *testing.T, s *service.Service, command, body string) int {
	t.Helper()
	a := s.Do(http.MethodPost, "/wforce?command="+command, http.Header{"Content-Type": {"application/json"}}, body)
	var v struct {
		Status *int   `json:"status"`
		Msg    string `json:"msg"`
	}
	if err := json.Unmarshal(a.Body, &v); err != nil || a.Status != http.StatusOK || v.Status == nil {
		t.Fatalf("%s is answered %d: %s", command, a.Status, a.Body)
	}
	return *v.Status
}

// tuple is a login as Dovecot describes it.
func tuple(login, remote, hash, session, more string) string {
	return fmt.Sprintf(`{"device_id":"","login":%q,"protocol":"imap","pwhash":%q,"remote":%q,"session_id":%q%s,"tls":false}`, login, hash, remote, session, more)
}

const (
	good     = `,"success":true,"policy_reject":false`
	bad      = `,"success":false,"policy_reject":false`
	rejected = `,"success":false,"policy_reject":true`
)

// remaining is what a limit of an attempt has left.
func remaining(s *service.Service, account, ip, limit, level string) int {
	return s.Explain(client.Attempt{Account: account, IP: ip}).Find(limit, level).Remaining
}

func TestMailServerAsksTwiceAndIsChargedOnce(t *testing.T) {
	onEachStore(t, service.Options{}, func(t *testing.T, s *service.Service) {
		for range 2 {
			if got := mail(t, s, "allow", tuple("alice", "::ffff:203.0.113.9", "05e5", "s1", "")); got != 0 {
				t.Fatalf("answered %d", got)
			}
			if got := remaining(s, "alice", "192.0.2.1", "account", ""); got != 9 {
				t.Errorf("the account has %d left, want 9", got)
			}
		}
		mail(t, s, "report", tuple("alice", "::ffff:203.0.113.9", "05e5", "s1", good))
		if got := remaining(s, "alice", "192.0.2.1", "account", ""); got != 10 {
			t.Errorf("after the success the account has %d left, want 10", got)
		}
		if e := s.Explain(client.Attempt{Account: "alice", IP: "203.0.113.9"}); !e.Familiar {
			t.Error("the network did not become familiar")
		}
		// The same again in the same session is a new attempt.
		mail(t, s, "allow", tuple("alice", "20.0.0.7", "05e5", "s2", ""))
		mail(t, s, "report", tuple("alice", "20.0.0.7", "05e5", "s2", bad))
		mail(t, s, "report", tuple("alice", "20.0.0.7", "05e5", "s2", bad)) // sent twice
		mail(t, s, "allow", tuple("alice", "20.0.0.7", "05e5", "s2", ""))
		mail(t, s, "report", tuple("alice", "20.0.0.7", "05e5", "s2", bad))
		if got := remaining(s, "alice", "192.0.2.1", "account", ""); got != 8 {
			t.Errorf("after two wrong passwords the account has %d left, want 8", got)
		}
	})
}

func TestMailServerThatSendsNoSessionOverCountsAndDeniesNobody(t *testing.T) {
	s := service.Start(t, service.Options{})
	for i := range 8 { // connections at once, of one mail program
		if got := mail(t, s, "allow", tuple("alice", "20.0.0.7", "05e5", "", "")); got != 0 {
			t.Fatalf("question %d is answered %d", i+1, got)
		}
	}
	if got := remaining(s, "alice", "192.0.2.1", "account", ""); got != 3 {
		t.Errorf("two questions under one id and six on their own leave %d, want 3", got)
	}
}

func TestMailServerReportsThatNobodyAskedAbout(t *testing.T) {
	onEachStore(t, service.Options{}, func(t *testing.T, s *service.Service) {
		mail(t, s, "report", tuple("alice", "20.0.0.7", "05e5", "s1", bad))
		if got := remaining(s, "alice", "192.0.2.1", "account", ""); got != 9 {
			t.Errorf("a wrong password leaves %d, want 9", got)
		}
		mail(t, s, "report", tuple("alice", "20.0.0.8", "05e5", "s1", rejected))
		if got := remaining(s, "alice", "192.0.2.1", "account", ""); got != 9 {
			t.Errorf("an attempt that was refused before leaves %d, want 9", got)
		}
		mail(t, s, "report", tuple("", "20.0.0.9", "", "s1", bad))
		if got := remaining(s, "alice", "20.0.0.9", "network", "host"); got != 29 {
			t.Errorf("a name that is none leaves its host %d, want 29", got)
		}
	})
}

func TestLongHashesMakeRepeatsAndShortOnesDoNot(t *testing.T) {
	s := service.Start(t, service.Options{})
	for i, hash := range []string{"0123456789abcdef", "0123456789abcdef", "0123456789abcdef"} {
		session := fmt.Sprint("s", i)
		mail(t, s, "allow", tuple("alice", "20.0.0.7", hash, session, ""))
		mail(t, s, "report", tuple("alice", "20.0.0.7", hash, session, bad))
		mail(t, s, "allow", tuple("bob", "20.0.0.7", hash[:4], session, ""))
		mail(t, s, "report", tuple("bob", "20.0.0.7", hash[:4], session, bad))
	}
	if a, b := remaining(s, "alice", "192.0.2.1", "account", ""), remaining(s, "bob", "192.0.2.1", "account", ""); a != 9 || b != 7 {
		t.Errorf("three times the same leaves %d with a long hash and %d with a short one, want 9 and 7", a, b)
	}
}

func TestMailServerIsRefusedWithoutTheStoreAndResets(t *testing.T) {
	redis := redisd.Start(t)
	s := service.Start(t, service.Options{Redis: redis.URL()})
	for i := range 11 {
		want := 0
		if i == 10 {
			want = -1
		}
		if got := mail(t, s, "allow", tuple("alice", address(i), "05e5", "s", "")); got != want {
			t.Fatalf("question %d is answered %d, want %d", i+1, got, want)
		}
	}
	if got := mail(t, s, "reset", `{"login":"alice","ip":"`+address(1)+`"}`); got != 0 {
		t.Fatalf("the reset is answered %d", got)
	}
	if a, h := remaining(s, "alice", "192.0.2.1", "account", ""), remaining(s, "alice", address(1), "network", "host"); a != 10 || h != 30 {
		t.Errorf("after the reset account and host have %d and %d left, want 10 and 30", a, h)
	}
	redis.Kill()
	for _, command := range []string{"allow", "report", "reset"} {
		if got := mail(t, s, command, tuple("alice", "20.0.0.7", "05e5", "s", good)); got != -1 {
			t.Errorf("without the store %s is answered %d, want -1", command, got)
		}
	}
}
