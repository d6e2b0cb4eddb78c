package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
)

// unreachable says why no answer came, and what to look at.
func (r *remote) unreachable(err error) error {
	u, bad := r.base()
	if bad != nil {
		return bad
	}
	at := hostPort(u)
	var (
		dns       *net.DNSError
		untrusted x509.UnknownAuthorityError
		name      x509.HostnameError
		cert      *tls.CertificateVerificationError
		record    tls.RecordHeaderError
		timeout   net.Error
		outer     *url.Error
	)
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted")
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("nothing listens at %s: is loginguard running there, and is --url its API (server.api.listen, by default %s) "+
			"or its admin listener?", at, defaultURL)
	case errors.As(err, &dns) && !dns.IsTimeout:
		return fmt.Errorf("there is no host %s: is --url right?", printable(u.Hostname()))
	case errors.As(err, &untrusted):
		return fmt.Errorf("the certificate of %s is signed by an authority that this machine does not know: name it by --ca-file", at)
	case errors.As(err, &name):
		return fmt.Errorf("the certificate at %s is for another name: write the one that it is for in --url", at)
	case errors.As(err, &cert):
		return fmt.Errorf("the certificate of %s is not valid: %s", at, printable(cert.Err.Error()))
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		return fmt.Errorf("%s does not speak TLS: write http:// in --url", at)
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no answer from %s within %v: is a firewall in between, or the service overloaded? --timeout waits longer", at, r.timeout)
	case errors.As(err, &outer):
		err = outer.Err
	}
	return fmt.Errorf("no answer from %s: %s", at, printable(err.Error()))
}

// strange is an answer that loginguard never gives.
func (r *remote) strange() error {
	return fmt.Errorf("what answers at %s is not loginguard: is --url right?", r.where())
}

// problem is what a service says of a request that it refuses (RFC 9457).
type problem struct {
	Detail string `json:"detail"`
	Field  string `json:"field"`
}

// fieldFlags are the flags that stand for members of a request.
var fieldFlags = map[string]string{
	"account": "--account", "ip": "--ip", "device": "--device", "route": "--route",
	"realm": "--realm", "network": "--network", "scope": "--scope",
}

// refused says why the service did not do what it was asked to, in terms of the
// flags that change it.
func (r *remote) refused(res *http.Response, path string, answer []byte) error {
	kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	var p problem
	if kind != "application/problem+json" || json.Unmarshal(answer, &p) != nil {
		return r.foreign(res, answer)
	}
	detail := printable(cmp.Or(p.Detail, res.Status))
	switch {
	case res.StatusCode == http.StatusUnauthorized && r.keyFile == "":
		return errors.New("the service wants a key: name the file that holds it by --key-file, or ask the admin listener " +
			"(server.admin.listen), which wants none from its own machine")
	case res.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("the key in %s is not that of a caller of this service: see callers in its configuration", printable(r.keyFile))
	case res.StatusCode == http.StatusForbidden && p.Field == "realm":
		return fmt.Errorf("--realm: %s", detail)
	case res.StatusCode == http.StatusForbidden && r.keyFile != "":
		return fmt.Errorf("the key in %s does not allow this: %s See role in the callers of its configuration", printable(r.keyFile), detail)
	case res.StatusCode == http.StatusForbidden:
		return fmt.Errorf("the service does not allow this from here: %s", detail)
	case res.StatusCode == http.StatusNotFound && path == "/v1/limits":
		return fmt.Errorf("there are no limits at %s: they are at the API (server.api.listen)", r.where())
	case res.StatusCode == http.StatusNotFound:
		return fmt.Errorf("there is no %s at %s: is --url the API or the admin listener?", path, r.where())
	case fieldFlags[p.Field] != "":
		return fmt.Errorf("%s: %s", fieldFlags[p.Field], detail)
	case res.StatusCode >= http.StatusInternalServerError:
		msg := fmt.Sprintf("the service cannot answer (%d): %s", res.StatusCode, detail)
		if id := res.Header.Get("X-Request-Id"); id != "" {
			msg += " Its log says more under the id " + printable(id)
		}
		return errors.New(msg)
	}
	return fmt.Errorf("the service refuses (%d): %s", res.StatusCode, detail)
}

// foreign says what may be wrong when something else than loginguard answers.
func (r *remote) foreign(res *http.Response, answer []byte) error {
	switch {
	case res.StatusCode == http.StatusBadRequest && strings.Contains(string(answer), "HTTP request to an HTTPS server"):
		return fmt.Errorf("%s speaks TLS: write https:// in --url", r.where())
	case res.StatusCode >= 300 && res.StatusCode < 400:
		return fmt.Errorf("%s redirects to %s, where no key is sent: write the right address in --url",
			r.where(), printable(cmp.Or(res.Header.Get("Location"), "nowhere")))
	}
	return fmt.Errorf("%s answers %d, and not as loginguard does: is --url right?", r.where(), res.StatusCode)
}
