package e2e

import (
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

// TestBodiesThatMightMeanSomethingElse are refused, each with the status that
// says what is wrong, and none is charged.
func TestBodiesThatMightMeanSomethingElse(t *testing.T) {
	s := service.Start(t, service.Options{})
	const json = "application/json"
	for _, test := range []struct {
		name, contentType, body string
		want                    int
	}{
		{"right", json, oneCheck, 200},
		{"right, with a charset", "application/json; charset=UTF-8", oneCheck, 200},
		{"unknown member", json, `{"account":"alice","ip":"203.0.113.9","acount":"x"}`, 400},
		{"member twice", json, `{"account":"alice","ip":"203.0.113.9","account":"bob"}`, 400},
		{"member in another case", json, `{"Account":"alice","ip":"203.0.113.9"}`, 400},
		{"member in two cases", json, `{"account":"alice","ACCOUNT":"bob","ip":"203.0.113.9"}`, 400},
		{"member by an escape", json, `{"account":"alice","\u0061ccount":"bob","ip":"203.0.113.9"}`, 400},
		{"trailing data", json, oneCheck + oneCheck, 400},
		{"trailing brace", json, oneCheck + "}", 400},
		{"no object", json, `["alice"]`, 400},
		{"null", json, `null`, 400},
		{"empty", json, ``, 400},
		{"cut off", json, oneCheck[:20], 400},
		{"comment", json, `{/*x*/"account":"alice","ip":"203.0.113.9"}`, 400},
		{"number for a string", json, `{"account":7,"ip":"203.0.113.9"}`, 400},
		{"null for a string", json, `{"account":null,"ip":"203.0.113.9"}`, 400},
		{"string for a truth", json, `{"account":"alice","ip":"203.0.113.9","can_challenge":"true"}`, 400},
		{"byte order mark", json, "\xef\xbb\xbf" + oneCheck, 400},
		{"no account", json, `{"ip":"203.0.113.9"}`, 422},
		{"empty account", json, `{"account":"","ip":"203.0.113.9"}`, 422},
		{"invisible account", json, `{"account":" \u200b\t","ip":"203.0.113.9"}`, 422},
		{"account of 1025 bytes", json, `{"account":"` + strings.Repeat("a", 1025) + `","ip":"203.0.113.9"}`, 422},
		{"no address", json, `{"account":"alice"}`, 422},
		{"no such address", json, `{"account":"alice","ip":"203.0.113.999"}`, 422},
		{"address with a prefix", json, `{"account":"alice","ip":"203.0.113.0/24"}`, 422},
		{"both kinds of address", json, `{"account":"alice","ip":"203.0.113.9","forwarded":{"peer":"127.0.0.1","x_forwarded_for":[]}}`, 422},
		{"no such route", json, `{"account":"alice","ip":"203.0.113.9","route":"logon"}`, 422},
		{"no such realm", json, `{"account":"alice","ip":"203.0.113.9","realm":"nowhere"}`, 403},
		{"id of 129 bytes", json, `{"account":"alice","ip":"203.0.113.9","id":"` + strings.Repeat("a", 129) + `"}`, 422},
		{"over 16 KiB", json, `{"account":"alice","ip":"203.0.113.9"` + strings.Repeat(" ", 16<<10) + `}`, 413},
		{"a form", "application/x-www-form-urlencoded", "account=alice&ip=203.0.113.9", 415},
		{"json that says it is a form", "application/x-www-form-urlencoded", oneCheck, 415},
		{"text", "text/plain", oneCheck, 415},
		{"another charset", "application/json; charset=utf-16", oneCheck, 415},
		{"no type", "", oneCheck, 415},
	} {
		h := http.Header{}
		if test.contentType != "" {
			h.Set("Content-Type", test.contentType)
		}
		r := s.Do("POST", "/v1/check", h, test.body)
		if r.Status != test.want {
			t.Errorf("%s: answered %d, want %d: %s", test.name, r.Status, test.want, r.Body)
		}
		if test.want != 200 && !strings.HasPrefix(r.Header.Get("Content-Type"), "application/problem+json") {
			t.Errorf("%s: answered with the type %q", test.name, r.Header.Get("Content-Type"))
		}
		if test.want == 415 && !strings.Contains(string(r.Body), "application/json") {
			t.Errorf("%s: the answer does not name the right type: %s", test.name, r.Body)
		}
	}
	if left := s.Explain(client.Attempt{Account: "alice", IP: address(1)}).Find("account", "").Remaining; left != 8 {
		t.Errorf("%d are left after two right bodies, want 8", left)
	}
}

// TestPathsAndMethods: nothing answers to another spelling of its path.
func TestPathsAndMethods(t *testing.T) {
	s := service.Start(t, service.Options{})
	h := http.Header{"Content-Type": {"application/json"}}
	for _, test := range []struct {
		method, path string
		want         int
	}{
		{"POST", "/v1/check", 200},
		{"GET", "/v1/check", 405},
		{"PUT", "/v1/check", 405},
		{"POST", "/v1/check/", 404},
		{"POST", "//v1/check", 404},
		{"POST", "/v1/%63heck", 404},
		{"POST", "/V1/check", 404},
		{"POST", "/v1/../v1/check", 404},
		{"GET", "/livez", 404},
		{"GET", "/metrics", 404},
	} {
		r := s.Do(test.method, test.path, h, oneCheck)
		if r.Status != test.want {
			t.Errorf("%s %s: answered %d, want %d", test.method, test.path, r.Status, test.want)
		}
		if allow := r.Header.Get("Allow"); (allow != "") != (test.want == 405) {
			t.Errorf("%s %s: Allow is %q on %d", test.method, test.path, allow, r.Status)
		}
	}
	if r := s.Operate("POST", "/v1/check", h, oneCheck); r.Status != http.StatusNotFound {
		t.Errorf("a check on the admin listener was answered %d", r.Status)
	}
}

// TestSmuggledRequestsAreRefused sends bodies whose end a proxy in front might
// see elsewhere, with a second request where they differ. It must not be
// answered, and the connection must end.
func TestSmuggledRequestsAreRefused(t *testing.T) {
	s := service.Start(t, service.Options{})
	const second = "POST /v1/forget HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 19\r\n\r\n{\"account\":\"alice\"}"
	request := func(headers, body string) string {
		return "POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + headers + "\r\n" + body
	}
	const chunked = "Transfer-Encoding: chunked\r\n"
	size := fmt.Sprintf("%x", len(oneCheck))
	for _, test := range []struct{ name, request string }{
		{"bare line feed after the chunk's size", request(chunked, size+"\n"+oneCheck+"\r\n0\r\n\r\n")},
		{"bare line feed in a chunk's extension", request(chunked, size+";a\nb\r\n"+oneCheck+"\r\n0\r\n\r\n")},
		{"bare line feed after the chunk", request(chunked, size+"\r\n"+oneCheck+"\n0\r\n\r\n")},
		{"two lengths", request("Content-Length: 38\r\nContent-Length: 5\r\n", oneCheck)},
		{"signed length", request("Content-Length: +38\r\n", oneCheck)},
		{"coding that only looks like chunked", request("Transfer-Encoding: xchunked\r\n", size+"\r\n"+oneCheck+"\r\n0\r\n\r\n")},
		{"blank before the colon", request("Content-Length : 38\r\n", oneCheck)},
		{"size that is no number", request(chunked, "0x"+size+"\r\n"+oneCheck+"\r\n0\r\n\r\n")},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer := exchange(t, s.API, test.request+second)
			if n := strings.Count(answer, "HTTP/1.1 "); n > 1 {
				t.Fatalf("%d answers:\n%s", n, answer)
			}
			if answer != "" && !strings.HasPrefix(answer, "HTTP/1.1 400 ") && !strings.HasPrefix(answer, "HTTP/1.1 501 ") {
				t.Errorf("answered:\n%s", answer)
			}
		})
	}
	// The same request, well made, is answered: so it was the framing.
	if answer := exchange(t, s.API, request(chunked+"Connection: close\r\n", size+"\r\n"+oneCheck+"\r\n0\r\n\r\n")); !strings.HasPrefix(answer, "HTTP/1.1 200 ") {
		t.Errorf("a well-made request was answered:\n%s", answer)
	}
}

// exchange sends raw bytes and returns all that comes back until the service
// ends the connection.
func exchange(t *testing.T, url, request string) string {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(patient)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(c)
	if e, ok := err.(net.Error); ok && e.Timeout() {
		t.Fatalf("the connection stays open after:\n%s", answer)
	}
	return string(answer)
}
