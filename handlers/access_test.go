package handlers

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"loginguard/guard"
)

// logLines parses the log and removes what differs from run to run.
func logLines(t *testing.T, b *bench) []map[string]any {
	t.Helper()
	var list []map[string]any
	for _, l := range strings.Split(strings.TrimSpace(b.out.String()), "\n") {
		if l == "" {
			continue
		}
		m := map[string]any{}
		if err := json.Unmarshal([]byte(l), &m); err != nil {
			t.Fatalf("log line %q: %v", l, err)
		}
		list = append(list, m)
	}
	return list
}

func TestOneLogLinePerRequest(t *testing.T) {
	busy := guard.Decision{Verdict: guard.Deny, Reason: guard.ReasonStore, Busy: true, RetryAfter: 1, Shown: -1}
	for _, tt := range []struct {
		name string
		d    guard.Decision
		err  error
		r    *http.Request
		want map[string]any
	}{
		{"allow", someAllow(), nil, post("/v1/check", goodCheck), map[string]any{
			"level": "debug", "message": "/v1/check", "caller": "idp", "realm": "default", "route": "login", "decision": "allow",
			"client": "203.0.113.9", "account_hash": "AAAAAAAAAAAAAAAAAAAAAA", "status": 200.0,
		}},
		{"deny", accountDenial(), nil, post("/v1/check", goodCheck), map[string]any{
			"level": "info", "decision": "deny", "limit": "account", "status": 429.0, "client": "203.0.113.9",
		}},
		{"network denies", guard.Decision{Verdict: guard.Deny, Limit: "network", Level: "subnet", Shown: -1}, nil, post("/v1/check", goodCheck), map[string]any{
			"level": "info", "limit": "network", "network_level": "subnet",
		}},
		{"store down", busy, nil, post("/v1/check", goodCheck), map[string]any{
			"level": "warn", "decision": "deny", "reason": "store_unavailable", "status": 503.0,
		}},
		{"degraded", guard.Decision{Verdict: guard.Allow, Degraded: true, Shown: -1}, nil, post("/v1/check", goodCheck), map[string]any{
			"level": "warn", "decision": "allow", "degraded": true,
		}},
		{"report", guard.Decision{}, nil, post("/v1/report", `{"attempt":"a","outcome":"cancelled","realm":"shop"}`), map[string]any{
			"level": "debug", "message": "/v1/report", "outcome": "cancelled", "realm": "shop", "status": 200.0,
		}},
		{"wrong key", guard.Decision{}, nil, post("/v1/check", goodCheck, "Authorization", "Bearer x"), map[string]any{
			"level": "warn", "cause": "wrong_key", "status": 401.0, "peer": "192.0.2.1",
		}},
		{"wrong role", guard.Decision{}, nil, post("/v1/forget", `{}`), map[string]any{
			"level": "warn", "cause": "role", "caller": "idp", "status": 403.0, "peer": "192.0.2.1", "realm": nil,
		}},
		{"not JSON", guard.Decision{}, nil, post("/v1/check", `{`), map[string]any{
			"level": "info", "cause": "json", "caller": "idp", "status": 400.0,
		}},
		{"error", guard.Decision{}, errors.New("inside\nlevel=info"), post("/v1/check", goodCheck), map[string]any{
			"level": "error", "cause": "internal", "error": `inside\u000alevel=info`, "status": 500.0,
		}},
		{"store error", guard.Decision{}, &guard.Error{Kind: guard.KindStore, Err: errors.New("dial")}, post("/v1/check", goodCheck), map[string]any{
			"level": "warn", "cause": "store_unavailable", "error": "dial", "status": 503.0,
		}},
		{"refused value", guard.Decision{}, &guard.Error{Kind: guard.KindInvalid, Field: "ip", Err: errors.New("alice is no address")}, post("/v1/check", goodCheck), map[string]any{
			"level": "info", "cause": "value", "error": nil, "status": 422.0,
		}},
		{"unknown path", guard.Decision{}, nil, post("/v1/planted-path", goodCheck), map[string]any{
			"level": "info", "message": "unknown path", "status": 404.0,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.engine.decision, b.engine.err = tt.d, tt.err
			w := serve(b.API(), tt.r)
			lines := logLines(t, b)
			if len(lines) != 1 {
				t.Fatalf("%d lines: %s", len(lines), b.out)
			}
			for k, want := range tt.want {
				if lines[0][k] != want {
					t.Errorf("%s: got %v, want %v in %s", k, lines[0][k], want, b.out)
				}
			}
			if id := w.Header().Get("X-Request-Id"); id == "" || lines[0]["request_id"] != id {
				t.Errorf("request id %q is not that of the line %v", id, lines[0]["request_id"])
			}
			if _, ok := lines[0]["duration_ms"].(float64); !ok {
				t.Errorf("no duration in %s", b.out)
			}
		})
	}
}

