package config

import (
	"fmt"
	"reflect"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/viper"
)

// merge lays the layers over each other, the last on top, and decodes the
// result. A map is laid over a map, anything else replaces what is below.
//
// Every layer holds nothing but checked values of the right types, which is
// what makes viper safe here: it folds the case of keys, converts values and
// logs a conflict of types instead of failing. A fresh instance for each load
// shares nothing with the configuration in force, and is never read later.
func merge(layers ...map[string]any) (*Config, error) {
	// The delimiter would split names with dots in them. No key contains NUL.
	v := viper.NewWithOptions(viper.KeyDelimiter("\x00"))
	for _, layer := range layers {
		if err := v.MergeConfigMap(layer); err != nil {
			return nil, fmt.Errorf("merging the configuration: %w", err)
		}
	}
	c := new(Config) // empty: decoding into defaults would keep elements of their lists
	if err := v.UnmarshalExact(c, exact); err != nil {
		return nil, fmt.Errorf("decoding the configuration: %w", err)
	}
	return c, nil
}

// exact switches off every conversion that viper switches on.
func exact(d *mapstructure.DecoderConfig) {
	d.WeaklyTypedInput = false
	d.DecodeHook = nil
	d.MatchName = func(key, field string) bool { return key == field }
}

// tree returns the values of v as the schema lays them out: what check would
// return for a file that says all of it.
func (n *node) tree(v reflect.Value) any {
	switch n.kind {
	case mappingKind:
		m := make(map[string]any, len(n.fields))
		for _, f := range n.fields {
			m[f.name] = f.tree(v.FieldByIndex(f.index))
		}
		return m
	case namedKind:
		m := make(map[string]any, v.Len())
		for _, key := range v.MapKeys() {
			m[key.String()] = n.elem.tree(v.MapIndex(key))
		}
		return m
	case listKind:
		list := make([]any, 0, v.Len())
		for i := range v.Len() {
			list = append(list, n.elem.tree(v.Index(i)))
		}
		return list
	case intKind:
		return v.Int()
	default:
		return v.Interface()
	}
}

// zero returns the value of something that was left out.
func (n *node) zero() any { return n.tree(reflect.Zero(n.typ)) }

// complete fills in the keys that an element of a list, or an added entry of a
// named map, left out and that do not default to their zero value.
func (n *node) complete(values map[string]any) {
	for _, f := range n.fields {
		if _, given := values[f.name]; given || f.def == "" {
			continue
		}
		// A default that cannot be parsed leaves the key at zero; a test
		// sees to it that all can.
		if v, err := f.parseSetting(f.def); err == nil {
			values[f.name] = v
		}
	}
}

// completeAdded fills in the entries that values adds to the named maps of
// the defaults. Other entries have their defaults below them.
func (n *node) completeAdded(defaults, values map[string]any) {
	for _, f := range n.fields {
		below, _ := defaults[f.name].(map[string]any)
		given, _ := values[f.name].(map[string]any)
		if f.kind == mappingKind {
			f.completeAdded(below, given)
		}
		if f.kind != namedKind {
			continue
		}
		for name, v := range given {
			if m, ok := v.(map[string]any); ok && below[name] == nil {
				f.elem.complete(m)
			}
		}
	}
}
