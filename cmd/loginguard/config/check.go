package config

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// validName is what realms, routes, pools and callers may be called. The names
// become parts of keys in the store and labels of metrics.
var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]{0,63}$`)

// check compares a YAML node with the schema and returns its value: nil if it
// was refused, else a map[string]any, []any, string, bool, int64, float64,
// time.Duration or policy.Rate. Nothing is converted.
func (r *report) check(n *node, y *yaml.Node, path string) any {
	p := place{r.file, y.Line}
	r.at(path, p)
	switch {
	case y.Kind == yaml.AliasNode || y.Anchor != "":
		r.refuse(p, path, "anchors and aliases are not supported: write the value out")
		return nil
	case y.Style&yaml.TaggedStyle != 0:
		r.refuse(p, path, "tags such as %s are not supported", quote(y.Tag))
		return nil
	case y.Kind == yaml.ScalarNode && y.ShortTag() == "!!null":
		r.refuse(p, path, "has no value: write one or leave the key out")
		return nil
	}
	switch n.kind {
	case mappingKind:
		return r.checkMapping(n, y, path)
	case namedKind:
		return r.checkNamed(n, y, path)
	case listKind:
		return r.checkList(n, y, path)
	default:
		return r.checkScalar(n, y, path)
	}
}

// checkMapping checks the keys of a mapping and their values.
func (r *report) checkMapping(n *node, y *yaml.Node, path string) any {
	if !r.isMap(y, path, "keys such as "+strings.Join(n.names()[:min(3, len(n.fields))], ", ")) {
		return nil
	}
	values := make(map[string]any, len(n.fields))
	r.eachKey(y, path, func(key, value *yaml.Node) {
		f := n.field(key.Value)
		if f == nil {
			r.refuse(place{r.file, key.Line}, join(path, keyName(key.Value)), "%s", n.unknown(path, key.Value))
			return
		}
		if v := r.check(f, value, join(path, f.name)); v != nil {
			values[f.name] = v
		}
	})
	return values
}

// checkNamed checks a mapping whose keys the operator chose. Names are lower
// case, so that viper, which folds keys, cannot make two of them one.
func (r *report) checkNamed(n *node, y *yaml.Node, path string) any {
	if !r.isMap(y, path, "names") {
		return nil
	}
	values := make(map[string]any)
	r.eachKey(y, path, func(key, value *yaml.Node) {
		if !validName.MatchString(key.Value) {
			r.refuse(place{r.file, key.Line}, join(path, keyName(key.Value)), "%s", badName)
			return
		}
		if v := r.check(n.elem, value, join(path, key.Value)); v != nil {
			values[key.Value] = v
		}
	})
	return values
}

// badName explains validName.
const badName = "is not a name: 1 to 64 of a-z, 0-9, _ . and -, a letter or digit first"

// eachKey calls f for every key that is a plain text and occurs once.
func (r *report) eachKey(y *yaml.Node, path string, f func(key, value *yaml.Node)) {
	first := make(map[string]int, len(y.Content)/2)
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, value := y.Content[i], y.Content[i+1]
		p := place{r.file, key.Line}
		switch {
		case key.ShortTag() == "!!merge":
			r.refuse(p, path, "merge keys (<<) are not supported: write the values out")
		case key.Kind != yaml.ScalarNode || key.Anchor != "" || key.Style&yaml.TaggedStyle != 0:
			r.refuse(p, path, "a key must be a plain name")
		case key.ShortTag() != "!!str":
			r.refuse(p, path, "the key %s is not a text: put it in quotes if it is meant to be one", quote(key.Value))
		case first[key.Value] > 0:
			r.refuse(p, join(path, keyName(key.Value)), "is already set in line %d", first[key.Value])
		default:
			first[key.Value] = key.Line
			f(key, value)
		}
	}
}

// unknown explains that key is none of the keys of n, which is at path.
func (n *node) unknown(path, key string) string {
	if path == "identity" && strings.HasPrefix(key, "secret") {
		return "unknown key: secrets never stand in the file, set " + secretVar + " or " + secretFileVar
	}
	if near := nearest(key, n.names()); near != "" {
		return "unknown key (did you mean " + near + "?)"
	}
	return "unknown key (known here: " + strings.Join(n.names(), ", ") + ")"
}

// isMap refuses anything but a mapping.
func (r *report) isMap(y *yaml.Node, path, of string) bool {
	if y.Kind == yaml.MappingNode {
		return true
	}
	r.refuse(place{r.file, y.Line}, path, "must be a map of %s, not %s", of, describeNode(y))
	return false
}

// checkList checks the elements of a list. The keys that an element leaves out
// get their defaults here.
func (r *report) checkList(n *node, y *yaml.Node, path string) any {
	if y.Kind != yaml.SequenceNode {
		hint := ""
		if y.Kind == yaml.ScalarNode && n.elem.scalar() && n.elem.mask == "" {
			hint = ": write [" + quote(y.Value) + "]"
		}
		r.refuse(place{r.file, y.Line}, path, "must be a list, not %s%s", describeNode(y), hint)
		return nil
	}
	values := make([]any, 0, len(y.Content))
	for i, e := range y.Content {
		v := r.check(n.elem, e, item(path, i))
		if v == nil {
			v = n.elem.zero() // it keeps its place, so that later paths are right
		}
		if m, ok := v.(map[string]any); ok {
			n.elem.complete(m)
		}
		values = append(values, v)
	}
	return values
}

// checkScalar checks the type that YAML saw in a scalar, then its text.
func (r *report) checkScalar(n *node, y *yaml.Node, path string) any {
	p := place{r.file, y.Line}
	if y.Kind != yaml.ScalarNode {
		r.refuse(p, path, "must be %s, not %s", n.wanted(), describeNode(y))
		return nil
	}
	if msg := n.mistyped(y); msg != "" {
		r.refuse(p, path, "%s", msg)
		return nil
	}
	v, err := n.parse(y.Value)
	if err != nil {
		r.refuse(p, path, "%s", err)
		return nil
	}
	return v
}

// mistyped says what is wrong with the YAML type of a scalar, "" for nothing.
func (n *node) mistyped(y *yaml.Node) string {
	tag := y.ShortTag()
	number := tag == "!!int" || tag == "!!float"
	switch n.kind {
	case textKind, dateKind:
		if tag != "!!str" && !(n.kind == dateKind && tag == "!!timestamp") {
			return "must be a text: put it in quotes"
		}
	case intKind, floatKind:
		if tag == "!!str" && fraction.MatchString(y.Value) {
			return "must be a number: write " + y.Value + " without quotes"
		}
		if !number {
			return "must be " + n.wanted() + ", not " + n.show(y.Value)
		}
	case boolKind:
		if tag == "!!str" && (y.Value == "true" || y.Value == "false") {
			return "must be " + y.Value + " without quotes"
		}
		if tag != "!!bool" {
			return "must be true or false, not " + n.show(y.Value)
		}
	case durationKind, rateKind:
		if tag != "!!str" && !number {
			return "must be " + n.wanted() + ", not " + n.show(y.Value)
		}
	}
	return ""
}

// wanted names the kind of a scalar in a message.
func (n *node) wanted() string {
	switch n.kind {
	case boolKind:
		return "true or false"
	case intKind:
		return "a whole number"
	case floatKind:
		return "a number"
	case durationKind:
		return "a duration such as 30s"
	case rateKind:
		return "tokens per span such as 10/6h"
	case dateKind:
		return "a date such as 2027-01-31"
	default:
		return "a text"
	}
}

// describeNode names what is there instead.
func describeNode(y *yaml.Node) string {
	switch y.Kind {
	case yaml.MappingNode:
		return "a map"
	case yaml.SequenceNode:
		return "a list"
	default:
		return "a single value"
	}
}
