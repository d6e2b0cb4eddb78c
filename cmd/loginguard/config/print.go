package config

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"loginguard/policy"
)

// Print writes the effective configuration as YAML, in the order of the
// documented file, with its secrets masked. Loaded again it means the same, but
// for the secrets; that of the webhook must be put back first, or is refused.
func (c *Config) Print(w io.Writer) error {
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	if err := enc.Encode(schema.yaml(reflect.ValueOf(*c), false)); err != nil {
		return fmt.Errorf("printing the configuration: %w", err)
	}
	return enc.Close()
}

// yaml returns the node that says v. Within elements, whose keys are mostly
// optional, what was left out is left out again: where the default is not the
// zero value, the zero value is not valid.
func (n *node) yaml(v reflect.Value, element bool) *yaml.Node {
	switch n.kind {
	case mappingKind:
		y := &yaml.Node{Kind: yaml.MappingNode}
		for _, f := range n.fields {
			value := v.FieldByIndex(f.index)
			if element && (value.IsZero() || f.kind == listKind && value.Len() == 0) {
				continue
			}
			y.Content = append(y.Content, text(f.name), f.yaml(value, element))
		}
		if len(y.Content) == 0 {
			y.Style = yaml.FlowStyle
		}
		return y
	case namedKind:
		y := &yaml.Node{Kind: yaml.MappingNode}
		names := v.MapKeys()
		slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, name := range names {
			y.Content = append(y.Content, text(name.String()), n.elem.yaml(v.MapIndex(name), true))
		}
		return y
	case listKind:
		y := &yaml.Node{Kind: yaml.SequenceNode}
		if v.Len() == 0 || n.elem.scalar() {
			y.Style = yaml.FlowStyle
		}
		for i := range v.Len() {
			y.Content = append(y.Content, n.elem.yaml(v.Index(i), true))
		}
		return y
	default:
		return n.scalarNode(v)
	}
}

// scalarNode writes a scalar the way parse reads it.
func (n *node) scalarNode(v reflect.Value) *yaml.Node {
	plain := func(value string) *yaml.Node {
		return &yaml.Node{Kind: yaml.ScalarNode, Value: value}
	}
	switch x := v.Interface().(type) {
	case time.Duration:
		return text(span(x))
	case policy.Rate:
		return text(x.String())
	case bool:
		return plain(strconv.FormatBool(x))
	case float64:
		return plain(strconv.FormatFloat(x, 'f', -1, 64))
	case string:
		return text(mask(n.mask, x))
	default:
		return plain(strconv.FormatInt(v.Int(), 10))
	}
}

// text returns a string node; the encoder quotes it where YAML would read
// something else.
func text(s string) *yaml.Node {
	y := &yaml.Node{}
	y.SetString(s)
	return y
}

// span writes a duration as people do: 6h, not 6h0m0s.
func span(d time.Duration) string {
	s := d.String()
	if rest, ok := strings.CutSuffix(s, "m0s"); ok {
		s = rest + "m"
	}
	if rest, ok := strings.CutSuffix(s, "h0m"); ok {
		s = rest + "h"
	}
	return s
}
