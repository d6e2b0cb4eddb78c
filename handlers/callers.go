package handlers

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"loginguard/guard"
)

// loopbackName is the caller of requests that need no key.
const loopbackName = "loopback"

// Caller is a client of the API as the configuration knows it. Keys are kept
// as SHA-256 only: they are long and random, so that a slow hash would protect
// nothing and cost every attempt.
type Caller struct {
	Name      string
	KeySHA256 [sha256.Size]byte
	Realms    []string // realms it may use; none means no realm at all
	Admin     bool     // may forget and explain, too
}

// identity finds out who asks; the error is a *problem.
type identity func(*http.Request) (guard.Caller, error)

// handler is a handler that knows who asks.
type handler func(echo.Context, guard.Caller) error

// as runs h for the caller that id finds, and not at all without one: before
// a byte of the body is read.
func (s *Server) as(id identity, h handler) echo.HandlerFunc {
	return func(c echo.Context) error {
		by, err := id(c.Request())
		recordOf(c).caller = by.Name
		if err != nil {
			return err
		}
		return h(c, by)
	}
}

// caller identifies a client of the API.
func (s *Server) caller(r *http.Request) (guard.Caller, error) {
	now := s.running(r.Context())
	if now.loopback {
		return s.local(r), nil
	}
	keys, ok := credentials(r.Header)
	by, found := match(now.callers, keys)
	cert, certified := s.certified(r)
	switch {
	case ok && len(keys) == 0 && !certified:
		return guard.Caller{}, plain(http.StatusUnauthorized, "no_key",
			"A caller key is needed: as Authorization: Bearer, as the password of Basic, or as X-API-Key.")
	case ok && len(keys) == 0:
		by = cert
	case !found || certified && cert.Name != by.Name:
		// Two credentials that do not name the same caller name none.
		return guard.Caller{}, plain(http.StatusUnauthorized, "wrong_key", "This is not the key of a caller.")
	}
	return guard.Caller{Name: by.Name, Realms: by.Realms, Admin: by.Admin}, nil
}

// admins identifies a client of the API that has the role admin.
func (s *Server) admins(r *http.Request) (guard.Caller, error) {
	by, err := s.caller(r)
	if err == nil && !by.Admin {
		err = plain(http.StatusForbidden, "role", "This needs the role admin.")
	}
	return by, err
}

// operator identifies who acts on the admin listener: an admin by key or, where
// nothing leaves this machine, whoever sits at it, and nobody whom a proxy here
// lets in. Who shows a key is held to it.
func (s *Server) operator(r *http.Request) (guard.Caller, error) {
	keys, ok := credentials(r.Header)
	loopback := s.running(r.Context()).loopback
	if (ok && len(keys) == 0 || loopback) && localListener(r) {
		if checkLocal(r) == nil && checkDirect(r) == nil {
			return s.local(r), nil
		}
	}
	if loopback {
		// There are no keys, so that none can be right.
		return guard.Caller{}, plain(http.StatusForbidden, "loopback", "Without a configured caller this serves this machine only.")
	}
	return s.admins(r)
}

// local is whoever sits at this machine.
func (s *Server) local(r *http.Request) guard.Caller {
	return guard.Caller{Name: loopbackName, Realms: s.rules(r.Context()).Policy.Realms(), Admin: true}
}

// match finds the caller of the keys that were shown, which must all be one.
// It hashes once and compares with every caller, so that its time says nothing
// about how close a key came or whose it is.
func match(callers []Caller, keys []string) (Caller, bool) {
	if len(keys) == 0 {
		return Caller{}, false
	}
	sum := sha256.Sum256([]byte(keys[0]))
	same := 1
	for _, k := range keys[1:] {
		other := sha256.Sum256([]byte(k))
		same &= subtle.ConstantTimeCompare(sum[:], other[:])
	}
	at := -1
	for i := range callers {
		eq := subtle.ConstantTimeCompare(sum[:], callers[i].KeySHA256[:])
		at = subtle.ConstantTimeSelect(eq, i, at)
	}
	if at < 0 || same != 1 {
		return Caller{}, false
	}
	return callers[at], true
}

// certified finds the caller whose name is the common name of a client
// certificate that the listener has verified.
func (s *Server) certified(r *http.Request) (Caller, bool) {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 || len(r.TLS.VerifiedChains[0]) == 0 {
		return Caller{}, false
	}
	name := r.TLS.VerifiedChains[0][0].Subject.CommonName
	for _, c := range s.running(r.Context()).callers {
		if name != "" && c.Name == name {
			return c, true
		}
	}
	return Caller{}, false
}

// credentials returns every key that a request shows; not ok when one of them
// is of no known form or empty.
func credentials(h http.Header) (keys []string, ok bool) {
	for _, v := range h.Values(echo.HeaderAuthorization) {
		scheme, rest, _ := strings.Cut(v, " ")
		rest = strings.TrimSpace(rest)
		switch strings.ToLower(scheme) {
		case "bearer":
			keys = append(keys, rest)
		case "basic":
			// Strict decoding still skips line ends, but a header has none.
			pair, err := base64.StdEncoding.Strict().DecodeString(rest)
			_, password, found := strings.Cut(string(pair), ":")
			if err != nil || !found {
				return nil, false
			}
			keys = append(keys, password)
		default:
			return nil, false
		}
	}
	keys = append(keys, h.Values("X-API-Key")...)
	for _, k := range keys {
		if k == "" {
			return nil, false
		}
	}
	return keys, true
}
