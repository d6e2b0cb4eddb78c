package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"loginguard/test/internal/client"
	"loginguard/test/internal/redisd"
	"loginguard/test/internal/service"
)

// TestCallerThatNeverReportsIsNamed: such a caller locks its owners out after
// ten sign-ins, and the first attempt must say so, not the tenth.
func TestCallerThatNeverReportsIsNamed(t *testing.T) {
	for _, store := range []string{"memory", "redis"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			s := startOn(t, store, service.Options{Config: "attempt_ttl: 1s\n" + withCallers()})
			shop := s.With(shopKey)
			if d := shop.Check(client.Attempt{Account: "alice", IP: "203.0.113.9", Realm: "shop"}); !d.Allowed() {
				t.Fatalf("answered %d", d.Status)
			}
			idp := s.With(idpKey)
			for i := range 5 {
				idp.Report(idp.Check(client.Attempt{Account: fmt.Sprint("account", i), IP: address(i)}).Attempt, "failure")
			}
			s.AwaitLog("attempts were not reported")
			warned := 0
			for _, line := range strings.Split(s.Log(), "\n") {
				if !strings.Contains(line, "attempts were not reported") {
					continue
				}
				warned++
				if !strings.Contains(line, `"caller":"shop"`) || !strings.Contains(line, `"level":"warn"`) {
					t.Errorf("the warning is: %s", line)
				}
			}
			if warned != 1 {
				t.Errorf("%d warnings, want 1", warned)
			}
		})
	}
}

// TestReportToAnotherInstanceIsFound: behind a balancer a report rarely
// reaches the instance that was asked.
func TestReportToAnotherInstanceIsFound(t *testing.T) {
	t.Parallel()
	o := service.Options{Redis: redisd.Start(t).URL(), Config: "attempt_ttl: 1s\n" + withCallers()}
	asked, told := service.Start(t, o), service.Start(t, o)
	for i := range 5 {
		d := asked.With(idpKey).Check(client.Attempt{Account: fmt.Sprint("account", i), IP: address(i)})
		if r := told.With(idpKey).Report(d.Attempt, "success"); !r.Applied {
			t.Fatalf("the report was answered %d: %s", r.Status, r.Body)
		}
	}
	// Asked after the others, so that its warning comes after theirs would.
	asked.With(shopKey).Check(client.Attempt{Account: "last", IP: "203.0.113.9", Realm: "shop"})
	asked.AwaitLog(`"caller":"shop","attempts":1`)
	for _, line := range strings.Split(asked.Log(), "\n") {
		if strings.Contains(line, "attempts were not reported") && strings.Contains(line, `"caller":"idp"`) {
			t.Errorf("warned about attempts that were reported elsewhere: %s", line)
		}
	}
}

// TestLateReportIsRefused: an attempt whose lifetime is over stays charged.
func TestLateReportIsRefused(t *testing.T) {
	t.Parallel()
	s := service.Start(t, service.Options{Config: "attempt_ttl: 1s\n"})
	d := s.Check(client.Attempt{Account: "alice", IP: "203.0.113.9"})
	if d.ExpiresIn != 1 {
		t.Errorf("expires_in is %d, want 1", d.ExpiresIn)
	}
	s.AwaitLog("attempts were not reported")
	if r := s.Report(d.Attempt, "success"); r.Status != http.StatusUnprocessableEntity {
		t.Errorf("answered %d: %s", r.Status, r.Body)
	}
	if left := s.Explain(client.Attempt{Account: "alice", IP: address(1)}).Find("account", "").Remaining; left != 9 {
		t.Errorf("%d are left, want 9", left)
	}
}
