package handlers

import "encoding/json"

// cursor walks over JSON that encoding/json has found valid, so that nothing
// can be malformed here: it only finds where values begin and end. A Decoder
// of encoding/json would check every value once more, at several allocations
// each.
type cursor struct {
	b []byte
	i int
}

// next returns the first byte of the next value or punctuation, 0 at the end.
func (c *cursor) next() byte {
	for ; c.i < len(c.b); c.i++ {
		switch c.b[c.i] {
		case ' ', '\t', '\r', '\n':
		default:
			return c.b[c.i]
		}
	}
	return 0
}

// take steps over one byte of punctuation, if it is the next.
func (c *cursor) take(b byte) bool {
	if c.next() != b {
		return false
	}
	c.i++
	return true
}

// raw steps over a string and returns it with its quotes.
func (c *cursor) raw() (text []byte, escaped bool) {
	start := c.i
	for c.i++; c.i < len(c.b) && c.b[c.i] != '"'; c.i++ {
		if c.b[c.i] == '\\' {
			escaped = true
			c.i++
		}
	}
	c.i = min(c.i+1, len(c.b))
	return c.b[start:c.i], escaped
}

// text steps over a string and returns what it says; ok is false when the next
// value is none.
func (c *cursor) text() (s string, ok bool) {
	if c.next() != '"' {
		return "", false
	}
	raw, escaped := c.raw()
	if !escaped {
		return string(raw[1 : len(raw)-1]), true
	}
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}

// boolean steps over true or false; ok is false when the next value is neither.
func (c *cursor) boolean() (value, ok bool) {
	switch c.next() {
	case 't':
		c.i += len("true")
		return true, true
	case 'f':
		c.i += len("false")
		return false, true
	}
	return false, false
}

// skip steps over one value of any kind.
func (c *cursor) skip() {
	for depth := 0; ; {
		switch c.next() {
		case 0:
			return
		case '"':
			c.raw()
		case '{', '[':
			depth++
			c.i++
			continue
		case '}', ']':
			depth--
			c.i++
		case ',', ':':
			c.i++
			continue
		default: // a number, true, false or null
			for c.i < len(c.b) && !punctuation(c.b[c.i]) {
				c.i++
			}
		}
		if depth == 0 {
			return
		}
	}
}

// punctuation tells whether b ends a number or a word.
func punctuation(b byte) bool {
	switch b {
	case ',', ':', ']', '}', ' ', '\t', '\r', '\n':
		return true
	}
	return false
}
