package keys

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// A Kind keeps tokens of different use apart: one never opens as another.
type Kind byte

// The kinds there are. Their values are part of every token: never reuse one.
const (
	KindAttempt Kind = 'a' // names an allowed attempt until it is reported
	KindDevice  Kind = 'd' // names a device that has signed in
)

func (k Kind) valid() bool { return k == KindAttempt || k == KindDevice }

// A Token is what was sealed, or what [Ring.Open] found in a sealed one.
type Token struct {
	Realm   string // at most 255 bytes
	Issued  int64  // microseconds since 1970
	Expires int64  // microseconds since 1970; nothing here compares it
	Body    []byte // what the token says, known to its kind alone
	// Secret is the index of the secret that made the token, set by Open: 0
	// unless the secret has been changed since. Seal ignores it.
	Secret int
}

// ErrToken is what [Ring.Open] returns for anything that is not a token of the
// asked kind under one of the ring's secrets. It says no more than that: which
// check failed is of use only to somebody who forges.
var ErrToken = errors.New("token is not valid")

// A sealed token is, in base64,
//
//	version  1 byte
//	kind     1 byte
//	realm    1 byte length, then the realm
//	issued   8 bytes, big-endian
//	expires  8 bytes, big-endian
//	body     the rest, up to
//	MAC      16 bytes, over all before it
const (
	tokenVersion = 1
	maxRealm     = 255 // bytes, what its length byte can say
	maxToken     = 512 // characters of a sealed token
	tokenFixed   = 1 + 1 + 1 + 8 + 8

	// labelToken is no label that Account, Digest or Fingerprint can have,
	// whatever the purpose, so no hash is ever the MAC of a token.
	labelToken = "loginguard token v1"
)

// tokenEncoding accepts one spelling of a token only, trailing bits included.
var tokenEncoding = base64.RawURLEncoding.Strict()

// Seal returns t as a string of at most 512 characters of the URL alphabet of
// base64, signed under the first secret. The same token always gives the same
// string. It is readable by anyone (signed, not encrypted), so that nothing
// secret belongs into the body. Unknown kinds, a realm over 255 bytes and what
// does not fit into 512 characters are errors.
func (r *Ring) Seal(k Kind, t Token) (string, error) {
	if !k.valid() {
		return "", fmt.Errorf("sealing a token: there is no kind %q", byte(k))
	}
	if len(t.Realm) > maxRealm {
		return "", fmt.Errorf("sealing a token: realm of %d bytes, at most %d are possible", len(t.Realm), maxRealm)
	}
	size := tokenFixed + len(t.Realm) + len(t.Body) + macSize
	if n := tokenEncoding.EncodedLen(size); n > maxToken {
		return "", fmt.Errorf("sealing a token: %d characters, at most %d are possible", n, maxToken)
	}
	b := make([]byte, 0, size)
	b = append(b, tokenVersion, byte(k), byte(len(t.Realm)))
	b = append(b, t.Realm...)
	b = binary.BigEndian.AppendUint64(b, uint64(t.Issued))
	b = binary.BigEndian.AppendUint64(b, uint64(t.Expires))
	b = append(b, t.Body...)
	mac := r.secrets[0].sign(labelToken, b)
	return tokenEncoding.EncodeToString(append(b, mac[:]...)), nil
}

// Open returns what was sealed in a token of kind k, or [ErrToken] for any
// other string: altered in whatever way, of another kind or version, made
// under a secret that is not in the ring. MACs are compared in constant time
// against every secret. Whether the token has expired, and whether its realm
// is the right one, is for the caller to see.
func (r *Ring) Open(k Kind, token string) (Token, error) {
	// The decoder skips line breaks, even when strict.
	if len(token) > maxToken || strings.ContainsAny(token, "\r\n") {
		return Token{}, ErrToken
	}
	b, err := tokenEncoding.DecodeString(token)
	if err != nil || len(b) < tokenFixed+macSize {
		return Token{}, ErrToken
	}
	b, mac := b[:len(b)-macSize], b[len(b)-macSize:]
	index := r.signer(b, mac)
	// Only what a ring has made is read any further.
	if index < 0 || b[0] != tokenVersion || !k.valid() || Kind(b[1]) != k {
		return Token{}, ErrToken
	}
	n := int(b[2])
	if len(b) < tokenFixed+n {
		return Token{}, ErrToken
	}
	realm, b := string(b[3:3+n]), b[3+n:]
	return Token{
		Realm:   realm,
		Issued:  int64(binary.BigEndian.Uint64(b)),
		Expires: int64(binary.BigEndian.Uint64(b[8:])),
		Body:    b[16:len(b):len(b)], // the MAC behind it is not for appending to
		Secret:  index,
	}, nil
}

// signer returns the index of the secret under which mac belongs to message,
// or -1. It computes all of them, so that its time does not tell which.
func (r *Ring) signer(message, mac []byte) int {
	index := -1
	for i, s := range r.secrets {
		if want := s.sign(labelToken, message); hmac.Equal(mac, want[:]) {
			index = i
		}
	}
	return index
}
