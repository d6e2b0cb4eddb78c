package config

import (
	"strings"

	"loginguard/keys"
)

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

// webhookFileVar names a file with the secret of the webhook, for where secrets
// are mounted: it is then neither in the configuration nor in a variable.
const webhookFileVar = prefix + "EVENTS_WEBHOOK_SECRET_FILE"

// webhookSecret puts the secret of that file into c, if there is one.
func (r *report) webhookSecret(c *Config, vars map[string]string) {
	path, byFile := vars[webhookFileVar]
	if !byFile {
		return
	}
	p := place{source: webhookFileVar}
	if c.Events.Webhook.Secret != "" {
		r.refuse(p, "", "is set, and so is events.webhook.secret: use one of them")
		return
	}
	content, err := readBounded(path, maxSecretFile)
	if err != nil {
		r.badHook = true
		r.refuse(p, "", "%s cannot be read: %v", quote(path), reason(err))
		return
	}
	c.Events.Webhook.Secret = strings.TrimSpace(string(content))
	r.at("events.webhook.secret", p)
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
