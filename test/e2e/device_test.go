package e2e

import (
	"testing"

	"loginguard/test/internal/client"
	"loginguard/test/internal/service"
)

// TestDeviceHasABudgetOfItsOwn is the owner on holiday during an attack: the
// account is closed to strangers, the network is unknown, the device is not.
func TestDeviceHasABudgetOfItsOwn(t *testing.T) {
	onEachStore(t, service.Options{}, func(t *testing.T, s *service.Service) {
		d := s.Check(client.Attempt{Account: "alice", IP: "203.0.113.9"})
		r := s.Send(client.Report{Attempt: d.Attempt, Outcome: "success", RememberDevice: true})
		if r.Device == "" || r.DeviceTTL != 90*24*3600 || len(r.Device) > 512 {
			t.Fatalf("no device: %s", r.Body)
		}
		exhaust(t, s, "alice", 0)
		for i := range 11 {
			d := guess(t, s, client.Attempt{Account: "alice", IP: address(100 + i), Device: r.Device})
			if i < 10 && (!d.Allowed() || !d.Familiar) {
				t.Errorf("mistake %d on the device was answered %d, familiar %t: %s", i+1, d.Status, d.Familiar, d.Body)
			}
			if i == 10 {
				denied(t, d)
				if d.Limit != "device" {
					t.Errorf("denied by %s, want device", d.Limit)
				}
			}
		}
		// Which closes neither home nor the account any further.
		if d := s.Check(client.Attempt{Account: "alice", IP: "203.0.113.9"}); !d.Allowed() || !d.Familiar {
			t.Errorf("home was answered %d", d.Status)
		}
	})
}

// TestDevicesOfOthersAreStrangers: a token opens one account in one service.
func TestDevicesOfOthersAreStrangers(t *testing.T) {
	s := service.Start(t, service.Options{})
	token := func(account string) string {
		d := s.Check(client.Attempt{Account: account, IP: "203.0.113.9"})
		return s.Send(client.Report{Attempt: d.Attempt, Outcome: "success", RememberDevice: true}).Device
	}
	mallory := token("mallory")
	changed := []byte(token("alice"))
	changed[len(changed)-3] ^= 1
	for name, device := range map[string]string{"another account's": mallory, "a changed one": string(changed), "nonsense": "nonsense"} {
		e := s.Explain(client.Attempt{Account: "alice", IP: address(1), Device: device})
		if e.Familiar || e.Find("device", "").Limit != "" || e.Find("account", "").Limit == "" {
			t.Errorf("%s device is taken for alice's: %s", name, e.Body)
		}
	}
	// An attempt's token is no device, whoever signed it.
	attempt := s.Check(client.Attempt{Account: "alice", IP: "203.0.113.9"}).Attempt
	if e := s.Explain(client.Attempt{Account: "alice", IP: address(1), Device: attempt}); e.Familiar {
		t.Error("an attempt passes as a device")
	}
}

// TestOnlyASuccessEarnsADevice.
func TestOnlyASuccessEarnsADevice(t *testing.T) {
	s := service.Start(t, service.Options{})
	for _, test := range []struct{ route, outcome string }{{"login", "failure"}, {"login", "cancelled"}, {"signup", "success"}, {"password_reset", "success"}} {
		d := s.Check(client.Attempt{Account: "alice", IP: "203.0.113.9", Route: test.route})
		r := s.Send(client.Report{Attempt: d.Attempt, Outcome: test.outcome, RememberDevice: true})
		if !r.Applied || r.Device != "" {
			t.Errorf("%s on %s: %s", test.outcome, test.route, r.Body)
		}
		if s.Explain(client.Attempt{Account: "alice", IP: "203.0.113.9"}).Familiar {
			t.Errorf("%s on %s made the network familiar", test.outcome, test.route)
		}
	}
}
