package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"loginguard/test/internal/client"
	"loginguard/test/internal/service"
)

// TestTerminationLetsRequestsFinish sends SIGTERM while a check is being
// received: new ones are no longer taken, this one is still decided, and the
// process ends with status 0.
func TestTerminationLetsRequestsFinish(t *testing.T) {
	onEachStore(t, service.Options{}, func(t *testing.T, s *service.Service) {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.API, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.SetDeadline(time.Now().Add(patient)); err != nil {
			t.Fatal(err)
		}
		// The service asks for the body once it has begun with the request.
		fmt.Fprintf(c, "POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", len(oneCheck))
		in := bufio.NewReader(c)
		if line, err := in.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 100 ") {
			t.Fatalf("%q, %v", line, err)
		}
		if _, err := in.ReadString('\n'); err != nil {
			t.Fatal(err)
		}

		s.Terminate()
		s.AwaitLog("draining")
		service.Await(t, patient, "the listener to close", func() bool {
			late, err := net.Dial("tcp", c.RemoteAddr().String())
			if err != nil {
				return true
			}
			late.Close()
			return false
		})
		// Probes are told, for as long as there is something to wait for.
		if p := s.Page("/readyz"); p.Status != http.StatusServiceUnavailable || !strings.Contains(string(p.Body), "draining") {
			t.Errorf("/readyz answers %d: %s", p.Status, p.Body)
		}

		if _, err := io.WriteString(c, oneCheck); err != nil {
			t.Fatal(err)
		}
		r, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatalf("the request in progress was cut off: %v", err)
		}
		defer r.Body.Close()
		var d client.Decision
		if err := json.NewDecoder(r.Body).Decode(&d); err != nil || r.StatusCode != http.StatusOK || d.Attempt == "" {
			t.Errorf("the request in progress was answered %d, %v", r.StatusCode, err)
		}
		s.Wait()
		s.AwaitLog("stopped")
	})
}

// TestTerminationUnderLoad: every request that was taken is answered.
func TestTerminationUnderLoad(t *testing.T) {
	s := service.Start(t, service.Options{})
	var attempts []string
	for i := range 20 {
		attempts = append(attempts, s.Check(client.Attempt{Account: fmt.Sprint("account", i), IP: address(i)}).Attempt)
	}
	for _, a := range attempts {
		report(t, s, a, "success")
	}
	s.Stop()
	if log := s.Log(); strings.Contains(log, "cut off") {
		t.Errorf("requests were cut off:\n%s", log)
	}
}
