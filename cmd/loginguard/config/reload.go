package config

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"time"

	"loginguard/guard"
	"loginguard/keys"
	"loginguard/policy"
)

// FromFile reports whether the configuration file had anything to say. A file
// that is missing, where it may be, or empty leaves everything at its default.
func (c *Config) FromFile() bool { return c.fromFile }

// Files returns the names of the files that the configuration names and that
// are read again by a reload: the lists of networks, and certificates with their
// keys. A name may be there twice.
func (c *Config) Files() []string {
	return append(c.lists(), c.certificates()...)
}

// lists are the files with blocks of networks.
func (c *Config) lists() []string {
	n := c.Networks
	files := slices.Concat(n.Exempt.Files, n.PoolFiles, n.Hosting.Files)
	for _, p := range n.Pools {
		files = append(files, p.Files...)
	}
	return files
}

func (c *Config) certificates() []string {
	var files []string
	for _, t := range []TLS{{c.Server.API.TLS.Cert, c.Server.API.TLS.Key}, c.Server.Front.TLS} {
		if t.Cert != "" {
			files = append(files, t.Cert, t.Key)
		}
	}
	return files
}

// Under returns what c, freshly loaded, comes to in a process that runs under
// another configuration: what such a process cannot change stays as it is there.
// kept names the keys that differ and are not obeyed, and the variable of the
// identity secrets if these differ. The error is [Mistakes] about what is right
// in c by itself and wrong beside what runs, values that stay and lists that were
// emptied; then c must not be put in force.
func (c *Config) Under(running *Config) (effective *Config, kept []string, err error) {
	e := *c
	e.Server, e.Store, e.Events, e.ring = running.Server, running.Store, running.Events, running.ring
	e.Log.Format = running.Log.Format
	// Renewed certificates may have other names; whether there are any is fixed.
	if c.Server.API.TLS.Cert != "" && running.Server.API.TLS.Cert != "" {
		e.Server.API.TLS.Cert, e.Server.API.TLS.Key = c.Server.API.TLS.Cert, c.Server.API.TLS.Key
	}
	if c.Server.Front.TLS.Cert != "" && running.Server.Front.TLS.Cert != "" {
		e.Server.Front.TLS = c.Server.Front.TLS
	}
	if c.Server.Front.Listen == "" && running.Server.Front.Listen != "" {
		e.Front = running.Front // it cannot be taken away, so it goes on as it is
	}
	kept = different(c, &e)
	if (c.ring == nil) != (running.ring == nil) || c.ring != nil && !c.ring.Equal(running.ring) {
		kept = append(kept, secretFileVar) // a variable of this process cannot have changed
	}
	r := newReport("")
	r.refuseEmptied(&e, running)
	if len(kept) == 0 {
		return &e, nil, r.result()
	}
	if len(e.Callers) == 0 && !loopback(e.Server.API.Listen) {
		r.wrong("callers", "is empty, though the service goes on to listen on %s until it is restarted: everybody who reaches it would be admin",
			quote(e.Server.API.Listen))
	}
	r.validateCallers(e.Callers, e.Server.API.TLS.ClientCA != "")
	if e.Server.Front.Listen != "" {
		r.validateFront(&e)
	}
	return &e, kept, r.result()
}

// Certificate reads the pair of files again.
func (c TLS) Certificate() (*tls.Certificate, error) {
	pair, err := keyPair(c.Cert, c.Key)
	if err != nil {
		return nil, err
	}
	return &pair, nil
}

// Changed returns the top-level keys in which two configurations differ, in the
// order of the documented file.
func (c *Config) Changed(from *Config) []string {
	var names []string
	for _, f := range schema.fields {
		a, b := reflect.ValueOf(*c).FieldByIndex(f.index), reflect.ValueOf(*from).FieldByIndex(f.index)
		if len(f.differences(a, b, f.name)) > 0 {
			names = append(names, f.name)
		}
	}
	return names
}

// ChangedLists returns the names of the lists of networks that hold something
// else than when the other configuration was read, new ones included, in order.
// Both must have been asked for their [Config.Fingerprint].
func (c *Config) ChangedLists(from *Config) []string {
	var names []string
	for name, sum := range c.listSums {
		if from.listSums[name] != sum {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// different returns the paths of the keys in which two configurations differ.
func different(a, b *Config) []string {
	return schema.differences(reflect.ValueOf(*a), reflect.ValueOf(*b), "")
}

// differences returns the paths, at path or below it, in which two values
// differ. Lists and maps of names are compared as a whole.
func (n *node) differences(a, b reflect.Value, path string) []string {
	if n.kind == mappingKind {
		var paths []string
		for _, f := range n.fields {
			paths = append(paths, f.differences(a.FieldByIndex(f.index), b.FieldByIndex(f.index), join(path, f.name))...)
		}
		return paths
	}
	if n.kind >= listKind && a.Len() == 0 && b.Len() == 0 || reflect.DeepEqual(a.Interface(), b.Interface()) {
		return nil
	}
	return []string{path}
}

// Fingerprint returns 48 bits of a SHA-256 of the effective configuration, as
// [Config.Print] writes it with its secrets masked, and of the lists of networks
// that it names. Two instances with the same number decide alike, but for their
// secrets. So many bits are a number that JSON, Lua and Prometheus hold exactly.
// It notes what the lists held, for [Config.ChangedLists].
func (c *Config) Fingerprint() (uint64, error) {
	h := sha256.New()
	if err := c.Print(h); err != nil {
		return 0, err
	}
	files := c.lists()
	slices.Sort(files)
	sums := make(map[string]string, len(files))
	for _, name := range slices.Compact(files) {
		sum, err := fileSum(name)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", quote(name), reason(err))
		}
		sums[name] = string(sum)
		h.Write(sum)
	}
	c.listSums = sums
	return binary.BigEndian.Uint64(append([]byte{0, 0}, h.Sum(nil)[:6]...)), nil
}

// maxList bounds what is read of a list, in bytes; netprefix takes no more.
const maxList = 64<<20 + 1

func fileSum(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, io.LimitReader(f, maxList))
	return h.Sum(nil), err
}

// Expire returns rules that differ from those in force only in which overrides
// have expired at now, and the overrides that have since from. No file is read:
// what holds until a day ends with that day, also while a list is broken.
func (c *Config) Expire(rules guard.Rules, ring *keys.Ring, from, now time.Time) (guard.Rules, []Override, error) {
	p, err := policy.New(c.policy(ring, rules.Names, now))
	if err != nil {
		return guard.Rules{}, nil, fmt.Errorf("policy: %w", err)
	}
	rules.Policy = p
	var expired []Override
	for _, o := range c.Overrides {
		day, err := time.Parse(time.DateOnly, o.Expires)
		if end := day.AddDate(0, 0, 1); err == nil && from.Before(end) && !now.Before(end) {
			expired = append(expired, o)
		}
	}
	return rules, expired, nil
}
