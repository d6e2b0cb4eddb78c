package guard

import (
	"crypto/sha256"
	"encoding/base64"
)

// callerMark is the fingerprint by which an attempt knows its caller. It is
// not keyed: a caller's name is no secret, and an attempt must still be
// reported after the secret was changed.
func callerMark(c Caller) string {
	sum := sha256.Sum256([]byte("loginguard/caller/v1/" + c.Name))
	return encode(sum[:8])
}

// place is the fingerprint of who tries from where.
func (g *Guard) place(r resolved) string {
	return g.ring.Fingerprint("place", r.Realm, r.Account, r.address())
}

// idempotence is the digest of a caller's own name for an attempt.
func (g *Guard) idempotence(c Caller, id string) string {
	return g.ring.Digest("idempotence", c.Name, id)
}

// idempotenceKey is the key of the store under which such an attempt is
// remembered, "" for one without an id.
func idempotenceKey(digest string) string {
	if digest == "" {
		return ""
	}
	return "lg:{i:" + digest + "}"
}

// Lengths, in bytes, of an account's hash and of the names of attempts and devices.
const (
	accountBytes = 16
	idBytes      = 12
)

// encode and decode are the form in which hashes and names are written.
func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func decode(s string) ([]byte, error) { return base64.RawURLEncoding.DecodeString(s) }
