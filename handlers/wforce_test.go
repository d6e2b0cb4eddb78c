package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loginguard/guard"
	"loginguard/keys"
	"loginguard/netprefix"
)

// dovecotSends is what Dovecot 2.3.19 sends for a good password, byte for byte;
// the blanks before the key come of "Name: value" in its configuration.
const dovecotSends = "POST /wforce?command=allow HTTP/1.1\r\nHost: 127.0.0.1:19001\r\nDate: Mon, 30 Nov 2026 17:25:41 GMT\r\n" +
	"User-Agent: dovecot/auth-policy-client\r\nContent-Length: 131\r\nConnection: Keep-Alive\r\nContent-Type: application/json\r\n" +
	"X-API-Key:  " + idpKey + "\r\n\r\n" + dovecotAllow

const (
	dovecotAllow  = `{"device_id":"","login":"alice","protocol":"imap","pwhash":"05e5","remote":"127.0.0.1","session_id":"00j9soFhSJt/AAAB","tls":false}`
	dovecotReport = `{"device_id":"","login":"alice","protocol":"imap","pwhash":"05e5","remote":"127.0.0.1","session_id":"00j9soFhSJt/AAAB","success":true,"policy_reject":false,"tls":false}`
)

// withNames gives a bench what finds accounts and networks.
func withNames(_ *Config, f *fakeEngine) {
	f.rules.Names, _ = keys.NewCanonicaliser(nil)
	f.rules.Clients, _ = netprefix.NewResolver(netprefix.ResolverConfig{})
	f.rules.Networks, _ = netprefix.NewTable(netprefix.TableConfig{
		Host: netprefix.LevelBits{IPv4: 32, IPv6: 64}, Subnet: netprefix.LevelBits{IPv4: 24, IPv6: 48},
	})
}

// command makes a request of a mail server.
func command(command, body string, headers ...string) *http.Request {
	return post("/wforce?command="+command, body, headers...)
}

// said reads an answer, which must be 200 with an integer status.
func said(t *testing.T, w *httptest.ResponseRecorder) wforceAnswer {
	t.Helper()
	var a wforceAnswer
	d := json.NewDecoder(strings.NewReader(w.Body.String()))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil || w.Code != 200 || a.Attrs == nil || !strings.Contains(w.Body.String(), `"status":`) {
		t.Fatalf("answered %d, want 200 and an integer status: %s (%v)", w.Code, w.Body, err)
	}
	return a
}

func TestBothQuestionsOfDovecotAndItsReportAreOneAttempt(t *testing.T) {
	b := newBench(t, withNames)
	to := onWire(t, b)
	for range 2 {
		p, body := sendRaw(t, to, dovecotSends)
		if p.StatusCode != 200 || body != `{"status":0,"msg":"","r_attrs":{}}`+"\n" {
			t.Fatalf("answered %d: %s", p.StatusCode, body)
		}
	}
	if a := said(t, serve(b.API(), command("report", dovecotReport))); a.Status != 0 {
		t.Fatalf("the report is answered %+v", a)
	}
	q := b.engine.asked[0]
	want := guard.Request{Realm: "default", Route: "login", Account: "alice", IP: "127.0.0.1", ID: q.ID, RepeatOnly: true}
	if diff := cmp.Diff([]guard.Request{want, want}, b.engine.asked); diff != "" || len(q.ID) != 43 {
		t.Errorf("asked with id %q (-want +got)\n%s", q.ID, diff)
	}
	if diff := cmp.Diff([]guard.Report{{Request: want, Outcome: "success"}}, b.engine.reports); diff != "" {
		t.Errorf("reported (-want +got)\n%s", diff)
	}
}

