package config

import (
	"maps"
	"slices"
	"strings"
)

// prefix begins the name of every environment variable that is read.
const prefix = "LOGINGUARD_"

// Setting is one value from outside the file, as text.
type Setting struct {
	Name string // how the operator gave it, for messages: --store-url
	Path string // which key it sets: store.url
	Text string
}

// target is a key that one text can set.
type target struct {
	node  *node
	elems []string // of its path; a name chosen by the operator may contain dots
}

func (t target) path() string { return strings.Join(t.elems, ".") }

// targets lists every key that one text can set: all scalars, and lists of
// scalars. Below a map of named things these are the keys of the names in
// values, since only those exist.
func (n *node) targets(values any, elems []string) []target {
	var all []target
	m, _ := values.(map[string]any)
	switch {
	case n.settable():
		return []target{{n, elems}}
	case n.kind == mappingKind:
		for _, f := range n.fields {
			all = append(all, f.targets(m[f.name], appended(elems, f.name))...)
		}
	case n.kind == namedKind:
		for _, name := range slices.Sorted(maps.Keys(m)) {
			all = append(all, n.elem.targets(m[name], appended(elems, name))...)
		}
	}
	return all
}

// appended is append on a copy, so that siblings do not share memory.
func appended(elems []string, name string) []string {
	return append(slices.Clone(elems), name)
}

// envName returns the name of the variable that sets a key: its path in upper
// case, with _ between the parts and for what a shell does not allow.
func envName(elems []string) string {
	return prefix + strings.Map(func(c rune) rune {
		if c == '.' || c == '-' {
			return '_'
		}
		return c
	}, strings.ToUpper(strings.Join(elems, "_")))
}

// environment returns the settings that variables of environ ("NAME=value")
// make among targets. A variable that names no key is only warned about:
// Kubernetes puts LOGINGUARD_SERVICE_HOST and the like into every container
// that runs beside a service called loginguard.
func (r *report) environment(environ []string, targets []target) map[string]any {
	byName := make(map[string][]target, len(targets))
	var names []string
	for _, t := range targets {
		name := envName(t.elems)
		byName[name] = append(byName[name], t)
		names = append(names, name)
	}
	tree := make(map[string]any)
	vars := variables(environ)
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		text := vars[name]
		switch found := byName[name]; {
		case len(found) == 1:
			r.set(tree, found[0], name, text)
		case len(found) > 1:
			r.refuse(place{source: name}, "", "may mean %s or %s: set it in the file", found[0].path(), found[1].path())
		case name == secretVar || name == secretFileVar:
			// read by identitySecret
		case name == webhookFileVar:
			// read by webhookSecret
		case fileOnly(schema, name, nil):
			r.refuse(place{source: name}, "", "cannot be set by a variable: use the file")
		default:
			w := name + ": unknown variable, ignored"
			if near := nearest(name, names); near != "" {
				w += " (did you mean " + strings.ToUpper(near) + "?)"
			}
			r.warnings = append(r.warnings, w)
		}
	}
	return tree
}

// variables returns the variables that begin with the prefix. Of two with one
// name the first counts, as everywhere in Go.
func variables(environ []string) map[string]string {
	found := make(map[string]string)
	for _, pair := range environ {
		name, text, ok := strings.Cut(pair, "=")
		if _, known := found[name]; ok && !known && strings.HasPrefix(name, prefix) {
			found[name] = text
		}
	}
	return found
}

// fileOnly reports whether name would be the variable of a list of maps.
func fileOnly(n *node, name string, elems []string) bool {
	if n.kind == listKind {
		return !n.settable() && envName(elems) == name
	}
	for _, f := range n.fields {
		if fileOnly(f, name, appended(elems, f.name)) {
			return true
		}
	}
	return false
}

// settings returns the tree of what the command line sets.
func (r *report) settings(given []Setting, targets []target) map[string]any {
	tree := make(map[string]any)
	for _, s := range given {
		i := slices.IndexFunc(targets, func(t target) bool { return t.path() == s.Path })
		if i < 0 {
			r.refuse(place{source: s.Name}, s.Path, "is no key of the configuration")
			continue
		}
		r.set(tree, targets[i], s.Name, s.Text)
	}
	return tree
}

// set parses text and puts it into the tree at t.
func (r *report) set(tree map[string]any, t target, source, text string) {
	path := t.path()
	p := place{source: source}
	r.at(path, p)
	v, err := t.node.parseSetting(text)
	if err != nil {
		r.refuse(p, path, "%s", err)
		return
	}
	last := len(t.elems) - 1
	for _, e := range t.elems[:last] {
		next, ok := tree[e].(map[string]any)
		if !ok {
			next = make(map[string]any)
			tree[e] = next
		}
		tree = next
	}
	tree[t.elems[last]] = v
}

// parseSetting reads a scalar, or the elements of a list with commas between
// them; blanks around an element are dropped, an empty text is the empty list.
func (n *node) parseSetting(text string) (any, error) {
	if n.kind != listKind {
		return n.parse(text)
	}
	list := []any{}
	if strings.TrimSpace(text) == "" {
		return list, nil
	}
	for e := range strings.SplitSeq(text, ",") {
		v, err := n.elem.parse(strings.TrimSpace(e))
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}
