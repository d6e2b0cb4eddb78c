package feeds

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// decode reads a document of JSON into v, which lists the members that count.
// It reports false, and notes why, when the document is no JSON, is cut off, has
// something behind it, has a member twice, or has a value of another type.
func decode(data []byte, v any, k *keeper) bool {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if err := json.Unmarshal(data, v); err != nil {
		var syntax *json.SyntaxError
		var kind *json.UnmarshalTypeError
		switch {
		case errors.As(err, &syntax):
			k.fault(lineAt(data, syntax.Offset), "is not JSON: %s", strings.TrimPrefix(syntax.Error(), "json: "))
		case errors.As(err, &kind):
			k.fault(lineAt(data, kind.Offset), "%s must be %s, and is %s", cmp.Or(kind.Field, "the document"), words(kind), kind.Value)
		default:
			k.fault("", "is not JSON: %v", err)
		}
		return false
	}
	if path, offset := twice(data); path != "" {
		k.fault(lineAt(data, offset), "%s is there twice", path)
		return false
	}
	return true
}

// words names the type that was wanted.
func words(e *json.UnmarshalTypeError) string {
	switch kind := e.Type.Kind().String(); kind {
	case "slice":
		return "a list"
	case "struct":
		return "an object"
	default:
		return "a " + kind
	}
}

// lineAt is the place of a byte, for a message. Lines are counted from 1.
func lineAt(data []byte, offset int64) string {
	before := data[:min(max(offset, 0), int64(len(data)))]
	return fmt.Sprintf("line %d", 1+bytes.Count(before, []byte("\n")))
}

// level is an object or a list that is being read.
type level struct {
	names map[string]bool // nil for a list
	name  string          // of the member whose value comes
	index int             // of the element that comes
	key   bool            // a name is next
}

// twice finds a member that an object has twice, "" when there is none.
// encoding/json would keep the last one in silence, and half a feed would be
// lost. data is JSON.
func twice(data []byte) (path string, offset int64) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var open []level
	for {
		t, err := d.Token()
		if err != nil {
			// The end: that data is JSON was checked before.
			return "", 0
		}
		switch t {
		case json.Delim('{'):
			open = append(open, level{names: make(map[string]bool), key: true})
			continue
		case json.Delim('['):
			open = append(open, level{})
			continue
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		default:
			if n := len(open); n > 0 && open[n-1].key {
				top := &open[n-1]
				top.name, _ = t.(string)
				top.key = false
				if top.names[top.name] {
					return pathOf(open), d.InputOffset()
				}
				top.names[top.name] = true
				continue
			}
		}
		// A value has ended.
		if n := len(open); n > 0 {
			open[n-1].index++
			open[n-1].key = open[n-1].names != nil
		}
	}
}

// pathOf writes where a value is: values[2].properties.region.
func pathOf(open []level) string {
	var b strings.Builder
	for _, l := range open {
		if l.names == nil {
			fmt.Fprintf(&b, "[%d]", l.index)
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(printable(clip(l.name)))
	}
	return b.String()
}

// printable quotes text that would end a line or colour a terminal.
func printable(s string) string {
	quoted := fmt.Sprintf("%q", s)
	if quoted == `"`+s+`"` {
		return s
	}
	return quoted
}

// needed notes that a member is missing by which the format is known.
func (k *keeper) needed(member, document string) {
	k.fault("", "has no list %q: it is not %s", member, document)
}