func TestAnotherSessionLoginPasswordOrAddressIsAnotherAttempt(t *testing.T) {
	seen := map[string]string{}
	for name, b := range map[string]wforceBody{
		"first":    {session: text{s: "s"}, login: text{s: "alice"}, pwhash: text{s: "05e5"}, remote: text{s: "192.0.2.1"}},
		"session":  {session: text{s: "t"}, login: text{s: "alice"}, pwhash: text{s: "05e5"}, remote: text{s: "192.0.2.1"}},
		"login":    {session: text{s: "s"}, login: text{s: "alicf"}, pwhash: text{s: "05e5"}, remote: text{s: "192.0.2.1"}},
		"password": {session: text{s: "s"}, login: text{s: "alice"}, pwhash: text{s: "05e6"}, remote: text{s: "192.0.2.1"}},
		"address":  {session: text{s: "s"}, login: text{s: "alice"}, pwhash: text{s: "05e5"}, remote: text{s: "192.0.2.2"}},
		"shifted":  {session: text{s: "sa"}, login: text{s: "lice"}, pwhash: text{s: "05e5"}, remote: text{s: "192.0.2.1"}},
	} {
		if other, ok := seen[b.id()]; ok {
			t.Errorf("%s and %s have one id", name, other)
		}
		seen[b.id()] = name
	}
}

func TestReportsOfDovecotByTheirOutcome(t *testing.T) {
	tuple := func(more string) string {
		return `{"login":"alice","remote":"::ffff:203.0.113.9","pwhash":"05e5","session_id":"s",` + more + `}`
	}
	for _, tt := range []struct {
		body            string
		outcome, reason string // outcome "": nothing is reported
	}{
		{tuple(`"success":true,"policy_reject":false`), "success", ""},
		{tuple(`"success":false,"policy_reject":false`), "failure", "bad_password"},
		{tuple(`"success":false`), "failure", "bad_password"},
		{tuple(`"success":false,"policy_reject":true`), "", ""},
		{tuple(`"success":false,"policy_reject":false,"fail_type":"policy"`), "", ""},
		{tuple(`"success":false,"policy_reject":false,"fail_type":"credentials"`), "failure", "bad_password"},
		{tuple(`"success":false,"policy_reject":false,"fail_type":"account"`), "failure", "unknown_account"},
		{tuple(`"success":false,"policy_reject":false,"fail_type":"internal"`), "failure", "other"},
	} {
		b := newBench(t, withNames)
		if a := said(t, serve(b.API(), command("report", tt.body))); a.Status != 0 {
			t.Errorf("%s: answered %+v", tt.body, a)
		}
		switch {
		case tt.outcome == "" && len(b.engine.reports) == 0:
		case len(b.engine.reports) != 1 || b.engine.reports[0].Outcome != tt.outcome || b.engine.reports[0].Reason != tt.reason:
			t.Errorf("%s: reported %+v, want %s %s", tt.body, b.engine.reports, tt.outcome, tt.reason)
		}
	}
}

func TestPwhashIsATagFrom64Bits(t *testing.T) {
	for _, tt := range []struct {
		pwhash string
		tag    bool
	}{
		{"", false}, {"05e5", false}, {"0123456789abcde", false}, {"0123456789abcdef", true},
		{"0123456789ABCDEF", true}, {strings.Repeat("a", 128), true}, {strings.Repeat("a", 129), false},
		{"not hexadecimal, though long", false},
	} {
		b := newBench(t, withNames)
		body, _ := json.Marshal(map[string]string{"login": "alice", "remote": "192.0.2.1", "pwhash": tt.pwhash})
		said(t, serve(b.API(), command("allow", string(body))))
		q := b.engine.asked[0]
		want := ""
		if tt.tag {
			want = tt.pwhash
		}
		if q.PasswordTag != want || !q.RepeatOnly {
			t.Errorf("%q is asked as tag %q (for repeats only: %t), want %q for repeats only", tt.pwhash, q.PasswordTag, q.RepeatOnly, want)
		}
	}
}

func TestLoginThatIsNoneChargesNoAccount(t *testing.T) {
	for _, login := range []string{"", " ", "\u200b"} {
		b := newBench(t, withNames)
		body, _ := json.Marshal(map[string]any{"login": login, "remote": "192.0.2.1", "pwhash": "", "session_id": "s", "success": false, "policy_reject": false})
		said(t, serve(b.API(), command("report", string(body))))
		if q := b.engine.reports[0].Request; q.Account != "" || !q.NetworksOnly {
			t.Errorf("login %q is reported as account %q, networks only: %t", login, q.Account, q.NetworksOnly)
		}
	}
}

// scripted is an engine whose answers are errors, in turn.
type scripted struct {
	*fakeEngine
	errs []error
}

