package webhook

import (
	"encoding/base64"
	"errors"
	"net/netip"
	"net/url"
	"strings"
)

// secretPrefix begins a secret, so that people and scanners recognise it.
const secretPrefix = "whsec_"

// Bounds of a secret in bytes, from Standard Webhooks: shorter ones are
// guessed, longer ones are hashed down by HMAC.
const minSecret, maxSecret = 24, 64

// Errors of [ParseSecret]. They contain nothing of what was read.
var (
	errSecretForm = errors.New("must be whsec_ and base64 (echo whsec_$(openssl rand -base64 32) makes one)")
	errSecretSize = errors.New("must stand for 24 to 64 bytes (echo whsec_$(openssl rand -base64 32) makes one)")
)

// ParseSecret reads a secret, "whsec_" and 24 to 64 bytes in base64, and
// returns the bytes.
func ParseSecret(s string) ([]byte, error) {
	text, ok := strings.CutPrefix(s, secretPrefix)
	if !ok || strings.ContainsAny(text, "\r\n") { // which the decoder would skip
		return nil, errSecretForm
	}
	key, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, errSecretForm
	}
	if len(key) < minSecret || len(key) > maxSecret {
		return nil, errSecretSize
	}
	return key, nil
}

// CheckURL reports what keeps an address from being one to send to: https, or
// http to this machine, since everybody on the way could read who signs in
// from where. The error does not contain the address, which may have a
// password.
func CheckURL(s string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Opaque != "" || u.Hostname() == "":
		return errors.New("must be an address such as https://alerts.example.com/loginguard")
	case u.Fragment != "":
		return errors.New("must not have a fragment (#)")
	case u.Scheme == "https", u.Scheme == "http" && loopback(u.Hostname()):
		return nil
	case u.Scheme == "http":
		return errors.New("must be https: events name people's addresses; http is for this machine only")
	}
	return errors.New("must be an https address")
}

// loopback reports whether a host is this machine for sure: an address, or the
// one name that RFC 6761 reserves for it.
func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}
