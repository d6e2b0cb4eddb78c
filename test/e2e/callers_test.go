package e2e

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"loginguard/test/internal/client"
	"loginguard/test/internal/service"
)

// Keys of the callers below.
const (
	idpKey   = "key-of-the-identity-provider"
	shopKey  = "key-of-the-shop"
	adminKey = "key-of-the-operators"
)

// withCallers is a service off loopback in all but its address.
func withCallers() string {
	sum := func(key string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(key))) }
	return fmt.Sprintf(`
callers:
  - {name: idp, key_sha256: "%s", realms: [default]}
  - {name: shop, key_sha256: "%s", realms: [shop], role: check}
  - {name: operators, key_sha256: "%s", realms: [default, shop], role: admin}
`, sum(idpKey), sum(shopKey), sum(adminKey))
}

const oneCheck = `{"account":"alice","ip":"203.0.113.9"}`

// TestCallerKeys tries every way to show a key, right and wrong.
func TestCallerKeys(t *testing.T) {
	s := service.Start(t, service.Options{Config: withCallers()})
	basic := func(user, password string) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
	}
	for _, test := range []struct {
		name   string
		header http.Header
		want   int
	}{
		{"bearer", http.Header{"Authorization": {"Bearer " + idpKey}}, 200},
		{"bearer in any case", http.Header{"Authorization": {"bearer " + idpKey}}, 200},
		{"basic", http.Header{"Authorization": {basic("anything", idpKey)}}, 200},
		{"basic without a name", http.Header{"Authorization": {basic("", idpKey)}}, 200},
		{"x-api-key", http.Header{"X-Api-Key": {idpKey}}, 200},
		{"the same key twice", http.Header{"X-Api-Key": {idpKey}, "Authorization": {"Bearer " + idpKey}}, 200},
		{"none", http.Header{}, 401},
		{"wrong", http.Header{"Authorization": {"Bearer wrong"}}, 401},
		{"the hash of one", http.Header{"Authorization": {fmt.Sprintf("Bearer %x", sha256.Sum256([]byte(idpKey)))}}, 401},
		{"empty bearer", http.Header{"Authorization": {"Bearer "}}, 401},
		{"key as the name of basic", http.Header{"Authorization": {basic(idpKey, "")}}, 401},
		{"another scheme", http.Header{"Authorization": {"Digest " + idpKey}}, 401},
		{"keys of two callers", http.Header{"X-Api-Key": {idpKey}, "Authorization": {"Bearer " + adminKey}}, 401},
		{"a right one and a wrong one", http.Header{"X-Api-Key": {"wrong"}, "Authorization": {"Bearer " + idpKey}}, 401},
		{"key in the address", http.Header{}, 401},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.header.Set("Content-Type", "application/json")
			r := s.Do("POST", "/v1/check?key="+idpKey, test.header, oneCheck)
			if r.Status != test.want {
				t.Errorf("answered %d, want %d: %s", r.Status, test.want, r.Body)
			}
			if challenge := r.Header.Get("WWW-Authenticate"); (challenge != "") != (test.want == 401) {
				t.Errorf("WWW-Authenticate is %q on %d", challenge, r.Status)
			}
		})
	}
}

// TestRolesAndRealms asks everything as everybody.
func TestRolesAndRealms(t *testing.T) {
	s := service.Start(t, service.Options{Config: withCallers()})
	const (
		check   = "/v1/check"
		report  = "/v1/report"
		forget  = "/v1/forget"
		explain = "/v1/explain"
	)
	attempt := func(realm string) string {
		return fmt.Sprintf(`{"account":"alice","ip":"203.0.113.9","realm":%q}`, realm)
	}
	event := func(realm string) string {
		return fmt.Sprintf(`{"account":"alice","ip":"203.0.113.9","realm":%q,"outcome":"failure"}`, realm)
	}
	account := func(realm string) string { return fmt.Sprintf(`{"account":"alice","realm":%q}`, realm) }
	for _, test := range []struct {
		key, path, body string
		want            int
	}{
		{idpKey, check, oneCheck, 200},
		{idpKey, check, attempt("default"), 200},
		{idpKey, check, attempt("shop"), 403},
		{idpKey, check, attempt("nowhere"), 403},
		{shopKey, check, oneCheck, 403},
		{shopKey, check, attempt("shop"), 200},
		{adminKey, check, attempt("shop"), 200},
		{adminKey, check, attempt("default"), 200},
		{idpKey, report, event("default"), 200},
		{idpKey, report, event("shop"), 403},
		{shopKey, report, event("shop"), 200},
		{idpKey, forget, account("default"), 403},
		{shopKey, forget, account("shop"), 403},
		{adminKey, forget, account("shop"), 200},
		{adminKey, forget, account("nowhere"), 403},
		{idpKey, explain, attempt("default"), 403},
		{adminKey, explain, attempt("default"), 200},
		{adminKey, explain, attempt("nowhere"), 403},
	} {
		r := s.With(test.key).Do("POST", test.path, http.Header{"Content-Type": {"application/json"}}, test.body)
		if r.Status != test.want {
			t.Errorf("%s, %s %s: answered %d, want %d: %s", test.key, test.path, test.body, r.Status, test.want, r.Body)
		}
	}
}