func (s *scripted) Check(ctx context.Context, c guard.Caller, r guard.Request) (guard.Decision, error) {
	s.fakeEngine.err, s.errs = s.errs[0], s.errs[1:]
	return s.fakeEngine.Check(ctx, c, r)
}

func (s *scripted) Report(ctx context.Context, c guard.Caller, r guard.Report) (guard.Reported, error) {
	s.fakeEngine.err, s.errs = s.errs[0], s.errs[1:]
	return s.fakeEngine.Report(ctx, c, r)
}

func TestReportThatNobodyAskedAboutIsDescribedInstead(t *testing.T) {
	b := newBench(t, withNames)
	b.Server.engine = &scripted{b.engine, []error{&guard.Error{Kind: guard.KindInvalid, Field: "id"}, nil}}
	if a := said(t, serve(b.API(), command("report", strings.Replace(dovecotReport, "true", "false", 1)))); a.Status != 0 {
		t.Fatalf("answered %+v", a)
	}
	if r := b.engine.reports; len(r) != 2 || r[0].Request.ID == "" || r[1].Request.ID != "" || r[1].Request.Account != "alice" {
		t.Errorf("reported %+v, want by id and then by members", r)
	}
}

func TestIDThatIsUsedUpIsAnAttemptOfItsOwn(t *testing.T) {
	b := newBench(t, withNames)
	b.Server.engine = &scripted{b.engine, []error{&guard.Error{Kind: guard.KindConflict, Field: "id"}, nil}}
	if a := said(t, serve(b.API(), command("allow", dovecotAllow))); a.Status != 0 {
		t.Fatalf("answered %+v", a)
	}
	if q := b.engine.asked; len(q) != 2 || q[0].ID == "" || q[1].ID != "" {
		t.Errorf("asked %+v, want with the id and then without", q)
	}
}