func TestTheRequestIDIsNotTheClients(t *testing.T) {
	b := newBench(t)
	w := serve(b.API(), post("/v1/check", goodCheck, "X-Request-Id", "forged-id"))
	if w.Header().Get("X-Request-Id") == "forged-id" || strings.Contains(b.out.String(), "forged-id") {
		t.Errorf("the id of the client was taken: %s", b.out)
	}
}

func TestLogAndMetricsShowNothingThatWasSent(t *testing.T) {
	b := newBench(t)
	forged := secretName + `\nlevel=info msg=login_ok ip=192.0.2.1 \u0085\u2028\u001b[31m\u202e`
	full := `"account":"` + forged + `","ip":"192.0.2.50 denied","password_tag":"` + secretTag + `","device":"` + secretDev + `","id":"planted-id-4716"`
	bodies := map[string][]string{
		"/v1/check": {`{` + full + `}`, `{` + full + `,"route":"planted-route"}`, `{` + full + `,"realm":"planted-realm"}`,
			`{` + full + `,"planted_member":1}`, `{` + full + `}x`, `{"account":"` + secretName + `"}`, secretName},
		"/v1/report":  {`{` + full + `,"outcome":"success"}`, `{"attempt":"planted-attempt","outcome":"failure"}`, `{"attempt":"planted-attempt","outcome":"planted-outcome"}`},
		"/v1/forget":  {`{"account":"` + secretName + `"}`, `{"account":"` + secretName + `","scope":"planted-scope"}`, `{"network":"planted-network"}`},
		"/v1/explain": {`{` + full + `}`},
		"/planted":    {`{` + full + `}`},
	}
	for path, list := range bodies {
		for _, body := range list {
			for _, d := range []guard.Decision{someAllow(), accountDenial()} {
				b.engine.decision = d
				for _, key := range []string{idpKey, adminKey, "planted-key"} {
					r := post(path+"?planted=query", body, "Authorization", "Bearer "+key, "Cookie", "planted-cookie",
						"User-Agent", "planted-agent", "X-Forwarded-For", "planted-xff", "Referer", "planted-referer")
					r.Host = "planted.example"
					serve(b.API(), r)
					serve(b.Admin(), r.Clone(r.Context()))
				}
			}
		}
	}
	b.engine.panics = "planted-panic"
	serve(b.API(), post("/v1/check", goodCheck))
	metrics := serve(b.Admin(), httptest.NewRequest("GET", "/metrics", nil)).Body.String()
	for where, got := range map[string]string{"log": b.out.String(), "metrics": metrics} {
		if len(got) < 1000 {
			t.Fatalf("the %s is nearly empty: %s", where, got)
		}
		for _, secret := range []string{"planted", "qvxzja", "wkqhzx", "zjxqvk", idpKey, adminKey, "192.0.2.50", "login_ok", "[31m"} {
			if i := strings.Index(got, secret); i >= 0 {
				t.Errorf("the %s shows %q: ...%s...", where, secret, got[max(0, i-200):min(len(got), i+200)])
			}
		}
	}
}

func TestAPanicIsA500ThatShowsNothing(t *testing.T) {
	b := newBench(t)
	b.engine.panics = errors.New("inside")
	w := serve(b.API(), post("/v1/check", goodCheck))
	if w.Code != 500 || strings.Contains(w.Body.String(), "inside") || strings.Contains(w.Body.String(), "goroutine") {
		t.Errorf("got %s", dump(w))
	}
	lines := logLines(t, b)
	if stack, _ := lines[0]["stack"].(string); lines[0]["level"] != "error" || !strings.Contains(stack, "fake_test.go") {
		t.Errorf("the log does not say where: %s", b.out)
	}
	if got := lines[0]["error"]; got != "panic: *errors.errorString" {
		t.Errorf("error %q", got)
	}
	b.engine.panics = nil
	if w := serve(b.API(), post("/v1/check", goodCheck)); w.Code != 200 {
		t.Errorf("after the panic: %d", w.Code)
	}
}

