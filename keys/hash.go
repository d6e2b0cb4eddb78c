package keys

import (
	"crypto/rand"
	"encoding/base64"
)

const (
	labelPrefix = "loginguard/"
	labelSuffix = "/v1"

	labelAccount = labelPrefix + "account" + labelSuffix

	// fingerprintSize is the length of a fingerprint in bytes.
	fingerprintSize = 8
)

// Account returns the keyed hash that stands for an account of a realm: the
// first 128 bits of HMAC-SHA-256 under the first secret, in 22 characters of
// the URL alphabet of base64. The hashed message is the label
// "loginguard/account/v1", the realm and the canonical name, each preceded by
// its length in bytes as eight bytes, big-endian.
//
// canonical is the result of [Canonicaliser.Canonical] and not empty. Whoever
// lacks the secret can neither find an account for a hash, by trying names,
// nor choose one that falls together with another's.
func (r *Ring) Account(realm, canonical string) string {
	return encode(r.secrets[0].sum(labelAccount, realm, canonical))
}

// Accounts returns the hashes of an account under every secret, in their
// order: the first is that of Account, the rest are where its state may still
// be after the secret was changed.
func (r *Ring) Accounts(realm, canonical string) []string {
	hashes := make([]string, len(r.secrets))
	for i, s := range r.secrets {
		hashes[i] = encode(s.sum(labelAccount, realm, canonical))
	}
	return hashes
}

// Digest returns 128 bits of HMAC-SHA-256 over the parts under the first
// secret, in 22 characters of the URL alphabet of base64. Values of different
// purposes never meet: the label is "loginguard/", the purpose and "/v1",
// encoded together with the parts as in Account. The purpose is a constant of
// the calling code; "account" is taken.
func (r *Ring) Digest(purpose string, parts ...string) string {
	return encode(r.secrets[0].sum(labelPrefix+purpose+labelSuffix, parts...))
}

// Fingerprint is Digest cut to 64 bits, in 11 characters: enough to tell apart
// the few values that are remembered under one key, too little for a name
// that must be unique among all.
func (r *Ring) Fingerprint(purpose string, parts ...string) string {
	sum := r.secrets[0].sum(labelPrefix+purpose+labelSuffix, parts...)
	return base64.RawURLEncoding.EncodeToString(sum[:fingerprintSize])
}

// NewID returns 96 random bits in 16 characters of the URL alphabet of base64:
// at a thousand IDs a second for a year, the odds that any two are the same
// are below one in a hundred million.
func NewID() string {
	var id [12]byte
	rand.Read(id[:]) // never fails: the runtime ends the program rather
	return base64.RawURLEncoding.EncodeToString(id[:])
}

// encode returns a sum as text, with the one allocation of the string.
func encode(sum [macSize]byte) string {
	var text [(macSize*8 + 5) / 6]byte
	base64.RawURLEncoding.Encode(text[:], sum[:])
	return string(text[:])
}
