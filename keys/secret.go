package keys

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"sync"
)

// macSize is the length of every full keyed hash that leaves the package, in
// bytes: 128 bits, the smallest truncation of HMAC-SHA-256 that is as hard to
// guess as the hash allows (RFC 2104, section 5: at least half its length).
const macSize = sha256.Size / 2

// A secret computes HMAC-SHA-256 under one key. Setting up the key costs five
// times as much as hashing a name, so states that have it are kept and reused.
type secret struct {
	states sync.Pool // of *state
}

// state is one keyed hash ready for use, with room for its input and output so
// that a computation allocates nothing.
type state struct {
	mac hash.Hash
	in  []byte
	out []byte
}

// maxKept is the largest input buffer, in bytes, that goes back to the pool: a
// few very long names must not pin their size in memory.
const maxKept = 4096

func newSecret(key []byte) *secret {
	return &secret{states: sync.Pool{New: func() any {
		return &state{mac: hmac.New(sha256.New, key)}
	}}}
}

// sum returns the first 128 bits of HMAC-SHA-256 over a label and parts.
//
// The encoding is unambiguous: the label and then every part, in order, each
// preceded by its length in bytes as eight bytes, big-endian. So neither (a,
// bc) and (ab, c) are the same input, nor (a) and (a, "").
func (s *secret) sum(label string, parts ...string) (sum [macSize]byte) {
	st := s.states.Get().(*state)
	st.in = appendPart(st.in[:0], label)
	for _, p := range parts {
		st.in = appendPart(st.in, p)
	}
	return s.finish(st)
}

// sign is sum over a single part that is at hand as bytes.
func (s *secret) sign(label string, message []byte) [macSize]byte {
	st := s.states.Get().(*state)
	st.in = appendPart(st.in[:0], label)
	st.in = appendPart(st.in, message)
	return s.finish(st)
}

// finish hashes what is in st and gives st back.
func (s *secret) finish(st *state) (sum [macSize]byte) {
	st.mac.Reset()
	st.mac.Write(st.in) // a hash.Hash never returns an error
	st.out = st.mac.Sum(st.out[:0])
	copy(sum[:], st.out)
	if cap(st.in) <= maxKept {
		s.states.Put(st)
	}
	return sum
}

// appendPart appends the length of p and p itself.
func appendPart[T string | []byte](b []byte, p T) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(len(p)))
	return append(b, p...)
}