func TestAnAbortCutsTheConnection(t *testing.T) {
	b := newBench(t)
	b.engine.panics = http.ErrAbortHandler
	defer func() {
		if v := recover(); v != http.ErrAbortHandler {
			t.Errorf("recovered %v", v)
		}
	}()
	serve(b.API(), post("/v1/check", goodCheck))
	t.Error("the abort was swallowed")
}

func TestAFloodOfDenialsIsSampled(t *testing.T) {
	b := newBench(t)
	b.engine.decision = accountDenial()
	now := time.Unix(1e9, 0)
	for range 1000 {
		b.line("/v1/check", &record{verdict: "deny", status: 429}, now)
	}
	if got := len(logLines(t, b)); got != linesPerSecond {
		t.Errorf("%d lines in one second, want %d", got, linesPerSecond)
	}
	b.line("/v1/check", &record{cause: "internal", status: 500, err: errors.New("x")}, now)
	b.line("/v1/check", &record{verdict: "deny", status: 429}, now.Add(time.Second))
	lines := logLines(t, b)
	if len(lines) != linesPerSecond+2 {
		t.Fatalf("%d lines, want %d", len(lines), linesPerSecond+2)
	}
	if got := lines[linesPerSecond]; got["level"] != "error" {
		t.Errorf("the flood hid an error: %v", got)
	}
	if got := lines[linesPerSecond+1]["lines_dropped"]; got != float64(1000-linesPerSecond) {
		t.Errorf("dropped %v, want %d", got, 1000-linesPerSecond)
	}
}

func TestLinesBelowTheLevelAreNotCounted(t *testing.T) {
	b := newBench(t, func(c *Config, _ *fakeEngine) { c.Log = c.Log.Level(zerolog.WarnLevel) })
	for range 3 * linesPerSecond {
		b.line("/v1/check", &record{status: 400, cause: "json"}, time.Unix(1e9, 0))
	}
	b.line("/v1/check", &record{status: 401, cause: "no_key"}, time.Unix(1e9, 0))
	lines := logLines(t, b)
	if len(lines) != 1 || lines[0]["lines_dropped"] != nil {
		t.Errorf("got %s", b.out)
	}
}

func TestEscapeLog(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"plain ä 日本 😀\n", "plain ä 日本 😀\n"},
		{"no line end", "no line end"},
		{"", ""},
		{"a\nb\n", `a\u000ab` + "\n"},
		{"a\rb\x1b[31mred\n", `a\u000db\u001b[31mred` + "\n"},
		{"a\u0085b\u2028c\u2029d\n", `a\u0085b\u2028c\u2029d` + "\n"},
		{"a\u202eb\u2066c\u200fd\ufeff\n", `a\u202eb\u2066c\u200fd\ufeff` + "\n"},
		{"a\x9bb\U000e0001\n", "a\uFFFDb" + `\udb40\udc01` + "\n"},
		{"\uFFFD\n", "\uFFFD\n"},
	} {
		var b bytes.Buffer
		n, err := io.WriteString(EscapeLog(&b), tt.in)
		if err != nil || n != len(tt.in) || b.String() != tt.want {
			t.Errorf("%q: got %q, %d, %v, want %q", tt.in, b.String(), n, err, tt.want)
		}
	}
}

func TestEscapeLogKeepsJSONAndTextOnOneLine(t *testing.T) {
	evil := "alice\nlevel=info\r\u0085\u2028\u2029\x1b[31m\u202e\x7f end"
	var b bytes.Buffer
	l := zerolog.New(EscapeLog(&b))
	l.Info().Str("v", evil).Msg(evil)
	var got map[string]string
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || got["v"] != evil {
		t.Errorf("JSON lost the value: %v, %q", err, got["v"])
	}
	if i := strings.IndexFunc(strings.TrimSuffix(b.String(), "\n"), unsafeRune); i >= 0 {
		t.Errorf("unsafe character at %d of %q", i, b.String())
	}
	b.Reset()
	l = zerolog.New(zerolog.ConsoleWriter{Out: EscapeLog(&b), NoColor: true})
	l.Info().Str("v", evil).Msg(evil)
	if i := strings.IndexFunc(strings.TrimSuffix(b.String(), "\n"), unsafeRune); i >= 0 {
		t.Errorf("unsafe character at %d of %q", i, b.String())
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestEscapeLogPassesErrorsOn(t *testing.T) {
	if n, err := EscapeLog(brokenWriter{}).Write([]byte("x\n")); err == nil || n != 0 {
		t.Errorf("got %d, %v", n, err)
	}
}
