package config

import (
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"loginguard/policy"
)

// kind is what a value may be.
type kind uint8

const (
	textKind kind = iota
	dateKind      // a text such as 2027-01-31
	boolKind
	intKind
	floatKind
	durationKind
	rateKind
	listKind    // elem repeated
	mappingKind // fields
	namedKind   // names chosen by the operator, each with an elem
)

// node is one key of the schema, or the elements of a list or named mapping.
type node struct {
	name   string // key in the file, "" for elements and the root
	kind   kind
	index  []int   // of the struct field in its parent, through embedded ones
	fields []*node // of a mapping, in the order of the documented file
	elem   *node   // of a list or named mapping
	typ    reflect.Type

	oneof    []string // texts allowed, nil for any
	min, max float64  // bounds of a number; of a duration, in nanoseconds
	bounds   [2]string
	def      string // value of a key left out in an element, "" for the zero value
	mask     string
}

// schema is the tree of all keys, read once from the type Config.
var schema = describe(reflect.TypeFor[Config](), reflect.StructField{})

// describe returns the schema of values of type t that are held in field f.
// It is total over the types that Config is made of, which a test walks.
func describe(t reflect.Type, f reflect.StructField) *node {
	n := &node{name: f.Tag.Get("mapstructure"), typ: t, index: f.Index, def: f.Tag.Get("default"), mask: f.Tag.Get("mask")}
	if s, ok := f.Tag.Lookup("oneof"); ok {
		n.oneof = strings.Split(s, "|")
	}
	switch {
	case t == reflect.TypeFor[time.Duration]():
		n.kind = durationKind
	case t == reflect.TypeFor[policy.Rate]():
		n.kind = rateKind
	case f.Tag.Get("kind") == "date":
		n.kind = dateKind
	case t.Kind() == reflect.String:
		n.kind = textKind
	case t.Kind() == reflect.Bool:
		n.kind = boolKind
	case t.Kind() == reflect.Float64:
		n.kind = floatKind
	case t.Kind() == reflect.Slice:
		n.kind = listKind
		n.elem = describe(t.Elem(), reflect.StructField{})
	case t.Kind() == reflect.Map:
		n.kind = namedKind
		n.elem = describe(t.Elem(), reflect.StructField{})
	case t.Kind() == reflect.Struct:
		n.kind = mappingKind
		n.fields = describeFields(t, nil)
	default:
		n.kind = intKind
	}
	n.bound(f.Tag)
	return n
}

// describeFields lists the keys of a struct; those of an embedded struct
// stand in its place.
func describeFields(t reflect.Type, prefix []int) []*node {
	var fields []*node
	for i := range t.NumField() {
		f := t.Field(i)
		index := append(append([]int(nil), prefix...), i)
		switch {
		case f.Anonymous:
			fields = append(fields, describeFields(f.Type, index)...)
		case f.IsExported():
			f.Index = index
			fields = append(fields, describe(f.Type, f))
		}
	}
	return fields
}

// bound reads the tags min and max, of which a key has both or none: then any
// finite value will do.
func (n *node) bound(tag reflect.StructTag) {
	n.min, n.max = math.Inf(-1), math.Inf(1)
	n.bounds = [2]string{tag.Get("min"), tag.Get("max")}
	for i, at := range []*float64{&n.min, &n.max} {
		if d, err := time.ParseDuration(n.bounds[i]); err == nil && n.kind == durationKind {
			*at = float64(d)
		} else if x, err := strconv.ParseFloat(n.bounds[i], 64); err == nil {
			*at = x
		}
	}
}

// field returns the key of that exact name, or nil.
func (n *node) field(name string) *node {
	for _, f := range n.fields {
		if f.name == name {
			return f
		}
	}
	return nil
}

// scalar reports whether a value of n is written as one scalar.
func (n *node) scalar() bool { return n.kind < listKind }

// settable reports whether n can be given as one text: a scalar, or a list of
// scalars with commas between them.
func (n *node) settable() bool {
	return n.scalar() || n.kind == listKind && n.elem.scalar()
}

// names returns the keys of a mapping, in order.
func (n *node) names() []string {
	names := make([]string, len(n.fields))
	for i, f := range n.fields {
		names[i] = f.name
	}
	return names
}

// join returns the dotted path of a key below path.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// item returns the path of element i of a list at path.
func item(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
