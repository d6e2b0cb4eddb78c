package keys

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

const (
	minSecret  = 32       // bytes: as much as HMAC-SHA-256 can make use of at least
	maxSecret  = 1024     // bytes: more is not a secret but the wrong file
	maxSecrets = 16       // in one ring: every one of them costs a hash per token
	maxRing    = 32 << 10 // bytes of text, before anything is looked at
)

// A Ring holds the operator's secrets. The first makes hashes and tokens, all
// of them verify. It is immutable; its zero value cannot be used, so get one
// from [ParseRing] or [RandomRing]. Printing a ring shows no secret.
type Ring struct {
	secrets []*secret
}

// ParseRing reads secrets separated by commas: base64 in the standard or the
// URL alphabet, with or without padding, 32 to 1024 bytes each once decoded,
// at most 16 of them. `openssl rand -base64 32` makes one.
//
// White space around the whole (the newline that ends a file) and blanks around
// an element are ignored. Everything else is refused: an empty element, line
// breaks inside, a second spelling of the same secret, trailing bits that are
// not zero. An error names the position, counted from 1, never the value.
func ParseRing(commaList string) (*Ring, error) {
	text := strings.TrimSpace(commaList)
	if text == "" {
		return nil, errors.New("no secret given")
	}
	if len(text) > maxRing {
		return nil, fmt.Errorf("secrets are longer than %d bytes in all", maxRing)
	}
	elements := strings.Split(text, ",")
	if len(elements) > maxSecrets {
		return nil, fmt.Errorf("%d secrets given, at most %d are used", len(elements), maxSecrets)
	}
	keys := make([][]byte, 0, len(elements))
	for i, element := range elements {
		key, err := decodeSecret(strings.Trim(element, " \t"))
		if err != nil {
			return nil, fmt.Errorf("secret %d of %d: %w", i+1, len(elements), err)
		}
		for j, other := range keys {
			if bytes.Equal(key, other) {
				return nil, fmt.Errorf("secret %d of %d: is the same as secret %d", i+1, len(elements), j+1)
			}
		}
		keys = append(keys, key)
	}
	return newRing(keys...), nil
}

// RandomRing returns a ring with one new random secret, for state that does
// not outlive the process.
func RandomRing() *Ring {
	key := make([]byte, minSecret)
	rand.Read(key) // never fails: the runtime ends the program rather
	return newRing(key)
}

func newRing(keys ...[]byte) *Ring {
	r := &Ring{secrets: make([]*secret, len(keys))}
	for i, key := range keys {
		r.secrets[i] = newSecret(key)
	}
	return r
}

// String says how many secrets there are, and nothing else about them.
func (r *Ring) String() string { return fmt.Sprintf("keys.Ring of %d", len(r.secrets)) }

// GoString is String, so that no verb of fmt looks inside a ring.
func (r *Ring) GoString() string { return r.String() }

// decodeSecret decodes one element. Its errors do not wrap those of base64,
// which quote offsets into the value.
func decodeSecret(s string) ([]byte, error) {
	if s == "" {
		return nil, errors.New("is empty")
	}
	// The decoder skips these two, even when strict.
	if strings.ContainsAny(s, "\r\n") {
		return nil, errors.New("has a line break in it")
	}
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(s, "-_") {
		encoding = base64.RawURLEncoding
	}
	if strings.HasSuffix(s, "=") {
		encoding = encoding.WithPadding(base64.StdPadding)
	}
	key, err := encoding.Strict().DecodeString(s)
	if err != nil {
		return nil, errors.New("is not base64")
	}
	if len(key) < minSecret {
		return nil, fmt.Errorf("has %d bytes, at least %d are needed", len(key), minSecret)
	}
	if len(key) > maxSecret {
		return nil, fmt.Errorf("has %d bytes, at most %d are used", len(key), maxSecret)
	}
	return key, nil
}