func TestMailServersAreAnswered200WhateverHappens(t *testing.T) {
	deny := func(d guard.Decision) func(*Config, *fakeEngine) {
		return func(_ *Config, f *fakeEngine) { f.decision = d }
	}
	for _, tt := range []struct {
		name   string
		change func(*Config, *fakeEngine)
		r      *http.Request
		cause  string // in the metric, "" for a decision
	}{
		{"account has to wait", deny(accountDenial()), command("allow", dovecotAllow), ""},
		{"store down", deny(guard.Decision{Verdict: guard.Deny, Reason: guard.ReasonStore, Busy: true, Shown: -1}), command("allow", dovecotAllow), ""},
		{"overloaded", deny(guard.Decision{Verdict: guard.Deny, Reason: guard.ReasonOverloaded, Busy: true, Shown: -1}), command("allow", dovecotAllow), ""},
		{"store error", func(_ *Config, f *fakeEngine) { f.err = &guard.Error{Kind: guard.KindStore} }, command("allow", dovecotAllow), "store_unavailable"},
		{"store error at the report", func(_ *Config, f *fakeEngine) { f.err = &guard.Error{Kind: guard.KindStore} }, command("report", dovecotReport), "store_unavailable"},
		{"unknown error", func(_ *Config, f *fakeEngine) { f.err = errors.New("boom") }, command("allow", dovecotAllow), "internal"},
		{"panic", func(_ *Config, f *fakeEngine) { f.panics = "boom" }, command("allow", dovecotAllow), "internal"},
		{"wrong key", nil, command("allow", dovecotAllow, "Authorization", "Bearer guess"), "wrong_key"},
		{"no key", nil, command("allow", dovecotAllow, "Authorization", ""), "no_key"},
		{"not from this machine", loopback, command("allow", dovecotAllow), "peer"},
		{"malformed", nil, command("allow", `{"login":`), "json"},
		{"empty", nil, command("allow", ``), "json"},
		{"login twice", nil, command("allow", `{"login":"bob","login":"alice","remote":"192.0.2.1"}`), "json"},
		{"unknown member twice", nil, command("allow", `{"x":1,"x":2,"login":"alice","remote":"192.0.2.1"}`), "json"},
		{"login in capitals", nil, command("allow", `{"Login":"bob","login":"alice","remote":"192.0.2.1"}`), "json"},
		{"login a number", nil, command("allow", `{"login":1,"remote":"192.0.2.1"}`), "json"},
		{"success as text", nil, command("report", `{"login":"alice","remote":"192.0.2.1","success":"true"}`), "json"},
		{"login missing", nil, command("allow", `{"remote":"192.0.2.1"}`), "value"},
		{"address missing", nil, command("allow", `{"login":"alice"}`), "value"},
		{"address empty", nil, command("allow", `{"login":"alice","remote":""}`), "value"},
		{"success missing", nil, command("report", dovecotAllow), "value"},
		{"login too long", nil, command("allow", `{"login":"`+strings.Repeat("a", 1025)+`","remote":"192.0.2.1"}`), "value"},
		{"body too large", nil, command("allow", strings.Repeat(" ", maxBody+1)), "size"},
		{"form", nil, command("allow", "login=alice", "Content-Type", "application/x-www-form-urlencoded"), "content_type"},
		{"unknown command", nil, command("delete", dovecotAllow), "command"},
		{"no command", nil, post("/wforce", dovecotAllow), "command"},
		{"two commands", nil, command("allow&command=report", dovecotAllow), "command"},
		{"malformed query", nil, post("/wforce?command=allow&%zz", dovecotAllow), "command"},
		{"reset by no admin", nil, command("reset", `{"login":"alice"}`), "role"},
		{"unknown path", nil, post("/wforce/dovecot?command=allow", dovecotAllow), "path"},
		{"unknown method", nil, func() *http.Request { r := command("allow", dovecotAllow); r.Method = "PUT"; return r }(), "method"},
		{"allow by GET", nil, func() *http.Request { r := command("allow", dovecotAllow); r.Method = "GET"; return r }(), "method"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, withNames, func(c *Config, f *fakeEngine) {
				if tt.change != nil {
					tt.change(c, f)
				}
			})
			a := said(t, serve(b.API(), tt.r))
			if a.Status != -1 || a.Msg == "" {
				t.Errorf("answered %+v, want -1 and a text", a)
			}
			series := scrape(t, b)
			if tt.cause == "" {
				for _, s := range series {
					if strings.HasPrefix(s, "loginguard_refused_total") && !strings.HasSuffix(s, " 0") {
						t.Errorf("a decision is counted as refused: %s", s)
					}
				}
			} else if want := `loginguard_refused_total{cause="` + tt.cause + `",protocol="wforce"} 1`; !hasSeries(series, want) {
				t.Errorf("no %s", want)
			}
		})
	}
}

func TestWrongKeyOfAMailServerIsLoggedAsAnError(t *testing.T) {
	b := newBench(t, withNames)
	serve(b.API(), command("allow", dovecotAllow, "Authorization", "Bearer guess"))
	l := logLines(t, b)[0]
	if l["level"] != "error" || l["cause"] != "wrong_key" || l["meant"] != 401.0 || l["status"] != 200.0 || l["message"] != "/wforce" {
		t.Errorf("logged %v", l)
	}
}

func TestOtherMembersOfALoginTupleAreSkipped(t *testing.T) {
	b := newBench(t, withNames)
	body := `{"t":1.5,"attrs":{"a":["b",{}],"a":2},"device_attrs":{},"tls":"TLSv1.3","protocol":null,"fail_type":"","login":"alice","remote":"2001:db8:1:2::7","pwhash":""}`
	if a := said(t, serve(b.API(), command("allow", body))); a.Status != 0 {
		t.Errorf("answered %+v", a)
	}
}

func TestPingIsAnsweredInWforcesWord(t *testing.T) {
	for _, r := range []*http.Request{
		with(httptest.NewRequest("GET", "/wforce?command=ping", nil), "Authorization", "Bearer "+idpKey),
		command("ping", ""), command("ping", "{}"), post("/wforce/?command=ping", ""),
	} {
		b := newBench(t, withNames)
		if w := serve(b.API(), r); w.Code != 200 || w.Body.String() != `{"status":"ok"}`+"\n" {
			t.Errorf("%s %s: answered %d: %s", r.Method, r.URL, w.Code, w.Body)
		}
	}
}

