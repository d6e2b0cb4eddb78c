package handlers

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// malformed is what is wrong with a body that is not the JSON that was asked
// for. It is shown to the caller and never logged.
type malformed string

// Error implements error.
func (m malformed) Error() string { return string(m) }

// value is a place that one JSON value of one type is read into. A fresh place
// is absent; the decoder fills it at most once.
type value interface {
	read(c *cursor, name string) error
}

// text is a string that may be absent.
type text struct {
	set bool
	s   string
}

// flag is a bool; absent means false.
type flag struct{ set, b bool }

// lines is a list of strings.
type lines struct {
	set  bool
	list []string
}

// members are the names an object may have. They are compared byte for byte:
// encoding/json would take "Account" for "account", and the last of two, so
// that a second reader of the same body could see another account.
type members map[string]value

// decodeObject reads body, which must be exactly one JSON object with no other
// than the given members, each at most once, none null. It refuses what
// encoding/json would repair in silence: bytes that are no UTF-8 and escapes
// that are half a character, both of which become U+FFFD there and would make
// one account out of many.
//
// Nothing recurses deeper than m does, and the caller bounds the body, so time
// and memory are linear in its length.
func decodeObject(body []byte, m value) error {
	switch {
	case !utf8.Valid(body):
		return malformed("The body is not UTF-8.")
	case !json.Valid(body):
		return malformed("The body is not one JSON object and nothing else.")
	case loneSurrogate(body):
		return malformed(`The body has a \u escape that is half a character (a lone surrogate).`)
	}
	return m.read(&cursor{b: body}, "")
}

// read reads one object. It is itself a value, so that objects nest.
func (m members) read(c *cursor, name string) error { return m.readWith(c, name, nil) }

// readWith reads one object of valid JSON, where commas and colons are where
// they should be; rest reads the members of other names, which are
// refused where it is nil.
func (m members) readWith(c *cursor, name string, rest value) error {
	if !c.take('{') {
		return wrongType(name, "an object")
	}
	var seen names
	for !c.take('}') {
		c.take(',')
		key, ok := c.text()
		if !ok || !c.take(':') {
			return malformed("The body is not JSON.")
		}
		v, ok := m[key]
		switch {
		case !ok && (rest == nil || m.alike(key)):
			return unknown(m, name, key)
		case !ok:
			v = rest
		}
		if !seen.add(key) {
			return malformed("The member " + join(name, key) + " is there twice.")
		}
		if err := v.read(c, join(name, key)); err != nil {
			return err
		}
	}
	return nil
}

// names is a set that is small where all members are known, and may hold
// thousands where any are skipped.
type names struct {
	few  []string
	many map[string]bool
}

// add adds a name; it returns false when the name was there.
func (n *names) add(name string) bool {
	if slices.Contains(n.few, name) || n.many[name] {
		return false
	}
	switch {
	case len(n.few) < 16:
		n.few = append(n.few, name)
	case n.many == nil:
		n.many = map[string]bool{name: true}
	default:
		n.many[name] = true
	}
	return true
}

// read reads one string.
func (v *text) read(c *cursor, name string) error {
	s, ok := c.text()
	if !ok {
		return wrongType(name, "a string")
	}
	v.set, v.s = true, s
	return nil
}

// read reads one bool; 1 and "true" are none.
func (v *flag) read(c *cursor, name string) error {
	b, ok := c.boolean()
	if !ok {
		return wrongType(name, "true or false")
	}
	v.set, v.b = true, b
	return nil
}

// read reads one list of strings.
func (v *lines) read(c *cursor, name string) error {
	if !c.take('[') {
		return wrongType(name, "a list of strings")
	}
	v.set = true
	for !c.take(']') {
		c.take(',')
		line, ok := c.text()
		if !ok {
			return wrongType(name, "a list of strings")
		}
		v.list = append(v.list, line)
	}
	return nil
}

// open is an object that may have other members, too. They are skipped,
// whatever they are; names that differ from a known one in the case of letters
// only are refused all the same.
type open members

// read reads one object.
func (m open) read(c *cursor, name string) error {
	return members(m).readWith(c, name, skipped{})
}

// skipped is a value that nobody looks at.
type skipped struct{}

// read skips one value of any type.
func (skipped) read(c *cursor, _ string) error {
	c.skip()
	return nil
}

// alike tells whether a name is a known one but for the case of its letters.
func (m members) alike(key string) bool {
	for name := range m {
		if strings.EqualFold(name, key) {
			return true
		}
	}
	return false
}

// wrongType says what a value, "" for the body itself, should have been.
func wrongType(name, want string) error {
	if name == "" {
		return malformed("The body must be " + want + ".")
	}
	return malformed("The member " + name + " must be " + want + ".")
}

// unknown names the member that is not known, when it looks like a name: what
// does not may be anything, a password included, and is not sent around.
func unknown(m members, parent, key string) error {
	for name := range m {
		if strings.EqualFold(name, key) {
			return malformed("The member " + join(parent, name) + " must be written in exactly these letters.")
		}
	}
	if len(key) > 32 || strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
		return malformed("The body has a member that is not known.")
	}
	return malformed("The member " + join(parent, key) + " is not known.")
}

// join makes the path of a member, like forwarded.peer.
func join(parent, name string) string {
	if parent == "" {
		return name
	}
	return parent + "." + name
}

// loneSurrogate tells whether valid JSON has an escape for one half of a
// UTF-16 surrogate pair without the other. Backslashes occur only in strings
// there, so there is no need to know where strings begin.
func loneSurrogate(body []byte) bool {
	for {
		i := bytes.IndexByte(body, '\\')
		if i < 0 {
			return false
		}
		body = body[i:]
		u, ok := escape(body)
		switch {
		case !ok:
			body = body[2:] // \n and the like: never the start of another escape
		case u >= 0xDC00 && u <= 0xDFFF:
			return true
		case u >= 0xD800 && u <= 0xDBFF:
			low, ok := escape(body[6:])
			if !ok || low < 0xDC00 || low > 0xDFFF {
				return true
			}
			body = body[12:]
		default:
			body = body[6:]
		}
	}
}

// escape returns the code unit of the \u and four digits that b begins with.
func escape(b []byte) (uint64, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	u, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return u, err == nil
}
