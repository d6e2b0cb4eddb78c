package config

import "loginguard/keys"

// The identity secret never stands in the file, which people mail to each
// other and check in: it comes from one of these variables.
const (
	secretVar     = prefix + "IDENTITY_SECRET"
	secretFileVar = prefix + "IDENTITY_SECRET_FILE"
)

// maxSecretFile bounds the file with the secrets, in bytes; keys.ParseRing
// takes no more.
const maxSecretFile = 32 << 10

// identitySecret returns the secrets that the environment gives, or nil.
func (r *report) identitySecret(vars map[string]string) *keys.Ring {
	text, direct := vars[secretVar]
	path, byFile := vars[secretFileVar]
	p := place{source: secretVar}
	r.badSecret = direct || byFile // until it is read
	switch {
	case direct && byFile:
		r.refuse(p, "", "is set, and so is %s: use one of them", secretFileVar)
		return nil
	case byFile:
		p.source = secretFileVar
		content, err := readBounded(path, maxSecretFile)
		if err != nil {
			r.refuse(p, "", "%s cannot be read: %v", quote(path), reason(err))
			return nil
		}
		text = string(content)
	case !direct:
		return nil
	}
	ring, err := keys.ParseRing(text)
	if err != nil {
		r.refuse(p, "", "%v (openssl rand -base64 32 makes one)", err)
		return nil
	}
	r.badSecret = false
	return ring
}

// Ring returns the identity secrets. Without any it makes random ones, which
// is good enough for a store that does not outlive the process; random says
// so. Load has refused a Redis store without secrets.
func (c *Config) Ring() (ring *keys.Ring, random bool) {
	if c.ring == nil {
		return keys.RandomRing(), true
	}
	return c.ring, false
}
