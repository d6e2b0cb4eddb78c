package keys

import "crypto/subtle"

// Equal reports whether two rings hold the same secrets in the same order: they
// make and verify the same. Its time depends on their number alone.
func (r *Ring) Equal(o *Ring) bool {
	if len(r.secrets) != len(o.secrets) {
		return false
	}
	same := 1
	for i, s := range r.secrets {
		const label = "loginguard/equal/v1"
		mine, other := s.sum(label), o.secrets[i].sum(label)
		same &= subtle.ConstantTimeCompare(mine[:], other[:])
	}
	return same == 1
}
