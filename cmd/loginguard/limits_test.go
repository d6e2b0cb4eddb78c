package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loginguard/handlers"
)

// limitsConfig has something of everything that limits show.
const limitsConfig = `
support_url: https://help.example.com
mode: log_only
limits: {global: {mode: "off"}, account: {capacity: 12}}
routes: {device_code: {cost: 2, success: refund}}
overrides:
  - {limit: account, match: {account: bob}, capacity: 50, reason: test, expires: 2020-01-31}
  - {limit: account, match: {account: eve}, capacity: 50, reason: test}
`

func published(t *testing.T, text string) handlers.PublishedLimits {
	t.Helper()
	var v handlers.PublishedLimits
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// The limits of a file are those of the service that runs it, in all forms.
func TestLimitsOfAFileAreThoseOfTheService(t *testing.T) {
	s := start(t, limitsConfig)
	file := write(t, "config.yaml", limitsConfig)
	code, local, _ := once(t, nil, "limits", "--json", "--config", file)
	if code != 0 {
		t.Fatalf("exit status %d", code)
	}
	code, remote, _ := once(t, nil, "limits", "--json", "--url", s.api)
	if code != 0 {
		t.Fatalf("exit status %d", code)
	}
	want := published(t, remote)
	if len(want.Limits) != 11 || want.Routes["device_code"].Cost != 2 || want.Support != "https://help.example.com" {
		t.Fatalf("the service says %s", remote)
	}
	if diff := cmp.Diff(want, published(t, local)); diff != "" {
		t.Errorf("the file (+) and the service (-) differ:\n%s", diff)
	}

	code, page, errs := once(t, nil, "limits", "--config", file)
	for _, line := range []string{
		"| account | guessing the password of one account from places it has never signed in from | one account in one realm | 12 | 10/6h | 30s..1h |  | log_only |",
		"| global | trying many accounts from very many addresses at once | all attempts in one realm from places the account has never signed in from | 1000 | 1000/1h |  | 100000 | off |",
		"| device_code | 2 | gives it back |",
		"| signup | 5 | stays charged |",
		"1 override in force, by which some have other limits.",
		"Ask for more at https://help.example.com",
	} {
		if !strings.Contains(page, line+"\n") {
			t.Errorf("the page lacks %q:\n%s", line, page)
		}
	}
	if code != 0 || !strings.Contains(errs, "overrides[0]: expired on 2020-01-31") {
		t.Errorf("exit status %d, %s", code, errs)
	}
	code, other, _ := once(t, nil, "limits", "--url", s.api)
	if code != 0 || strings.ReplaceAll(page, "1 override in force, by which some have other limits.\n", "") != other {
		t.Errorf("exit status %d, the page of the service is another one:\n%s", code, other)
	}
}

func TestLimitsAreAFileOrAService(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"--url http://127.0.0.1:1 --config x.yaml", "--config is for the configuration"},
		{"--url http://127.0.0.1:1 --log-level warn", "--log-level is for the configuration"},
		{"--key-file x", "--url says which"},
	} {
		if code, _, errs := once(t, nil, append([]string{"limits"}, strings.Fields(tt.args)...)...); code != exitUsage || !strings.Contains(errs, tt.want) {
			t.Errorf("limits %s: %d, %s", tt.args, code, errs)
		}
	}
}

// A cell with a bar or a line end would break the table, or forge a row.
func TestCellsOfMarkdownStayInTheirTable(t *testing.T) {
	var b bytes.Buffer
	limits := handlers.PublishedLimits{Limits: []handlers.PublishedLimit{{Name: "a|b\n| x |", Refill: "1/1h"}}}
	if err := writeLimits(&b, limits, 0); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `| "a\|b\n\| x \|" |`) {
		t.Errorf("printed\n%s", b.String())
	}
}

func TestARefusedConfigurationIsJSONOnDemand(t *testing.T) {
	file := write(t, "config.yaml", "mod: enforce\nstore:\n  timeout: 60\n")
	for _, args := range []string{"config check", "config print", "limits", "overrides list"} {
		code, out, errs := once(t, nil, append(strings.Fields(args), "--json", "--config", file)...)
		var v verdict
		if err := json.Unmarshal([]byte(out), &v); err != nil {
			t.Fatalf("%s: %v in %s", args, err, out)
		}
		want := verdict{Warnings: []string{}, Mistakes: []mistake{
			{file, "mod", 1, "unknown key (did you mean mode?)"},
			{file, "store.timeout", 3, "needs a unit: write 60s, or the like with ms, m or h"},
		}}
		if diff := cmp.Diff(want, v); diff != "" || code != exitFailure || errs != "" {
			t.Errorf("%s: exit status %d, %q (-want +got):\n%s", args, code, errs, diff)
		}
	}
	code, out, errs := once(t, nil, "config", "check", "--json", "--config", write(t, "config.yaml", ""))
	if code != 0 || errs != "" || !strings.Contains(out, `"ok": true`) || !strings.Contains(out, `the file is empty`) {
		t.Errorf("a right one: %d, %s%s", code, out, errs)
	}
}

// What config print shows as JSON is what it shows as YAML, masks included.
func TestConfigurationAsJSON(t *testing.T) {
	file := write(t, "config.yaml", "store: {url: \"redis://user:hunter2@127.0.0.1:6379/0\"}\n"+
		"overrides: [{limit: account, capacity: 50, reason: test, expires: 2099-01-31}]\n")
	code, out, _ := once(t, []string{"LOGINGUARD_IDENTITY_SECRET=MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}, "config", "print", "--json", "--config", file)
	var v struct {
		Store     struct{ URL, Timeout string }
		Overrides []struct{ Expires string }
		Limits    struct{ Account struct{ Capacity int } }
	}
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if code != 0 || v.Store.URL != "redis://user:xxxxx@127.0.0.1:6379/0" || v.Store.Timeout != "50ms" ||
		v.Overrides[0].Expires != "2099-01-31" || v.Limits.Account.Capacity != 10 || strings.Contains(out, "hunter2") {
		t.Errorf("exit status %d, %s", code, out)
	}
}

// The key that is printed as JSON is that of the line beside it.
func TestCallersAndVersionAsJSON(t *testing.T) {
	code, out, _ := once(t, nil, "callers", "add", "--name", "ops", "--role", "admin", "--json")
	var c struct{ Name, Key, Line string }
	if err := json.Unmarshal([]byte(out), &c); err != nil || code != 0 || c.Name != "ops" {
		t.Fatalf("%d, %v in %s", code, err, out)
	}
	s := start(t, "callers:\n  "+c.Line+"\n")
	if code, out, errs := once(t, nil, "limits", "--url", s.api, "--key-file", write(t, "key", c.Key+"\n")); code != 0 {
		t.Errorf("the key does not open: %d, %s%s", code, out, errs)
	}
	var v struct{ Version, Go string }
	code, out, _ = once(t, nil, "version", "--json")
	if err := json.Unmarshal([]byte(out), &v); err != nil || code != 0 || v.Version == "" || !strings.HasPrefix(v.Go, "go1") {
		t.Errorf("%d, %v in %s", code, err, out)
	}
}
