package feed

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loginguard/test/internal/client"
)

// service answers as loginguard would: the third check and all after it are
// denied, the account "broken" is an error.
func service(t *testing.T, asked *[]string) *client.Client {
	t.Helper()
	checks := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		line, _ := json.Marshal(body)
		*asked = append(*asked, r.URL.Path+" "+string(line))
		switch {
		case r.URL.Path == "/v1/report":
			w.Write([]byte(`{"applied":true,"device":"token"}`))
		case body["account"] == "broken":
			w.WriteHeader(http.StatusServiceUnavailable)
			w.Write([]byte(`{"decision":"deny","reason":"store_unavailable","retry_after":1}`))
		default:
			if checks++; checks > 2 {
				w.WriteHeader(http.StatusTooManyRequests)
				w.Write([]byte(`{"decision":"deny","limit":"network","level":"host","retry_after":30}`))
				return
			}
			w.Write([]byte(`{"decision":"allow","attempt":"t"}`))
		}
	}))
	t.Cleanup(s.Close)
	return client.New(s.URL, "")
}

// TestRunChecksThenReports feeds one line of each kind.
func TestRunChecksThenReports(t *testing.T) {
	var asked []string
	s, err := Run(context.Background(), service(t, &asked), strings.NewReader(`
{"time":1512888000,"account":"a","ip":"192.0.2.1","outcome":"success","device":"phone"}
{"time":"2017-12-10T06:55:48Z","account":"a","ip":"192.0.2.1","outcome":"failure","reason":"bad_password","device":"phone"}

{"time":1512888001,"account":"broken","ip":"192.0.2.1","outcome":"failure"}
{"time":1512888002,"account":"b","ip":"192.0.2.1","outcome":"failure"}
{"time":1512888003,"account":"b","ip":"192.0.2.1","outcome":"success"}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`/v1/check {"account":"a","ip":"192.0.2.1"}`,
		`/v1/report {"attempt":"t","outcome":"success","remember_device":true}`,
		`/v1/check {"account":"a","device":"token","ip":"192.0.2.1"}`,
		`/v1/report {"attempt":"t","outcome":"failure","reason":"bad_password"}`,
		`/v1/check {"account":"broken","ip":"192.0.2.1"}`,
		`/v1/check {"account":"b","ip":"192.0.2.1"}`,
		`/v1/check {"account":"b","ip":"192.0.2.1"}`,
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	var b strings.Builder
	if err := s.Print(&b, 2); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`attempts  5
admitted  2
denied    2
errors    1
denied by network host          2, of them with the right password 1
error     check answered 503 store_unavailable      1
account   "a"                   2 attempts, 1 guesses got through
account   "b"                   2 attempts, 0 guesses got through
`, b.String()); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

// TestRunNamesTheBadLine for logs that are none.
func TestRunNamesTheBadLine(t *testing.T) {
	const good = `{"time":1,"account":"a","ip":"192.0.2.1","outcome":"failure"}` + "\n"
	for _, bad := range []string{
		`{"time":1,"account":"a","ip":"192.0.2.1","outcome":"maybe"}`, `{"acount":"a"}`, `nothing`, `{"time":1`,
		strings.Repeat("x", longestLine+1),
	} {
		var asked []string
		_, err := Run(context.Background(), service(t, &asked), strings.NewReader(good+bad))
		if err == nil || !strings.Contains(err.Error(), "line 2") && !strings.Contains(err.Error(), "read the log") {
			t.Errorf("%.60s: %v", bad, err)
		}
	}
}
