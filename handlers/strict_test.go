package handlers

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestChecksThatAreRefusedReachNoEngine(t *testing.T) {
	long := func(n int) string { return strings.Repeat("a", n) }
	forwarded := func(lines ...string) string {
		return `{"account":"alice","forwarded":{"peer":"10.0.0.1","x_forwarded_for":["` + strings.Join(lines, `","`) + `"]}}`
	}
	for _, tt := range []struct {
		name, body string
		status     int
		says       string
	}{
		// not JSON, or not these members: 400
		{"empty", ``, 400, "not one JSON object"},
		{"blank", " \n", 400, "not one JSON object"},
		{"cut off", `{"account":"alice"`, 400, "not one JSON object"},
		{"trailing data", goodCheck + `{}`, 400, "not one JSON object"},
		{"trailing comma", `{"account":"alice","ip":"203.0.113.9",}`, 400, "not one JSON object"},
		{"byte order mark", "\uFEFF" + goodCheck, 400, "not one JSON object"},
		{"single quotes", `{'account':'alice'}`, 400, "not one JSON object"},
		{"NUL after the end", goodCheck + "\x00", 400, "not one JSON object"},
		{"a list", `[` + goodCheck + `]`, 400, "must be an object"},
		{"a string", `"alice"`, 400, "must be an object"},
		{"null", `null`, 400, "must be an object"},
		{"unknown member", `{"account":"alice","ip":"203.0.113.9","user":"bob"}`, 400, "The member user is not known."},
		{"unknown member that may be a secret", `{"pass word: hunter2":1}`, 400, `"The body has a member that is not known."`},
		{"empty member name", `{"":1}`, 400, "not known"},
		{"member twice", `{"account":"alice","ip":"203.0.113.9","account":"bob"}`, 400, "The member account is there twice."},
		{"member twice, once escaped", `{"account":"alice","\u0061ccount":"bob","ip":"203.0.113.9"}`, 400, "account is there twice"},
		{"member in capitals", `{"Account":"alice","ip":"203.0.113.9"}`, 400, "in exactly these letters"},
		{"decoy before", `{"account":"decoy","Account":"alice","ip":"203.0.113.9"}`, 400, "in exactly these letters"},
		{"decoy after", `{"Account":"alice","account":"decoy","ip":"203.0.113.9"}`, 400, "in exactly these letters"},
		{"letter that folds to s", `{"pa\u017Fsword_tag":"t","account":"alice","ip":"203.0.113.9"}`, 400, "in exactly these letters"},
		{"twice inside", `{"account":"alice","forwarded":{"peer":"a","peer":"b","forwarded":[]}}`, 400, "forwarded.peer is there twice"},
		{"unknown inside", `{"account":"alice","forwarded":{"peer":"a","x_real_ip":"b"}}`, 400, "forwarded.x_real_ip is not known"},
		{"account null", `{"account":null,"ip":"203.0.113.9"}`, 400, "account must be a string"},
		{"account a number", `{"account":42,"ip":"203.0.113.9"}`, 400, "account must be a string"},
		{"account a list", `{"account":["alice"],"ip":"203.0.113.9"}`, 400, "account must be a string"},
		{"account an object", `{"account":{"name":"alice"},"ip":"203.0.113.9"}`, 400, "account must be a string"},
		{"optional member null", `{"account":"alice","ip":"203.0.113.9","device":null}`, 400, "device must be a string"},
		{"forwarded null", `{"account":"alice","forwarded":null}`, 400, "forwarded must be an object"},
		{"bool as string", `{"account":"alice","ip":"203.0.113.9","can_challenge":"true"}`, 400, "can_challenge must be true or false"},
		{"bool as number", `{"account":"alice","ip":"203.0.113.9","can_challenge":1}`, 400, "can_challenge must be true or false"},
		{"bool null", `{"account":"alice","ip":"203.0.113.9","can_challenge":null}`, 400, "can_challenge must be true or false"},
		{"lines a string", `{"account":"alice","forwarded":{"peer":"a","forwarded":"b"}}`, 400, "forwarded.forwarded must be a list of strings"},
		{"lines with null", `{"account":"alice","forwarded":{"peer":"a","forwarded":["b",null]}}`, 400, "must be a list of strings"},
		{"lines in lines", `{"account":"alice","forwarded":{"peer":"a","forwarded":[["b"]]}}`, 400, "must be a list of strings"},
		{"very deep", strings.Repeat(`{"forwarded":`, 1000) + "1" + strings.Repeat("}", 1000), 400, "must be a list of strings"},
		{"bytes that are no UTF-8", "{\"account\":\"\xff\xfe@example.com\",\"ip\":\"203.0.113.9\"}", 400, "not UTF-8"},
		{"a surrogate as UTF-8", "{\"account\":\"\xed\xa0\x80\",\"ip\":\"203.0.113.9\"}", 400, "not UTF-8"},
		{"lone high surrogate", `{"account":"a\ud800","ip":"203.0.113.9"}`, 400, "lone surrogate"},
		{"lone low surrogate", `{"account":"a\uDC00b","ip":"203.0.113.9"}`, 400, "lone surrogate"},
		{"two high surrogates", `{"account":"\ud800\ud800","ip":"203.0.113.9"}`, 400, "lone surrogate"},
		{"surrogates the wrong way round", `{"account":"\udc00\ud800","ip":"203.0.113.9"}`, 400, "lone surrogate"},
		{"surrogate before an escaped backslash", `{"account":"\ud800\\udc00","ip":"203.0.113.9"}`, 400, "lone surrogate"},
		{"surrogate in a member name", `{"a\ud800":1}`, 400, "lone surrogate"},

		// values: 422
		{"account absent", `{"ip":"203.0.113.9"}`, 422, `"field":"account"`},
		{"account empty", `{"account":"","ip":"203.0.113.9"}`, 422, `"field":"account"`},
		{"account too long", `{"account":"` + long(1025) + `","ip":"203.0.113.9"}`, 422, `"field":"account"`},
		{"account too long in bytes", `{"account":"` + strings.Repeat("ä", 513) + `","ip":"203.0.113.9"}`, 422, `"field":"account"`},
		{"no address", `{"account":"alice"}`, 422, `"field":"ip"`},
		{"two addresses", `{"account":"alice","ip":"203.0.113.9","forwarded":{"peer":"10.0.0.1","forwarded":[]}}`, 422, `"field":"ip"`},
		{"peer absent", `{"account":"alice","forwarded":{"forwarded":[]}}`, 422, `"field":"forwarded.peer"`},
		{"no header", `{"account":"alice","forwarded":{"peer":"10.0.0.1"}}`, 422, `"field":"forwarded"`},
		{"two headers", `{"account":"alice","forwarded":{"peer":"10.0.0.1","forwarded":[],"x_forwarded_for":[]}}`, 422, `"field":"forwarded"`},
		{"too many lines", forwarded(strings.Split(strings.Repeat("1,", 64)+"1", ",")...), 422, "at most 64 lines"},
		{"line too long", forwarded(long(8193)), 422, "at most 8192 bytes"},
		{"id empty", `{"account":"alice","ip":"203.0.113.9","id":""}`, 422, `"field":"id"`},
		{"id too long", `{"account":"alice","ip":"203.0.113.9","id":"` + long(129) + `"}`, 422, `"field":"id"`},
		{"tag empty", `{"account":"alice","ip":"203.0.113.9","password_tag":""}`, 422, `"field":"password_tag"`},
		{"tag too long", `{"account":"alice","ip":"203.0.113.9","password_tag":"` + long(129) + `"}`, 422, `"field":"password_tag"`},
		{"route unknown", `{"account":"alice","ip":"203.0.113.9","route":"nope"}`, 422, `"field":"route"`},
		{"route empty", `{"account":"alice","ip":"203.0.113.9","route":""}`, 422, `"field":"route"`},

		// realms: 403
		{"realm unknown", `{"account":"alice","ip":"203.0.113.9","realm":"nope"}`, 403, `"field":"realm"`},
		{"realm of somebody else", `{"account":"alice","ip":"203.0.113.9","realm":"other"}`, 403, `"field":"realm"`},
		{"realm empty", `{"account":"alice","ip":"203.0.113.9","realm":""}`, 403, `"field":"realm"`},

		// size: 413
		{"17 KiB", `{"account":"` + long(17<<10) + `"}`, 413, "16384"},
		{"1 MiB account", `{"account":"` + long(1<<20) + `","ip":"203.0.113.9"}`, 413, "16384"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			for _, path := range []string{"/v1/check", "/v1/explain"} {
				r := post(path, tt.body)
				if path == "/v1/explain" {
					r.Header.Set("Authorization", "Bearer "+adminKey)
				}
				w := serve(b.API(), r)
				if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.says) {
					t.Errorf("%s: got %d %s, want %d saying %q", path, w.Code, w.Body, tt.status, tt.says)
				}
				if got := w.Header().Get("Content-Type"); got != "application/problem+json" {
					t.Errorf("%s: Content-Type %q", path, got)
				}
			}
			if n := b.engine.calls(); n != 0 {
				t.Errorf("the engine was asked %d times", n)
			}
		})
	}
}

