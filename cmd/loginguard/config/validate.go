package config

import (
	"encoding/hex"
	"net/url"
	"strings"
	"time"

	"loginguard/store"
)

// The words of the configuration that the program decides by.
const (
	ReadinessProcess = "process" // ready as long as the process answers
	ReadinessStore   = "store"   // ready as long as the store answers, too
	FormatJSON       = "json"    // of the log: one object a line
	FormatText       = "text"    // of the log: for people
	RoleAdmin        = "admin"   // of a caller: may also forget and explain

	defaultRole = "check" // of a caller that names none

	noAccount = "none" // of a route: its attempts name no account
)

// memoryURL is the store inside the process.
const memoryURL = "memory:"

// redisSchemes are the other stores; those in cluster spread their keys.
var redisSchemes = map[string]bool{
	"redis": true, "rediss": true, "unix": true,
	"redis+sentinel": true, "rediss+sentinel": true,
	"redis+cluster": true, "rediss+cluster": true,
}

// Memory reports whether the counters are kept in the process itself.
func (s Store) Memory() bool { return s.URL == memoryURL }

// Cluster reports whether the store spreads its keys over several nodes.
func (s Store) Cluster() bool { return strings.HasSuffix(s.scheme(), "+cluster") }

func (s Store) scheme() string {
	scheme, _, _ := strings.Cut(s.URL, ":")
	return scheme
}

// validate checks what values mean, alone and together.
func (r *report) validate(c *Config, now time.Time) {
	r.validateSupport(c.SupportURL)
	r.validateServer(c)
	r.validateCallers(c.Callers, c.Server.API.TLS.ClientCA != "")
	r.validateStore(c)
	r.validateFront(c)
	r.validateEvents(c.Events)
	r.validateRules(c, now)
}

// validateSupport wants an address that can be shown to strangers.
func (r *report) validateSupport(text string) {
	if text == "" {
		return
	}
	const path = "support_url"
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "mailto":
		r.wrong(path, "must be an https, http or mailto address")
	case u.Scheme != "mailto" && u.Host == "" || u.Scheme == "mailto" && u.Opaque == "":
		r.wrong(path, "names no host or mailbox")
	case u.User != nil:
		r.wrong(path, "must not contain a password: everybody sees it")
	}
}

func (r *report) validateServer(c *Config) {
	s := &c.Server
	api := r.validateListen("server.api.listen", s.API.Listen)
	admin := r.validateListen("server.admin.listen", s.Admin.Listen)
	if api && admin && s.API.Listen == s.Admin.Listen && !anyPort(s.API.Listen) {
		r.wrong("server.admin.listen", "is the address of server.api.listen, too")
	}
	if api && len(c.Callers) == 0 && !loopback(s.API.Listen) {
		r.wrong("server.api.listen", "%s is not a loopback address, and without callers everybody who reaches it would be admin: "+
			"add callers (loginguard callers add), or listen on 127.0.0.1", quote(s.API.Listen))
	}
	r.validateTLS("server.api.tls", s.API.TLS.Cert, s.API.TLS.Key)
	r.validateTLS("server.front.tls", s.Front.TLS.Cert, s.Front.TLS.Key)
	if s.API.TLS.ClientCA != "" && s.API.TLS.Cert == "" {
		r.wrong("server.api.tls.client_ca", "needs cert and key: client certificates exist only inside TLS")
	}
	r.validateCA("server.api.tls.client_ca", s.API.TLS.ClientCA)
}

// validateCallers wants names and keys to be nobody else's. Where client
// certificates are verified, a caller may do without a key.
func (r *report) validateCallers(callers []Caller, certificates bool) {
	names, keys := make(map[string]int), make(map[string]int)
	for i, c := range callers {
		path := item("callers", i)
		r.validateRealms(path+".realms", c.Realms)
		if !validName.MatchString(c.Name) {
			r.wrong(path+".name", "%s %s", quote(c.Name), badName)
		} else if first, taken := names[c.Name]; taken {
			r.wrong(path+".name", "%s is the name of %s, too", quote(c.Name), item("callers", first))
		} else {
			names[c.Name] = i
		}
		key := strings.ToLower(c.KeySHA256)
		if key == "" && certificates {
			continue // it shows a certificate with its name
		}
		if raw, err := hex.DecodeString(key); err != nil || len(raw) != 32 {
			r.wrong(path+".key_sha256", "must be the SHA-256 of the key, 64 hex digits (loginguard callers add makes both)")
		} else if first, taken := keys[key]; taken {
			r.wrong(path+".key_sha256", "is the key of %s, too: every caller needs its own", item("callers", first))
		} else {
			keys[key] = i
		}
	}
}

func (r *report) validateRealms(path string, realms []string) {
	if len(realms) == 0 {
		r.wrong(path, "is empty: the caller could ask nothing; leave it out for [default]")
	}
	seen := make(map[string]bool)
	for i, realm := range realms {
		switch {
		case !validName.MatchString(realm):
			r.wrong(item(path, i), "%s %s", quote(realm), badName)
		case seen[realm]:
			r.wrong(item(path, i), "%s is listed twice", quote(realm))
		}
		seen[realm] = true
	}
}

func (r *report) validateStore(c *Config) {
	s := c.Store
	switch {
	case s.Memory():
	case !redisSchemes[s.scheme()]:
		r.wrong("store.url", "must be memory: or begin with redis://, rediss://, unix://, redis+sentinel://, redis+cluster:// or rediss+ these")
	case !strings.HasPrefix(s.URL, s.scheme()+"://"):
		r.wrong("store.url", "must have // behind %s:", s.scheme())
	default:
		if err := store.CheckURL(s.URL); err != nil {
			r.wrong("store.url", "%v", err)
		}
		if c.ring == nil && !r.badSecret {
			r.wrong("store.url", "a Redis store needs an identity secret, the same for every instance: set %s, or %s "+
				"to a file with it (openssl rand -base64 32 makes one)", secretVar, secretFileVar)
		}
	}
	if s.CAFile != "" && !strings.HasPrefix(s.scheme(), "rediss") {
		r.wrong("store.ca_file", "is set, though the store is not reached by TLS: only rediss:// is")
	}
	r.validateCA("store.ca_file", s.CAFile)
}
