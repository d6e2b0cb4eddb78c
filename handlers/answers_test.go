package handlers

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loginguard/guard"
	"loginguard/policy"
)

// Headers whose presence or absence is part of an answer.
var shown = []string{
	"Content-Type", "Cache-Control", "X-Content-Type-Options", "Retry-After", "Www-Authenticate",
	"Ratelimit-Limit", "Ratelimit-Remaining", "Ratelimit-Reset", "Ratelimit", "Ratelimit-Policy",
}

// text of an answer: status, headers, body.
func dump(w *httptest.ResponseRecorder) string {
	var b strings.Builder
	b.WriteString(strconv.Itoa(w.Code) + "\n")
	for _, n := range shown {
		for _, v := range w.Header()[n] {
			b.WriteString(n + ": " + v + "\n")
		}
	}
	return b.String() + w.Body.String()
}

const allHeaders = "Cache-Control: no-store\nX-Content-Type-Options: nosniff\n"

func TestCheckAnswers(t *testing.T) {
	quota := `{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded",` +
		`"title":"Request cannot be satisfied as assigned quota has been exceeded","status":429,`
	capacity := `{"type":"https://iana.org/assignments/http-problem-types#temporary-reduced-capacity",` +
		`"title":"Request cannot be satisfied due to temporary server capacity constraints","status":503,`
	allowHeaders := "RateLimit-Limit: 10\nRateLimit-Remaining: 9\nRateLimit-Reset: 2160\n" +
		`RateLimit: "account";r=9;t=2160, "network-subnet";r=99;t=36` + "\n" +
		`RateLimit-Policy: "account";q=10;w=21600, "network-subnet";q=100;w=3600` + "\n"
	allowHeaders = strings.ReplaceAll(allowHeaders, "RateLimit", "Ratelimit")
	edit := func(d guard.Decision, f func(*guard.Decision)) guard.Decision { f(&d); return d }

	for _, tt := range []struct {
		name string
		d    guard.Decision
		err  error
		want string
	}{
		{"allow", someAllow(), nil, "200\nContent-Type: application/json\n" + allHeaders + allowHeaders +
			`{"decision":"allow","attempt":"att-1","expires_in":120,"familiar":false,"failures":37}` + "\n"},
		{"familiar, log-only limits", edit(someAllow(), func(d *guard.Decision) {
			d.Familiar, d.WouldDeny, d.Failures = true, []string{"account", "network"}, 0
		}), nil, "200\nContent-Type: application/json\n" + allHeaders + allowHeaders +
			`{"decision":"allow","attempt":"att-1","expires_in":120,"familiar":true,"would_deny":["account","network"],"failures":0}` + "\n"},
		{"allowed without the store", guard.Decision{Verdict: guard.Allow, Degraded: true, Shown: -1}, nil,
			"200\nContent-Type: application/json\n" + allHeaders +
				`{"decision":"allow","familiar":false,"failures":0,"degraded":true}` + "\n"},
		{"challenge", guard.Decision{Verdict: guard.Challenge, Limit: "network", Level: "host", Shown: 0, Meters: []guard.Meter{
			{Limit: "network", Level: "host", Capacity: 30, Window: 3600, Remaining: 0, Reset: 120},
		}}, nil, "200\nContent-Type: application/json\n" + allHeaders +
			"Ratelimit-Limit: 30\nRatelimit-Remaining: 0\nRatelimit-Reset: 120\n" +
			`Ratelimit: "network-host";r=0;t=120` + "\n" + `Ratelimit-Policy: "network-host";q=30;w=3600` + "\n" +
			`{"decision":"challenge","limit":"network"}` + "\n"},
		{"account dry: the headers are of the bucket that denies", accountDenial(), nil,
			"429\nContent-Type: application/problem+json\n" + allHeaders + "Retry-After: 31\n" +
				"Ratelimit-Limit: 10\nRatelimit-Remaining: 0\nRatelimit-Reset: 30\n" +
				`Ratelimit: "account";r=0;t=30` + "\n" + `Ratelimit-Policy: "account";q=10;w=21600` + "\n" +
				quota + `"detail":"There were too many attempts on this account. Try again after the wait.",` +
				`"decision":"deny","limit":"account","retry_after":31}` + "\n"},
		{"network dry", guard.Decision{Verdict: guard.Deny, Limit: "network", Level: "pool", RetryAfter: 3600, Shown: -1}, nil,
			"429\nContent-Type: application/problem+json\n" + allHeaders + "Retry-After: 3600\n" +
				quota + `"detail":"There were too many attempts from this network. Try again after the wait.",` +
				`"decision":"deny","limit":"network","level":"pool","retry_after":3600}` + "\n"},
		{"global dry", guard.Decision{Verdict: guard.Deny, Limit: "global", Busy: true, RetryAfter: 4, Shown: 0, Meters: someAllow().Meters}, nil,
			"503\nContent-Type: application/problem+json\n" + allHeaders + "Retry-After: 4\n" +
				capacity + `"detail":"There are too many attempts on the whole service. Try again after the wait.",` +
				`"decision":"deny","limit":"global","retry_after":4}` + "\n"},
		{"store down", guard.Decision{Verdict: guard.Deny, Reason: guard.ReasonStore, Busy: true, RetryAfter: 1, Shown: -1}, nil,
			"503\nContent-Type: application/problem+json\n" + allHeaders + "Retry-After: 1\n" +
				capacity + `"detail":"The store did not answer, so that nothing can be allowed. Try again after the wait.",` +
				`"decision":"deny","reason":"store_unavailable","retry_after":1}` + "\n"},
		{"overloaded", guard.Decision{Verdict: guard.Deny, Reason: guard.ReasonOverloaded, Busy: true, RetryAfter: 1, Shown: -1}, nil,
			"503\nContent-Type: application/problem+json\n" + allHeaders + "Retry-After: 1\n" +
				capacity + `"detail":"Too many attempts are being decided at this moment. Try again after the wait.",` +
				`"decision":"deny","reason":"overloaded","retry_after":1}` + "\n"},
		{"store error", guard.Decision{}, &guard.Error{Kind: guard.KindStore, Detail: "x", Err: errors.New("dial 10.0.0.1")},
			"503\nContent-Type: application/problem+json\n" + allHeaders + "Retry-After: 1\n" +
				capacity + `"detail":"The store did not answer; nothing is known to have changed. Try again.",` +
				`"decision":"deny","reason":"store_unavailable","retry_after":1}` + "\n"},
		{"overloaded error", guard.Decision{}, &guard.Error{Kind: guard.KindOverloaded, Detail: "x"},
			"503\nContent-Type: application/problem+json\n" + allHeaders + "Retry-After: 1\n" +
				capacity + `"detail":"Too many attempts are being decided at this moment. Try again after the wait.",` +
				`"decision":"deny","reason":"overloaded","retry_after":1}` + "\n"},
		{"conflict", guard.Decision{}, &guard.Error{Kind: guard.KindConflict, Field: "id", Detail: "was used before"},
			"409\nContent-Type: application/problem+json\n" + allHeaders +
				`{"type":"about:blank","title":"Conflict","status":409,"detail":"The member id was used before.","field":"id"}` + "\n"},
		{"invalid", guard.Decision{}, &guard.Error{Kind: guard.KindInvalid, Field: "ip", Detail: "is no address"},
			"422\nContent-Type: application/problem+json\n" + allHeaders +
				`{"type":"about:blank","title":"Unprocessable Entity","status":422,"detail":"The member ip is no address.","field":"ip"}` + "\n"},
		{"forbidden", guard.Decision{}, &guard.Error{Kind: guard.KindForbidden, Field: "realm", Detail: "is not yours"},
			"403\nContent-Type: application/problem+json\n" + allHeaders +
				`{"type":"about:blank","title":"Forbidden","status":403,"detail":"The member realm is not yours.","field":"realm"}` + "\n"},
		{"anything else says nothing of its inside", guard.Decision{}, errors.New("secret inside"),
			"500\nContent-Type: application/problem+json\n" + allHeaders +
				`{"type":"about:blank","title":"Internal Server Error","status":500,` +
				`"detail":"The request failed. The log says why, under the id in the X-Request-Id header."}` + "\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.engine.decision, b.engine.err = tt.d, tt.err
			w := serve(b.API(), post("/v1/check", goodCheck))
			if diff := cmp.Diff(tt.want, dump(w)); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRetryAfterIsWholeSecondsWithinTheHourAndEqualInTheBody(t *testing.T) {
	for _, tt := range []struct{ give, want int }{{-5, 1}, {0, 1}, {1, 1}, {37, 37}, {3600, 3600}, {4000, 3600}, {1 << 40, 3600}} {
		for _, busy := range []bool{false, true} {
			b := newBench(t)
			b.engine.decision = guard.Decision{Verdict: guard.Deny, Limit: "account", Busy: busy, RetryAfter: tt.give, Shown: -1}
			w := serve(b.API(), post("/v1/check", goodCheck))
			if got := w.Header().Get("Retry-After"); got != strconv.Itoa(tt.want) {
				t.Errorf("Retry-After of %d: got %q, want %d", tt.give, got, tt.want)
			}
			if want := `"retry_after":` + strconv.Itoa(tt.want) + "}"; !strings.Contains(w.Body.String(), want) {
				t.Errorf("body of %d has no %s: %s", tt.give, want, w.Body)
			}
		}
	}
	b := newBench(t)
	if got := serve(b.API(), post("/v1/check", goodCheck)).Header().Get("Retry-After"); got != "" {
		t.Errorf("an allowed check has Retry-After %q", got)
	}
}

func TestSupportIsNamedInEveryProblem(t *testing.T) {
	b := newBench(t, func(c *Config, f *fakeEngine) {
		c.SupportURL = "https://help.example/config?a=1&b=2"
		f.decision = accountDenial()
	})
	for _, r := range []*http.Request{post("/v1/check", goodCheck), post("/v1/check", `{`), post("/nowhere", "")} {
		if got := serve(b.API(), r).Body.String(); !strings.Contains(got, `"support":"https://help.example/config?a=1&b=2"`) {
			t.Errorf("%s: no support in %s", r.URL, got)
		}
	}
	pc := policy.Defaults()
	pc.SupportURL = "https://help.example/policy"
	p, err := policy.New(pc)
	if err != nil {
		t.Fatal(err)
	}
	b.engine.rules.Policy = p // as a reload does
	if got := serve(b.API(), post("/v1/check", goodCheck)).Body.String(); !strings.Contains(got, "help.example/policy") {
		t.Errorf("support of the reloaded policy is not shown: %s", got)
	}
}

func TestCheckHandsTheWholeRequestToTheEngine(t *testing.T) {
	b := newBench(t)
	body := `{"account":"alice","forwarded":{"peer":"10.0.0.1","x_forwarded_for":["192.0.2.1, 203.0.113.9","10.0.0.2"]},
		"realm":"shop","route":"signup","id":"sub-1","device":"dev","password_tag":"tag","can_challenge":true,"challenge_passed":true}`
	if w := serve(b.API(), post("/v1/check", body)); w.Code != 200 {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	want := guard.Request{
		Realm: "shop", Route: "signup", Account: "alice", ID: "sub-1", Device: "dev", PasswordTag: "tag",
		CanChallenge: true, ChallengePassed: true,
		Forwarded: &guard.Forwarded{Peer: "10.0.0.1", Header: "x-forwarded-for", Lines: []string{"192.0.2.1, 203.0.113.9", "10.0.0.2"}},
	}
	if diff := cmp.Diff(want, b.engine.asked[0]); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(guard.Caller{Name: "idp", Realms: []string{"default", "shop"}}, b.engine.callers[0]); diff != "" {
		t.Errorf("caller (-want +got):\n%s", diff)
	}
	serve(b.API(), post("/v1/check", `{"ip":"::1","route":"kiosk"}`))
	if diff := cmp.Diff(guard.Request{Realm: "default", Route: "kiosk", IP: "::1"}, b.engine.asked[1]); diff != "" {
		t.Errorf("request without account (-want +got):\n%s", diff)
	}
	serve(b.API(), post("/v1/check", `{"account":"a","forwarded":{"peer":"p","forwarded":[]}}`))
	if diff := cmp.Diff(&guard.Forwarded{Peer: "p", Header: "forwarded"}, b.engine.asked[2].Forwarded); diff != "" {
		t.Errorf("forwarded without lines (-want +got):\n%s", diff)
	}
}

func TestNoHeaderOfTheRequestChangesTheClient(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"X-Forwarded-For", "X_Forwarded_For", "X.Forwarded.For", "X-Real-IP", "True-Client-IP", "Forwarded", "CF-Connecting-IP"} {
		r := post("/v1/check", goodCheck)
		r.Header[name] = []string{"192.0.2.66"} // as sent, not canonicalised
		serve(b.API(), r)
	}
	for i, got := range b.engine.asked {
		if diff := cmp.Diff(guard.Request{Realm: "default", Route: "login", Account: "alice", IP: "203.0.113.9"}, got); diff != "" {
			t.Errorf("request %d (-want +got):\n%s", i, diff)
		}
	}
	if len(b.engine.asked) != 7 {
		t.Errorf("%d requests came through, want 7", len(b.engine.asked))
	}
}

func TestAnswersDoNotDependOnTheAccount(t *testing.T) {
	b := newBench(t)
	b.engine.decision = accountDenial()
	var first string
	for i, name := range []string{"alice", "no-such-user", strings.Repeat("x", 1024), "admin' --", "日本"} {
		got := dump(serve(b.API(), post("/v1/check", `{"account":"`+name+`","ip":"203.0.113.9"}`)))
		if i == 0 {
			first = got
		}
		if got != first {
			t.Errorf("answer for %.20q differs:\n%s\n%s", name, first, got)
		}
	}
}

func TestReportAnswers(t *testing.T) {
	for _, tt := range []struct {
		name, body, want string
		give             guard.Reported
		report           guard.Report
	}{
		{
			"success with a device", `{"attempt":"att","outcome":"success","remember_device":true}`,
			`{"applied":true,"device":"dev","device_ttl":7776000}`,
			guard.Reported{Applied: true, Device: "dev", DeviceTTL: 2160 * time.Hour},
			guard.Report{Attempt: "att", Outcome: "success", RememberDevice: true},
		},
		{
			"failure", `{"attempt":"att","outcome":"failure","reason":"bad_password"}`, `{"applied":true}`,
			guard.Reported{Applied: true}, guard.Report{Attempt: "att", Outcome: "failure", Reason: "bad_password"},
		},
		{
			"repeat", `{"attempt":"att","outcome":"cancelled","realm":"shop"}`, `{"applied":false}`,
			guard.Reported{}, guard.Report{Attempt: "att", Outcome: "cancelled", Request: guard.Request{Realm: "shop"}},
		},
		{
			"by id", `{"id":"sub-1","account":"alice","ip":"203.0.113.9","outcome":"failure"}`, `{"applied":true}`,
			guard.Reported{Applied: true},
			guard.Report{Outcome: "failure", Request: guard.Request{Realm: "default", Route: "login", ID: "sub-1", Account: "alice", IP: "203.0.113.9"}},
		},
		{
			"an event", `{"account":"alice","ip":"203.0.113.9","route":"mfa","device":"d","outcome":"failure","reason":"mfa_failed"}`, `{"applied":true}`,
			guard.Reported{Applied: true},
			guard.Report{Outcome: "failure", Reason: "mfa_failed", Request: guard.Request{Realm: "default", Route: "mfa", Account: "alice", IP: "203.0.113.9", Device: "d"}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.engine.reported = tt.give
			w := serve(b.API(), post("/v1/report", tt.body))
			if want := "200\nContent-Type: application/json\n" + allHeaders + tt.want + "\n"; dump(w) != want {
				t.Errorf("answer (-want +got):\n%s", cmp.Diff(want, dump(w)))
			}
			if diff := cmp.Diff([]guard.Report{tt.report}, b.engine.reports); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStoreDownDuringAReportIsNoDenial(t *testing.T) {
	b := newBench(t)
	b.engine.err = &guard.Error{Kind: guard.KindStore}
	w := serve(b.API(), post("/v1/report", `{"attempt":"a","outcome":"success"}`))
	if w.Code != 503 || w.Header().Get("Retry-After") != "1" || strings.Contains(w.Body.String(), "deny") {
		t.Errorf("got %s", dump(w))
	}
}

func TestForget(t *testing.T) {
	for _, tt := range []struct {
		body string
		want guard.ForgetRequest
	}{
		{`{"account":"alice"}`, guard.ForgetRequest{Realm: "default", Account: "alice"}},
		{`{"realm":"default","account":"alice","scope":"limits"}`, guard.ForgetRequest{Realm: "default", Account: "alice", Scope: "limits"}},
		{`{"account":"alice","scope":"credentials"}`, guard.ForgetRequest{Realm: "default", Account: "alice", Scope: "credentials"}},
		{`{"network":"203.0.113.0/24"}`, guard.ForgetRequest{Realm: "default", Network: "203.0.113.0/24"}},
	} {
		b := newBench(t)
		w := serve(b.API(), asAdmin("/v1/forget", tt.body))
		if w.Code != 200 || w.Body.String() != `{"applied":true}`+"\n" {
			t.Errorf("%s: %s", tt.body, dump(w))
		}
		if diff := cmp.Diff([]guard.ForgetRequest{tt.want}, b.engine.forgets); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.body, diff)
		}
	}
}

func TestExplain(t *testing.T) {
	b := newBench(t)
	b.engine.explained = guard.Explanation{
		Decision: guard.Deny, Limit: "account", RetryAfter: 31, Client: "203.0.113.9", ClientSource: "ip", Class: "pool",
		Networks: []guard.ExplainedNetwork{{Level: "host", Network: "203.0.113.9/32"}, {Level: "pool", Network: "carrier-a"}},
		Account:  "AAAAAAAAAAAAAAAAAAAAAA", Familiar: true, Failures: 3,
		Limits: []guard.ExplainedLimit{{Limit: "account", Mode: "enforce", Capacity: 10, RetryAfter: 30, Strikes: 1, WouldDeny: true, Override: "ticket 7"}},
	}
	w := serve(b.API(), asAdmin("/v1/explain", goodCheck))
	want := "200\nContent-Type: application/json\n" + allHeaders +
		`{"decision":"deny","limit":"account","retry_after":31,"client":"203.0.113.9","client_source":"ip","class":"pool",` +
		`"networks":[{"level":"host","network":"203.0.113.9/32"},{"level":"pool","network":"carrier-a"}],` +
		`"account":"AAAAAAAAAAAAAAAAAAAAAA","familiar":true,"failures":3,` +
		`"limits":[{"limit":"account","level":"","mode":"enforce","capacity":10,"remaining":0,"retry_after":30,"strikes":1,"would_deny":true,"override":"ticket 7"}]}` + "\n"
	if diff := cmp.Diff(want, dump(w)); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	b.engine.explained = guard.Explanation{Decision: guard.Allow, RetryAfter: 9}
	w = serve(b.API(), asAdmin("/v1/explain", goodCheck))
	want = `{"decision":"allow","client":"","client_source":"","class":"","networks":[],"account":"","familiar":false,"failures":0,"limits":[]}` + "\n"
	if w.Body.String() != want {
		t.Errorf("empty explanation: %s", w.Body)
	}
}

func TestLimits(t *testing.T) {
	b := newBench(t, func(c *Config, _ *fakeEngine) {
		c.SupportURL = "https://help.example"
	})
	w := serve(b.API(), with(httptest.NewRequest("GET", "/v1/limits", nil), "X-API-Key", idpKey))
	got := w.Body.String()
	for _, want := range []string{
		`"name":"account"`, `"purpose":"protection: `, `"capacity":10`, `"refill":"10/6h"`, `"mode":"enforce"`, `"scope":"`, `"level":"subnet"`,
		`"routes":{"kiosk":{"cost":2,"success":"none"},"login":{"cost":1,"success":"full"},"mfa":`,
		`"how_to_raise":"`, `"support":"https://help.example"`,
	} {
		if w.Code != 200 || !strings.Contains(got, want) {
			t.Errorf("status %d, no %s in %s", w.Code, want, got)
		}
	}
	if want := `"password_reset":{"cost":3,"success":"none"}`; !strings.Contains(w.Body.String(), want) {
		t.Errorf("no %s in %s", want, w.Body)
	}
}