func TestChecksAtTheBoundsAreServed(t *testing.T) {
	b := newBench(t)
	long := func(n int) string { return strings.Repeat("a", n) }
	pad := func(n int) string { return goodCheck + strings.Repeat(" ", n-len(goodCheck)) }
	for name, body := range map[string]string{
		"longest account":  `{"account":"` + long(1024) + `","ip":"203.0.113.9"}`,
		"longest id, tag":  `{"account":"a","ip":"203.0.113.9","id":"` + long(128) + `","password_tag":"` + long(128) + `"}`,
		"longest line":     `{"account":"a","forwarded":{"peer":"p","forwarded":["` + long(8192) + `"]}}`,
		"most lines":       `{"account":"a","forwarded":{"peer":"p","x_forwarded_for":["1"` + strings.Repeat(`,"1"`, 63) + `]}}`,
		"largest body":     pad(16 << 10),
		"empty device":     `{"account":"a","ip":"203.0.113.9","device":""}`,
		"surrogate pair":   `{"account":"\ud83d\ude00","ip":"203.0.113.9"}`,
		"escaped escape":   `{"account":"\\ud800","ip":"203.0.113.9"}`,
		"the character":    `{"account":"` + "\uFFFD" + `","ip":"203.0.113.9"}`,
		"escaped NUL":      `{"account":"a\u0000b","ip":"203.0.113.9"}`,
		"escaped name":     `{"\u0061ccount":"a","ip":"203.0.113.9"}`,
		"white space":      " {\n\t\"account\" : \"a\" ,\r\n \"ip\" : \"203.0.113.9\" } \n",
		"own realm":        `{"account":"a","ip":"203.0.113.9","realm":"shop"}`,
		"account on kiosk": `{"account":"a","ip":"203.0.113.9","route":"kiosk"}`,
	} {
		if w := serve(b.API(), post("/v1/check", body)); w.Code != 200 {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	if w := serve(b.API(), post("/v1/check", pad(16<<10+1))); w.Code != 413 {
		t.Errorf("one byte more: %d", w.Code)
	}
}

func TestBodyTooLargeWithoutContentLength(t *testing.T) {
	b := newBench(t)
	r := post("/v1/check", "")
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(goodCheck+strings.Repeat(" ", 16<<10))), -1
	if w := serve(b.API(), r); w.Code != 413 || b.engine.calls() != 0 {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

// unread is a body that must not be asked for.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

func TestABodyThatSaysItIsTooLargeIsNotRead(t *testing.T) {
	b := newBench(t)
	r := post("/v1/check", "")
	r.Body, r.ContentLength = io.NopCloser(unread{t}), 16<<10+1
	if w := serve(b.API(), r); w.Code != 413 {
		t.Errorf("got %d", w.Code)
	}
}

func TestErrorsOutsideOfAHandlerAreProblemsToo(t *testing.T) {
	b := newBench(t)
	w := httptest.NewRecorder()
	b.api.HTTPErrorHandler(errors.New("inside"), b.api.NewContext(post("/v1/check", ""), w))
	if w.Code != 500 || w.Header().Get("Content-Type") != "application/problem+json" || strings.Contains(w.Body.String(), "inside") {
		t.Errorf("got %s", dump(w))
	}
}

func TestContentTypes(t *testing.T) {
	for _, tt := range []struct {
		header, value string
		status        int
	}{
		{"Content-Type", "application/json", 200},
		{"Content-Type", "Application/JSON", 200},
		{"Content-Type", "application/json; charset=utf-8", 200},
		{"Content-Type", `application/json;charset="UTF-8"`, 200},
		{"Content-Type", "application/json; charset=latin1", 415},
		{"Content-Type", "application/json; charset=utf-8; x=y", 415},
		{"Content-Type", "application/json; x=y", 415},
		{"Content-Type", "application/json, text/plain", 415},
		{"Content-Type", "application/x+json", 415},
		{"Content-Type", "application/problem+json", 415},
		{"Content-Type", "text/json", 415},
		{"Content-Type", "text/plain", 415},
		{"Content-Type", "application/x-www-form-urlencoded", 415},
		{"Content-Type", "multipart/form-data; boundary=x", 415},
		{"Content-Type", "", 415},
		{"Content-Encoding", "identity", 200},
		{"Content-Encoding", "gzip", 415},
		{"Content-Encoding", "identity, gzip", 415},
	} {
		b := newBench(t)
		w := serve(b.API(), post("/v1/check", goodCheck, tt.header, tt.value))
		if w.Code != tt.status {
			t.Errorf("%s %q: got %d, want %d", tt.header, tt.value, w.Code, tt.status)
		}
		if body := w.Body.String(); tt.status == 415 && tt.header == "Content-Type" &&
			(!strings.Contains(body, "application/json") || !strings.Contains(body, "curl -d") || !strings.Contains(body, "curl --json")) {
			t.Errorf("%q: the answer does not help: %s", tt.value, body)
		}
	}
	b := newBench(t)
	r := post("/v1/check", goodCheck)
	r.Header.Add("Content-Type", "text/plain")
	if w := serve(b.API(), r); w.Code != 415 {
		t.Errorf("two types: got %d", w.Code)
	}
}

func TestReportsThatAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		status     int
		field      string
	}{
		{"no outcome", `{"attempt":"a"}`, 422, "outcome"},
		{"unknown outcome", `{"attempt":"a","outcome":"ok"}`, 422, "outcome"},
		{"outcome in capitals", `{"attempt":"a","outcome":"Success"}`, 422, "outcome"},
		{"empty reason", `{"attempt":"a","outcome":"failure","reason":""}`, 422, "reason"},
		{"unknown reason", `{"attempt":"a","outcome":"failure","reason":"typo"}`, 422, "reason"},
		{"reason of a success", `{"attempt":"a","outcome":"success","reason":"bad_password"}`, 422, "reason"},
		{"empty attempt", `{"attempt":"","outcome":"success"}`, 422, "attempt"},
		{"long attempt", `{"attempt":"` + strings.Repeat("a", 513) + `","outcome":"success"}`, 422, "attempt"},
		{"attempt and id", `{"attempt":"a","id":"i","outcome":"success"}`, 422, "id"},
		{"attempt and account", `{"attempt":"a","account":"alice","outcome":"success"}`, 422, "account"},
		{"attempt and ip", `{"attempt":"a","ip":"203.0.113.9","outcome":"success"}`, 422, "ip"},
		{"attempt and forwarded", `{"attempt":"a","forwarded":{},"outcome":"success"}`, 422, "forwarded"},
		{"attempt and route", `{"attempt":"a","route":"login","outcome":"success"}`, 422, "route"},
		{"attempt and device", `{"attempt":"a","device":"d","outcome":"success"}`, 422, "device"},
		{"attempt and tag", `{"attempt":"a","password_tag":"d","outcome":"success"}`, 422, "password_tag"},
		{"attempt and challenge", `{"attempt":"a","challenge_passed":false,"outcome":"success"}`, 422, "challenge_passed"},
		{"attempt of another realm", `{"attempt":"a","realm":"other","outcome":"success"}`, 403, "realm"},
		{"id without account", `{"id":"i","ip":"203.0.113.9","outcome":"success"}`, 422, "account"},
		{"id without address", `{"id":"i","account":"alice","outcome":"success"}`, 422, "ip"},
		{"nothing", `{"outcome":"success"}`, 422, "account"},
		{"outcome null", `{"attempt":"a","outcome":null}`, 400, ""},
		{"remember_device as word", `{"attempt":"a","outcome":"success","remember_device":"yes"}`, 400, ""},
		{"attempt twice", `{"attempt":"a","attempt":"b","outcome":"success"}`, 400, ""},
		{"unknown member", `{"attempt":"a","outcome":"success","scope":"x"}`, 400, ""},
	} {
		b := newBench(t)
		w := serve(b.API(), post("/v1/report", tt.body))
		if w.Code != tt.status || tt.field != "" && !strings.Contains(w.Body.String(), `"field":"`+tt.field+`"`) {
			t.Errorf("%s: got %d %s, want %d and field %q", tt.name, w.Code, w.Body, tt.status, tt.field)
		}
		if b.engine.calls() != 0 {
			t.Errorf("%s: the engine was asked", tt.name)
		}
	}
}

func TestForgetsThatAreRefused(t *testing.T) {
	for _, tt := range []struct {
		body   string
		status int
		field  string
	}{
		{`{}`, 422, "account"},
		{`{"account":"alice","network":"carrier-a"}`, 422, "account"},
		{`{"account":""}`, 422, "account"},
		{`{"account":"` + strings.Repeat("a", 1025) + `"}`, 422, "account"},
		{`{"network":""}`, 422, "network"},
		{`{"network":"` + strings.Repeat("a", 65) + `"}`, 422, "network"},
		{`{"network":"carrier-a","scope":"limits"}`, 422, "scope"},
		{`{"account":"alice","scope":"all"}`, 422, "scope"},
		{`{"account":"alice","scope":""}`, 422, "scope"},
		{`{"account":"alice","realm":"shop"}`, 403, "realm"}, // the admin has the realm default only
		{`{"account":"alice","ip":"203.0.113.9"}`, 400, ""},
	} {
		b := newBench(t)
		w := serve(b.API(), asAdmin("/v1/forget", tt.body))
		if w.Code != tt.status || tt.field != "" && !strings.Contains(w.Body.String(), `"field":"`+tt.field+`"`) {
			t.Errorf("%s: got %d %s, want %d and field %q", tt.body, w.Code, w.Body, tt.status, tt.field)
		}
		if b.engine.calls() != 0 {
			t.Errorf("%s: the engine was asked", tt.body)
		}
	}
}

func TestPathsAndMethods(t *testing.T) {
	b := newBench(t)
	for _, tt := range []struct {
		method, target string
		status         int
		allow          string
	}{
		{"GET", "/v1/check", 405, "OPTIONS, POST"},
		{"HEAD", "/v1/check", 405, "OPTIONS, POST"},
		{"DELETE", "/v1/forget", 405, "OPTIONS, POST"},
		{"POST", "/v1/limits", 405, "OPTIONS, GET, HEAD"},
		{"OPTIONS", "/v1/check", 204, "OPTIONS, POST"},
		{"POST", "/v1/check/", 404, ""},
		{"POST", "//v1/check", 404, ""},
		{"POST", "/v1/Check", 404, ""},
		{"POST", "/v1/%63heck", 404, ""},
		{"POST", "/v1%2Fcheck", 404, ""},
		{"POST", "/v1/./check", 404, ""},
		{"POST", "/v1/check;a=b", 404, ""},
		{"GET", "/", 404, ""},
		{"GET", "/metrics", 404, ""},
	} {
		r := httptest.NewRequest(tt.method, tt.target, strings.NewReader(goodCheck))
		with(r, "Authorization", "Bearer "+idpKey, "Content-Type", "application/json")
		w := serve(b.API(), r)
		if w.Code != tt.status || w.Header().Get("Allow") != tt.allow {
			t.Errorf("%s %s: got %d, Allow %q, want %d, %q", tt.method, tt.target, w.Code, w.Header().Get("Allow"), tt.status, tt.allow)
		}
		if got := w.Header().Get("Content-Type"); tt.status >= 400 && got != "application/problem+json" {
			t.Errorf("%s %s: Content-Type %q", tt.method, tt.target, got)
		}
	}
	if b.engine.calls() != 0 {
		t.Error("the engine was asked")
	}
	if w := serve(b.API(), with(httptest.NewRequest("HEAD", "/v1/limits", nil), "X-API-Key", idpKey)); w.Code != 200 {
		t.Errorf("HEAD of the limits: %d", w.Code)
	}
	if w := serve(b.API(), post("/v1/check?account=bob&account=carol", goodCheck)); w.Code != 200 || b.engine.asked[0].Account != "alice" {
		t.Errorf("a query changed the check: %d %+v", w.Code, b.engine.asked)
	}
}

// A proxy that takes a bare line feed for the end of a chunk's size reads one
// request where a strict server reads two.
func TestASmuggledSecondRequestIsNotServed(t *testing.T) {
	b := newBench(t)
	srv := httptest.NewServer(b.API())
	defer srv.Close()
	c, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	head := "POST /v1/check HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + idpKey + "\r\nContent-Type: application/json\r\n"
	fmt.Fprintf(c, "%sTransfer-Encoding: chunked\r\n\r\n%x\n%s\r\n0\r\n\r\n%sContent-Length: %d\r\n\r\n%s",
		head, len(goodCheck), goodCheck, head, len(goodCheck), goodCheck)
	in := bufio.NewReader(c)
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != 400 || !resp.Close {
		t.Errorf("got %s, close %v, want 400 and a closed connection", resp.Status, resp.Close)
	}
	if resp, err := http.ReadResponse(in, nil); err == nil {
		t.Errorf("a second answer came: %s", resp.Status)
	}
	if b.engine.calls() != 0 {
		t.Errorf("the engine was asked %d times", b.engine.calls())
	}
}
