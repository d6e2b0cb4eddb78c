package handlers

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"net/http"

	"github.com/labstack/echo/v4"

	"loginguard/guard"
)

// wforceBody is the part of wforce's login tuple that says something here.
// Others (device_id, protocol, tls, attrs, ...) may be there and are skipped.
type wforceBody struct {
	login, remote, pwhash, session, failType text
	success, policyReject                    flag
}

func (b *wforceBody) members() open {
	return open{
		"login":         &b.login,
		"remote":        &b.remote,
		"pwhash":        &b.pwhash,
		"session_id":    &b.session,
		"fail_type":     &b.failType, // Dovecot 2.4
		"success":       &b.success,
		"policy_reject": &b.policyReject,
	}
}

// wforceRequest reads the body of an allow or a report and returns the attempt
// that it is about. A login that is there and empty is right: Dovecot says so
// of a name that it would not accept, and then there is no account to charge.
func (s *Server) wforceRequest(c echo.Context, by guard.Caller, b *wforceBody) (guard.Request, error) {
	if err := decodeBody(c, b.members()); err != nil {
		return guard.Request{}, err
	}
	realm, err := onlyRealm(by)
	if err != nil {
		return guard.Request{}, err
	}
	rec := recordOf(c)
	rec.realm, rec.route = realm, defaultRoute
	switch {
	case !b.login.set:
		return guard.Request{}, invalid("login", "The login is missing. Where there is none, it must be empty.")
	case len(b.login.s) > maxAccount:
		return guard.Request{}, invalid("login", "A login has at most 1024 bytes.")
	case b.remote.s == "":
		return guard.Request{}, invalid("remote", "The address of the client is missing.")
	}
	q := guard.Request{
		Realm:       realm,
		Route:       defaultRoute,
		Account:     b.login.s,
		IP:          b.remote.s,
		ID:          b.id(),
		MostUses:    b.uses(),
		PasswordTag: b.tag(),
		RepeatOnly:  true,
	}
	if s.blank(c.Request().Context(), q.Account) {
		q.Account, q.NetworksOnly = "", true
	}
	return q, nil
}

// id names the attempt: the same for both questions about a sign-in and for
// its report, another for another password. Lengths keep the parts apart.
func (b *wforceBody) id() string {
	h := sha256.New()
	for _, part := range []string{b.session.s, b.login.s, b.pwhash.s, b.remote.s} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		h.Write([]byte(part))
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// uses returns how often the attempt's id may be used, 0 for the usual number.
// Where no session and no full hash tell one guess from another, two guesses
// now and then share an id, and a charge; so no more than the two questions
// about one sign-in do.
func (b *wforceBody) uses() int64 {
	if b.session.s == "" && b.tag() == "" {
		return 2
	}
	return 0
}

// Bounds of a password's hash, in hexadecimal digits.
const (
	minHash = 16 // 64 bits: with fewer, guesses would pass as repeats of one another
	maxHash = maxTag
)

// tag returns the password's hash if it is long enough to tell passwords
// apart, else "". Dovecot sends 12 bits unless it is told otherwise.
func (b *wforceBody) tag() string {
	if len(b.pwhash.s) < minHash || len(b.pwhash.s) > maxHash {
		return ""
	}
	for _, c := range []byte(b.pwhash.s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return ""
		}
	}
	return b.pwhash.s
}

// outcome returns how an attempt ended, "" for one that was refused here
// before the password was looked at.
func (b *wforceBody) outcome() (outcome, reason string) {
	switch {
	case b.success.b:
		return guard.Success, ""
	case b.policyReject.b, b.failType.s == "policy":
		return "", ""
	}
	switch b.failType.s {
	case "", "credentials":
		return guard.Failure, guard.BadPassword
	case "account":
		return guard.Failure, guard.UnknownAccount
	}
	return guard.Failure, guard.OtherReason
}

// wforceReset clears an account, an address, or both: let them in now.
func (s *Server) wforceReset(c echo.Context, by guard.Caller) error {
	if !by.Admin {
		return plain(http.StatusForbidden, "role", "This needs the role admin.")
	}
	var login, ip text
	if err := decodeBody(c, open{"login": &login, "ip": &ip}); err != nil {
		return err
	}
	realm, err := onlyRealm(by)
	if err != nil {
		return err
	}
	recordOf(c).realm = realm
	var list []guard.ForgetRequest
	if login.set {
		if login.s == "" || len(login.s) > maxAccount {
			return invalid("login", "A login has 1 to 1024 bytes.")
		}
		list = append(list, guard.ForgetRequest{Realm: realm, Account: login.s})
	}
	if ip.set {
		host, err := s.host(c.Request().Context(), ip.s)
		if err != nil {
			return err
		}
		list = append(list, guard.ForgetRequest{Realm: realm, Network: host})
	}
	if len(list) == 0 {
		return invalid("login", "A login or an ip must say what to reset.")
	}
	for _, q := range list {
		if err := s.engine.Forget(c.Request().Context(), by, q); err != nil {
			return err
		}
	}
	return answer(c, http.StatusOK, typeJSON, wforceAnswer{Attrs: map[string]string{}})
}

// host returns the finest network of an address: what is counted for it alone.
func (s *Server) host(ctx context.Context, ip string) (string, error) {
	rules := s.rules(ctx)
	client, err := rules.Clients.FromIP(ip)
	if err != nil {
		return "", invalid("ip", "This is not an address.")
	}
	_, networks := rules.Networks.Classify(client.Addr)
	if len(networks) == 0 {
		return "", invalid("ip", "No limit is kept for this address.")
	}
	return networks[0].Name, nil
}
