package e2e

import (
	"fmt"
	"testing"
	"time"

	"loginguard/test/internal/client"
	"loginguard/test/internal/service"
)

// TestNoWindowStep tries without pause for some seconds. A counter that starts
// anew with each window lets twice its limit through around the border; here
// no stretch of time has more than the capacity and what came back in it.
func TestNoWindowStep(t *testing.T) {
	for _, store := range []string{"memory", "redis"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			s := startOn(t, store, service.Options{Config: `
limits: {network: {host: {capacity: 6, refill: 3/1s}}}
`})
			type span struct{ asked, answered time.Time }
			var let []span
			for began, i := time.Now(), 0; time.Since(began) < 3*time.Second; i++ {
				asked := time.Now()
				d := s.Check(client.Attempt{Account: fmt.Sprint("account", i), IP: "203.0.113.9"})
				if d.Allowed() {
					let = append(let, span{asked, time.Now()})
				} else {
					denied(t, d)
				}
			}
			for i := range let {
				for j := i; j < len(let); j++ {
					// Decided somewhere between question and answer.
					passed := let[j].answered.Sub(let[i].asked)
					if n, most := j-i+1, 6+int(3*passed.Seconds())+1; n > most {
						t.Errorf("%d were admitted in %s, want at most %d", n, passed, most)
					}
				}
			}
			if len(let) < 6+3 {
				t.Errorf("%d were admitted in 3 s, so nothing came back", len(let))
			}
		})
	}
}
