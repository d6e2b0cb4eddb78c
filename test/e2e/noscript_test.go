package e2e

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"loginguard/test/internal/client"
	"loginguard/test/internal/redisd"
	"loginguard/test/internal/service"
)

// calls returns how often a command was sent to a Redis.
func calls(t *testing.T, server *redisd.Server, command string) int {
	t.Helper()
	info := fmt.Sprint(server.Do("INFO", "commandstats"))
	m := regexp.MustCompile(`cmdstat_` + regexp.QuoteMeta(command) + `:calls=(\d+)`).FindStringSubmatch(info)
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestForgottenScripts empties Redis' script cache between attempts, as a
// restart or a failover does: the next attempt is decided, charged once, and
// brings the script back for all that follow.
func TestForgottenScripts(t *testing.T) {
	server := redisd.Start(t)
	s := service.Start(t, service.Options{Redis: server.URL()})
	attempt := func(i int) client.Attempt { return client.Attempt{Account: "alice", IP: address(i)} }
	for i := range 3 {
		server.Do("SCRIPT", "FLUSH")
		if d := guess(t, s, attempt(i)); !d.Allowed() {
			t.Fatalf("answered %d after the scripts were flushed: %s", d.Status, d.Body)
		}
		server.Do("SCRIPT", "FLUSH")
		if left := s.Explain(attempt(100)).Find("account", "").Remaining; left != 9-i {
			t.Errorf("%d are left after %d attempts, want %d", left, i+1, 9-i)
		}
	}
	guess(t, s, attempt(3)) // both scripts are known again
	before := calls(t, server, "eval") + calls(t, server, "script|load")
	for i := range 300 {
		signIn(t, s, client.Attempt{Account: fmt.Sprint("owner", i), IP: address(i)})
	}
	if sent := calls(t, server, "eval") + calls(t, server, "script|load") - before; sent != 0 {
		t.Errorf("the scripts were sent %d times in 300 sign-ins", sent)
	}
}

// TestForgottenScriptsUnderLoad flushes while many attempts are decided: none
// may fail, none may be charged twice.
func TestForgottenScriptsUnderLoad(t *testing.T) {
	server := redisd.Start(t)
	s := service.Start(t, service.Options{Redis: server.URL()})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 50 {
			server.Do("SCRIPT", "FLUSH")
		}
	}()
	answers := storm(200, func(i int) client.Attempt {
		return client.Attempt{Account: fmt.Sprint("account", i%20), IP: address(i)}
	}, s)
	<-done
	if got := len(admitted(t, answers)); got != 200 {
		t.Errorf("%d of 200 were admitted, want all: 20 accounts with 10 attempts each", got)
	}
}
