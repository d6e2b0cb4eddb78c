package page

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"loginguard/test/internal/client"
	"loginguard/test/internal/service"
)

// TestExplainAndClearByKeyboard asks about a person who is denied and lets them
// in again, touching nothing but keys.
func TestExplainAndClearByKeyboard(t *testing.T) {
	t.Parallel()
	s := service.Start(t, service.Options{Config: "networks: {pools: [{name: carrier-a, cidrs: [198.51.100.0/24]}]}\n"})
	const account = `<img src=x onerror="alert(1)">` // text, wherever it appears
	for i := range 11 {
		s.Report(s.Check(client.Attempt{Account: account, IP: fmt.Sprintf("20.0.%d.7", i)}).Attempt, "failure")
	}
	b := open(t, s.Admin)
	b.await(`document.getElementById("pulse-text").textContent === "live"`)
	b.keys(kb.Tab)
	if got := value[string](b, "document.activeElement.className"); got != "skip" {
		t.Errorf("the first Tab goes to %q, want the link that skips", got)
	}
	b.keys(kb.Enter)
	b.tabTo(`document.getElementById("ask-account")`)
	b.keys(account, kb.Tab, "198.51.100.7", kb.Enter)
	b.await(`document.querySelector("#verdict.deny")`)

	want := s.Explain(client.Attempt{Account: account, IP: "198.51.100.7"})
	verdict := b.text("verdict")
	if !strings.HasPrefix(verdict, "Denied for another ") || !strings.Contains(verdict, "too many tries at this account") || !strings.Contains(b.text("ask-status"), verdict) {
		t.Errorf("says %q, and aloud %q", verdict, b.text("ask-status"))
	}
	rows := b.table("#answer")
	if len(rows) != len(want.Limits) {
		t.Fatalf("%d limits on the page, %d in the answer", len(rows), len(want.Limits))
	}
	for i, l := range want.Limits {
		if left := fmt.Sprintf("%d of %s", l.Remaining, group(float64(l.Capacity))); rows[i][0] != strings.TrimSpace(l.Limit+" "+l.Level) || rows[i][2] != left {
			t.Errorf("row %q, want %s, %s", rows[i], l.Limit, left)
		}
	}
	if got := value[string](b, `document.querySelector("#answer dl").textContent`); !strings.Contains(got, want.Account) || !strings.Contains(got, "carrier-a (pool)") || !strings.Contains(got, "last success10") {
		t.Errorf("facts: %q", got)
	}

	button := func(label string) string {
		return `[...document.querySelectorAll("#answer button")].find(x => x.textContent === ` + quote(label) + `)`
	}
	b.tabTo(button("Let this account in"))
	b.keys(kb.Enter)
	b.await(`document.getElementById("confirm").open && document.activeElement.id === "confirm-no"`)
	if got := b.text("confirm-text"); !strings.Contains(got, account) {
		t.Errorf("the question names %q", got)
	}
	b.keys(kb.Escape)
	b.await(`!document.getElementById("confirm").open`)
	b.await(`document.activeElement === ` + button("Let this account in"))
	if s.Explain(client.Attempt{Account: account, IP: "198.51.100.7"}).Decision != "deny" {
		t.Fatal("Escape cleared it")
	}
	b.keys(kb.Enter)
	b.await(`document.getElementById("confirm").open`)
	b.keys(kb.Tab, kb.Enter)
	b.await(`document.getElementById("verdict")?.textContent.startsWith("Allowed")`)
	if got := b.text("ask-status"); !strings.HasPrefix(got, "Cleared. Allowed") {
		t.Errorf("says aloud %q", got)
	}
	back := func() { b.await(`document.activeElement.id === "ask"`) } // the focus, in the box
	back()
	if e := s.Explain(client.Attempt{Account: account, IP: "198.51.100.7"}); e.Decision != "allow" || e.Failures != 10 {
		t.Errorf("%s with %d failures, want allow with 10", e.Decision, e.Failures)
	}

	b.tabTo(button("Its password was reset"))
	b.keys(kb.Enter)
	b.await(`document.getElementById("confirm").open`)
	b.keys(kb.Tab, kb.Enter)
	b.await(`document.querySelector("#answer dl dd:last-child").textContent === "0"`)
	back()

	s.Report(s.Check(client.Attempt{Account: "other", IP: "198.51.100.7"}).Attempt, "failure")
	b.tabTo(button("Clear carrier-a"))
	b.keys(kb.Enter)
	b.await(`document.getElementById("confirm").open`)
	b.keys(kb.Tab, kb.Enter)
	b.await(`document.querySelector("#answer-limits tbody").textContent.includes("network pool")`)
	service.Await(t, patience, "the pool to be full", func() bool {
		return s.Explain(client.Attempt{Account: account, IP: "198.51.100.7"}).Find("network", "pool").Remaining == 100
	})

	back()
	b.expect("422")
	b.tabTo(`document.getElementById("ask-ip")`)
	b.keys("x", kb.Enter)
	b.await(`document.getElementById("answer").hidden && document.getElementById("ask-status").textContent.includes("ip")`)
}

// TestKeyIsAskedForAndKeptInMemory opens the page under a name that is not this
// machine's: nothing is answered without an admin key.
func TestKeyIsAskedForAndKeptInMemory(t *testing.T) {
	t.Parallel()
	const key = "an-admin-key-of-this-test-only"
	s := service.Start(t, service.Options{Config: fmt.Sprintf("callers: [{name: boss, key_sha256: %x, realms: [default], role: admin}]\n", sha256.Sum256([]byte(key)))})
	// The browser finds the name without asking anybody.
	url := strings.Replace(s.Admin, "127.0.0.1", "guard.test", 1)
	b := open(t, url)
	b.await(`document.getElementById("pulse-text").textContent === "live"`)
	b.expect("401")
	if !value[bool](b, `document.getElementById("key-row").hidden`) {
		t.Error("a key is asked for before one is needed")
	}
	b.tabTo(`document.getElementById("ask-account")`)
	b.keys("alice", kb.Tab, "203.0.113.9", kb.Enter)
	b.await(`document.activeElement.id === "key" && document.getElementById("ask-status").textContent.startsWith("An admin key is needed.")`)
	b.keys("wrong", kb.Enter)
	b.await(`document.getElementById("ask-status").textContent.includes("not the key of a caller")`)
	b.keys(key, kb.Enter) // over the wrong one, which is selected
	b.await(`document.getElementById("verdict")?.textContent.startsWith("Allowed")`)
	if got := value[string](b, `JSON.stringify([localStorage, sessionStorage, document.cookie, location.href, document.getElementById("key").type, document.getElementById("key").autocomplete])`); got != `[{},{},"",`+quote(url+"/")+`,"password","off"]` {
		t.Errorf("the page keeps %s", got)
	}
}
