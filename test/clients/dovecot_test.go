package clients

import (
	"fmt"
	"strings"
	"testing"

	"loginguard/test/internal/redisd"
	"loginguard/test/internal/service"
)

// left waits until a limit of an attempt has n left: Dovecot reports after it
// has answered.
func left(t *testing.T, s *service.Service, account, ip, limit, level string, n int) {
	t.Helper()
	service.Await(t, patience, fmt.Sprintf("%s %s of %q from %s to have %d left", limit, level, account, ip, n), func() bool {
		return explain(t, s, account, ip).Find(limit, level).Remaining == n
	})
}

// counted waits until a metric has a value.
func counted(t *testing.T, s *service.Service, series string) {
	t.Helper()
	service.Await(t, patience, series, func() bool {
		return strings.Contains(string(s.Page("/metrics").Body), series+"\n")
	})
}

func TestDovecotRefusesTheEleventhGuessOfStrangersAndNotTheOwner(t *testing.T) {
	guard := guarded(t, "dovecot/loginguard.yaml", service.Options{})
	d := startDovecot(t, addressOf(guard.API))

	// A good sign-in is asked about twice, is one attempt, and costs nothing.
	d.in(t, "203.0.113.9", "alice")
	counted(t, guard, `loginguard_reports_total{outcome="success"} 1`)
	counted(t, guard, `loginguard_decisions_total{decision="allow",level="",limit="",realm="default",route="login"} 2`)
	left(t, guard, "alice", "192.0.2.1", "account", "", 10)
	left(t, guard, "alice", "203.0.113.9", "familiar", "", 10)
	left(t, guard, "nobody", "203.0.113.9", "network", "host", 30)

	for i := range 10 {
		from := fmt.Sprintf("20.0.%d.7", i)
		if i%3 == 0 {
			from = fmt.Sprintf("2001:db8:%d::7", i)
		}
		d.wrongPassword(t, from, "alice", fmt.Sprintf("guess%d", i))
		left(t, guard, "alice", "192.0.2.1", "account", "", 9-i)
	}
	d.refused(t, "20.1.1.7", "alice", "[ALERT] Too many sign-in attempts on this account.")
	counted(t, guard, `loginguard_reports_total{outcome="failure"} 10`)

	d.in(t, "203.0.113.9", "alice")
	d.in(t, "20.0.1.7", "bob")
	counted(t, guard, `loginguard_reports_total{outcome="success"} 3`)
	left(t, guard, "alice", "203.0.113.9", "familiar", "", 10)
}

func TestDovecotThatTriesTheSamePasswordAgainUsesUpNoAccount(t *testing.T) {
	guard := guarded(t, "dovecot/loginguard.yaml", service.Options{})
	d := startDovecot(t, addressOf(guard.API))
	for i := range 6 {
		d.wrongPassword(t, "20.0.1.7", "alice", "last-years")
		counted(t, guard, fmt.Sprintf(`loginguard_reports_total{outcome="failure"} %d`, i+1))
	}
	left(t, guard, "alice", "20.0.9.7", "account", "", 9)
}

func TestDovecotCountsAMappedAddressAsIPv4(t *testing.T) {
	guard := guarded(t, "dovecot/loginguard.yaml", service.Options{})
	d := startDovecot(t, addressOf(guard.API))
	d.wrongPassword(t, "::ffff:20.0.1.7", "alice", "one")
	left(t, guard, "bob", "20.0.1.7", "network", "host", 29)
	d.wrongPassword(t, "20.0.1.7", "alice", "two")
	left(t, guard, "bob", "20.0.1.7", "network", "host", 28)
}

func TestDovecotChargesNetworksForANameThatIsNone(t *testing.T) {
	guard := guarded(t, "dovecot/loginguard.yaml", service.Options{})
	d := startDovecot(t, addressOf(guard.API))
	for _, name := range []string{"al\"ice", "al\u00efce"} {
		if a := d.signIn(t, "20.0.1.7", name, "secret"); !strings.HasPrefix(a, "NO ") {
			t.Fatalf("%q is answered %s", name, a)
		}
	}
	left(t, guard, "alice", "20.0.1.7", "network", "host", 28)
	left(t, guard, "alice", "20.0.1.7", "account", "", 10)
}

func TestDovecotLetsNobodyInWhileTheStoreIsDown(t *testing.T) {
	redis := redisd.Start(t)
	guard := guarded(t, "dovecot/loginguard.yaml", service.Options{Redis: redis.URL()})
	d := startDovecot(t, addressOf(guard.API))
	d.in(t, "203.0.113.9", "alice")
	redis.Kill()
	for range 3 {
		d.refused(t, "203.0.113.9", "alice", "[ALERT] Signing in is not possible at the moment.")
	}
	redis.Run()
	service.Await(t, patience, "the store to be used again", func() bool {
		return strings.HasPrefix(d.signIn(t, "203.0.113.9", "alice", "secret"), "OK ")
	})
}

func TestDovecotLetsNobodyInWithoutLoginguard(t *testing.T) {
	d := startDovecot(t, free(t))
	d.refused(t, "203.0.113.9", "alice", "")
}

func TestDovecotLetsNobodyInWithAWrongKey(t *testing.T) {
	guard := service.Start(t, service.Options{
		Config: example(t, "dovecot/loginguard.yaml", "REPLACE-WITH-THE-SHA256-OF-THE-CALLER-KEY", strings.Repeat("ab", 32)),
	})
	d := startDovecot(t, addressOf(guard.API))
	d.refused(t, "203.0.113.9", "alice", "[ALERT] Signing in is not possible at the moment.")
	guard.AwaitLog(`"level":"error"`)
	counted(t, guard, `loginguard_refused_total{cause="wrong_key",protocol="wforce"} 2`)
}
