package handlers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pointer is a JSON pointer (RFC 6901), as its tokens.
type pointer []string

// parsePointer reads a pointer to something inside a document: it begins with
// a slash, ~0 and ~1 stand for ~ and /.
func parsePointer(s string) (pointer, error) {
	if !strings.HasPrefix(s, "/") {
		return nil, errors.New("a JSON pointer begins with /")
	}
	var p pointer
	for token := range strings.SplitSeq(s[1:], "/") {
		rest := token
		for {
			_, after, found := strings.Cut(rest, "~")
			if !found {
				break
			}
			if !strings.HasPrefix(after, "0") && !strings.HasPrefix(after, "1") {
				return nil, errors.New("in a JSON pointer ~ is written ~0, and / in a name ~1")
			}
			rest = after
		}
		p = append(p, strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
	}
	return p, nil
}

// read returns the text that the pointer points at, which must be there once
// and be a string.
//
// Two readers of one document may choose different members: the first or the
// last of two, or one whose name differs in case or in signs, which some take
// for one (user_name and userName). So in every object on the
// way there must be exactly one that anybody could take for the right one.
func (p pointer) read(body []byte) (string, error) {
	switch {
	case !utf8.Valid(body):
		return "", malformed("The body is not UTF-8.")
	case !json.Valid(body):
		return "", malformed("The body is not one JSON document and nothing else.")
	case loneSurrogate(body):
		return "", malformed(`The body has a \u escape that is half a character (a lone surrogate).`)
	}
	at := json.RawMessage(body)
	for _, token := range p {
		var err error
		if at = bytes.TrimLeft(at, " \t\r\n"); len(at) > 0 && at[0] == '[' {
			at, err = element(at, token)
		} else {
			at, err = member(at, token)
		}
		if err != nil {
			return "", err
		}
	}
	d := json.NewDecoder(bytes.NewReader(at))
	t, err := d.Token()
	s, ok := t.(string)
	if err != nil || !ok {
		return "", malformed("The account is not a string.")
	}
	return s, nil
}

// errNoAccount is a request that names no account at all.
var errNoAccount = malformed("The request names no account.")

// member returns the one member of an object that has the name.
func member(object json.RawMessage, name string) (json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errNoAccount
	}
	var found json.RawMessage
	for d.More() {
		t, err := d.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			return nil, malformed("The body is not JSON.")
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, malformed("The body is not JSON.")
		}
		switch {
		case strings.ContainsFunc(key, unicode.IsControl):
			// Some readers end a name at NUL.
			return nil, malformed("The body has a member with a control character in its name.")
		case !sameWord(key, name) && !(bareWord(name) != "" && bareWord(key) == bareWord(name)):
		case key != name:
			return nil, malformed("The body has a member that differs from that of the account in its spelling only.")
		case found != nil:
			return nil, malformed("The body names the account twice.")
		default:
			found = value
		}
	}
	if found == nil {
		return nil, errNoAccount
	}
	return found, nil
}

// element returns an element of a list by its index: digits without leading
// zeros (RFC 6901, section 4).
func element(list json.RawMessage, token string) (json.RawMessage, error) {
	i, err := strconv.Atoi(token)
	if err != nil || i < 0 || token != strconv.Itoa(i) {
		return nil, errNoAccount
	}
	d := json.NewDecoder(bytes.NewReader(list))
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("read a list: %w", err)
	}
	for ; d.More(); i-- {
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, malformed("The body is not JSON.")
		}
		if i == 0 {
			return value, nil
		}
	}
	return nil, errNoAccount
}