// TestRealmsAreSeparate uses one name in two realms: one's attackers do not
// touch the other, and one's attempts cannot be reported by the other.
func TestRealmsAreSeparate(t *testing.T) {
	s := service.Start(t, service.Options{Config: withCallers()})
	idp, shop := s.With(idpKey), s.With(shopKey)
	for i := range 11 {
		d := idp.Check(client.Attempt{Account: "alice", IP: address(i)})
		if d.Allowed() != (i < 10) {
			t.Fatalf("guess %d was answered %d", i+1, d.Status)
		}
	}
	d := shop.Check(client.Attempt{Account: "alice", IP: address(0), Realm: "shop"})
	if !d.Allowed() {
		t.Errorf("the other realm was answered %d: %s", d.Status, d.Body)
	}
	if r := idp.Report(d.Attempt, "failure"); r.Status != http.StatusUnprocessableEntity {
		t.Errorf("a report of another caller's attempt was answered %d, want 422", r.Status)
	}
	if r := shop.Report(d.Attempt, "failure"); !r.Applied {
		t.Errorf("the caller's own report was answered %d: %s", r.Status, r.Body)
	}
}

// TestAttemptsCannotBeMadeUp reports tokens that are not ours.
func TestAttemptsCannotBeMadeUp(t *testing.T) {
	s := service.Start(t, service.Options{})
	real := s.Check(client.Attempt{Account: "alice", IP: "203.0.113.9"}).Attempt
	flipped := []byte(real)
	flipped[len(flipped)/2] ^= 1
	other := service.Start(t, service.Options{}).Check(client.Attempt{Account: "alice", IP: "203.0.113.9"}).Attempt
	for name, token := range map[string]string{
		"nonsense": "nonsense", "one bit changed": string(flipped), "cut": real[:len(real)-1], "longer": real + "A",
		"line end": real + "\n", "of another service": other, "much too long": strings.Repeat("A", 5000),
	} {
		if r := s.Report(token, "success"); r.Status != http.StatusUnprocessableEntity {
			t.Errorf("a token that is %s was answered %d: %s", name, r.Status, r.Body)
		}
	}
	report(t, s, real, "success")
}

// TestNewCallerWorks makes a key by the command and uses the line it prints.
func TestNewCallerWorks(t *testing.T) {
	out, err := exec.Command(service.Program(t), "callers", "add", "--name", "new-idp").Output()
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^\s+(- .*key_sha256.*)$`).FindSubmatch(out)
	key := regexp.MustCompile(`(?m)^\s+([A-Za-z0-9_-]{20,})$`).FindSubmatch(out)
	if line == nil || key == nil {
		t.Fatalf("no line or no key in:\n%s", out)
	}
	s := service.Start(t, service.Options{Config: "callers:\n  " + string(line[1]) + "\n"})
	if d := s.With(string(key[1])).Check(client.Attempt{Account: "alice", IP: "203.0.113.9"}); !d.Allowed() {
		t.Errorf("answered %d: %s", d.Status, d.Body)
	}
	if d := s.Check(client.Attempt{Account: "alice", IP: "203.0.113.9"}); d.Status != http.StatusUnauthorized {
		t.Errorf("without the key: answered %d", d.Status)
	}
}

// TestAdminListenerNeedsAnAdminKey for what acts, and no key for what shows.
func TestAdminListenerNeedsAnAdminKey(t *testing.T) {
	s := service.Start(t, service.Options{Config: withCallers()})
	for _, path := range []string{"/livez", "/readyz", "/metrics", "/"} {
		if p := s.Page(path); p.Status != http.StatusOK {
			t.Errorf("%s answers %d", path, p.Status)
		}
	}
	foreign := http.Header{"Content-Type": {"application/json"}, "Host": {"guard.example.com"}}
	for _, test := range []struct {
		key  string
		want int
	}{{"", 401}, {"wrong", 401}, {idpKey, 403}, {adminKey, 200}} {
		if r := s.With(test.key).Operate("POST", "/v1/forget", foreign, `{"account":"alice"}`); r.Status != test.want {
			t.Errorf("forget with key %q answers %d, want %d: %s", test.key, r.Status, test.want, r.Body)
		}
	}
}