func TestResetClearsAccountAndHost(t *testing.T) {
	account := guard.ForgetRequest{Realm: "default", Account: "alice"}
	host := func(n string) guard.ForgetRequest { return guard.ForgetRequest{Realm: "default", Network: n} }
	for _, tt := range []struct {
		body string
		want []guard.ForgetRequest
	}{
		{`{"login":"alice"}`, []guard.ForgetRequest{account}},
		{`{"ip":"203.0.113.9"}`, []guard.ForgetRequest{host("203.0.113.9/32")}},
		{`{"ip":"::ffff:203.0.113.9"}`, []guard.ForgetRequest{host("203.0.113.9/32")}},
		{`{"ip":"2001:db8:1:2::7"}`, []guard.ForgetRequest{host("2001:db8:1:2::/64")}},
		{`{"login":"alice","ip":"203.0.113.9","type":"x"}`, []guard.ForgetRequest{account, host("203.0.113.9/32")}},
		{`{}`, nil}, {`{"login":""}`, nil}, {`{"ip":"nowhere"}`, nil},
	} {
		b := newBench(t, withNames)
		a := said(t, serve(b.API(), command("reset", tt.body, "Authorization", "Bearer "+adminKey)))
		if diff := cmp.Diff(tt.want, b.engine.forgets); diff != "" || (a.Status == 0) != (tt.want != nil) {
			t.Errorf("%s: answered %+v (-want +got)\n%s", tt.body, a, diff)
		}
	}
}

func TestUsersAreToldHowLongToWait(t *testing.T) {
	for _, tt := range []struct {
		d    guard.Decision
		want string
	}{
		{guard.Decision{Limit: "account", RetryAfter: 31}, "Too many sign-in attempts on this account. Your password was not checked. Try again in 31 seconds."},
		{guard.Decision{Limit: "familiar", RetryAfter: 1}, "Too many sign-in attempts on this account. Your password was not checked. Try again in a second."},
		{guard.Decision{Limit: "network", Level: "subnet", RetryAfter: 91}, "Too many sign-in attempts from your network. Your password was not checked. Try again in 2 minutes."},
		{guard.Decision{Limit: "global", Busy: true, RetryAfter: 3600}, "Too many sign-ins on this server at the moment. Your password was not checked. Try again in 60 minutes."},
		{guard.Decision{Reason: guard.ReasonStore, Busy: true}, wforceTrouble},
	} {
		tt.d.Verdict, tt.d.Shown = guard.Deny, -1
		b := newBench(t, withNames, func(_ *Config, f *fakeEngine) { f.decision = tt.d })
		if a := said(t, serve(b.API(), command("allow", dovecotAllow))); a.Msg != tt.want {
			t.Errorf("%+v is told as %q, want %q", tt.d, a.Msg, tt.want)
		}
	}
}

func TestSupportAddressIsToldUnlessItWouldBreakALine(t *testing.T) {
	for url, told := range map[string]bool{"https://help.example.com/": true, "https://help.example.com/\r\nX": false, "https://h\u00e9lp/": false} {
		b := newBench(t, withNames, func(c *Config, f *fakeEngine) { c.SupportURL, f.decision = url, accountDenial() })
		if a := said(t, serve(b.API(), command("allow", dovecotAllow))); strings.Contains(a.Msg, "Help:") != told {
			t.Errorf("with support at %q users are told %q", url, a.Msg)
		}
	}
}

func FuzzWforceBodiesAreAnswered200(f *testing.F) {
	for _, s := range []string{dovecotAllow, dovecotReport, `{"login":"","remote":"::ffff:1.2.3.4","success":false}`, `{"a":{"b":[1,{}]}}`, `[]`, `{"login":"a","login":"b"}`, "{\"\\ud800\":1}"} {
		f.Add("allow", s)
		f.Add("report", s)
		f.Add("reset", s)
	}
	f.Fuzz(func(t *testing.T, what, body string) {
		b := newBench(t, withNames)
		r := command("ping", body, "Authorization", "Bearer "+adminKey)
		q := r.URL.Query()
		q.Set("command", what)
		r.URL.RawQuery = q.Encode()
		w := serve(b.API(), r)
		if w.Code != 200 || !json.Valid(w.Body.Bytes()) {
			t.Errorf("answered %d: %s", w.Code, w.Body)
		}
	})
}
