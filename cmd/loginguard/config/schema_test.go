package config

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const documented = "../../../config.yaml"

// walk calls f for every key of the schema with its path, [] for elements.
func walk(n *node, path string, f func(n *node, path string)) {
	if path != "" && n.name != "" {
		f(n, path)
	}
	for _, child := range n.fields {
		walk(child, join(path, child.name), f)
	}
	if n.elem != nil {
		walk(n.elem, path+"[]", f)
	}
}

// keysOf returns every key of v with its path, as walk names them.
func keysOf(n *node, v any, path string, found map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			if n.kind == namedKind {
				keysOf(n.elem, value, path+"[]", found)
				continue
			}
			found[join(path, name)] = true
			keysOf(n.field(name), value, join(path, name), found)
		}
	case []any:
		for _, e := range v {
			keysOf(n.elem, e, path+"[]", found)
		}
	}
}

var exampleLine = regexp.MustCompile(`^#   (.*)$`)

// examples returns the commented examples below lines with that word.
func examples(text, word string) []string {
	var found []string
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch m := exampleLine.FindStringSubmatch(line); {
		case line == "# "+word+":":
			inside = true
			found = append(found, "")
		case inside && m != nil:
			found[len(found)-1] += m[1] + "\n"
		default:
			inside = false
		}
	}
	return found
}

func TestDocumentedFileIsTheDefaults(t *testing.T) {
	c, warnings, err := Load(documented, nil, nil)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%v, warnings %q", err, warnings)
	}
	if diff := cmp.Diff(mustLoad(t, ""), c, same); diff != "" {
		t.Errorf("(-defaults +documented)\n%s", diff)
	}
}

// Every key stands in the file with its default or, where it belongs to an
// element, in an example; and the examples load.
func TestEveryKeyIsDocumented(t *testing.T) {
	text, err := os.ReadFile(documented)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]bool)
	read := func(text string) {
		r := newReport("documented")
		v := r.check(schema, r.parseYAML([]byte(text)), "")
		if len(r.mistakes) > 0 {
			t.Errorf("%v\n%s", r.mistakes, text)
		}
		keysOf(schema, v, "", found)
	}
	read(string(text))
	running := examples(string(text), "Example")
	if len(running) < 7 {
		t.Fatalf("found %d examples", len(running))
	}
	for _, e := range running {
		read(e)
		if _, warnings, err := loadText(t, e); err != nil || len(warnings) > 0 {
			t.Errorf("%v %q\n%s", err, warnings, e)
		}
	}
	walk(schema, "", func(n *node, path string) {
		// An example of an element shows one of several alternatives; the
		// others stand in its comments.
		if found[path] {
			return
		}
		if !strings.Contains(path, "[]") || !strings.Contains(string(text), " "+n.name+": ") {
			t.Errorf("%s is not documented", path)
		}
	})
}

// The schema is read from tags, and a tag that is misspelt is silent.
func TestTagsCanBeRead(t *testing.T) {
	tags := regexp.MustCompile(`^(mapstructure|oneof|min|max|kind|default|mask):"[^"]*"( (mapstructure|oneof|min|max|kind|default|mask):"[^"]*")*$`)
	var visit func(typ reflect.Type)
	visit = func(typ reflect.Type) {
		if typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map {
			visit(typ.Elem())
			return
		}
		if typ.Kind() != reflect.Struct || !strings.HasSuffix(typ.PkgPath(), "/config") {
			return
		}
		for i := range typ.NumField() {
			f := typ.Field(i)
			if f.IsExported() && !tags.MatchString(string(f.Tag)) {
				t.Errorf("%s.%s: %s", typ, f.Name, f.Tag)
			}
			visit(f.Type)
		}
	}
	visit(reflect.TypeFor[Config]())
	walk(schema, "", func(n *node, path string) {
		if n.kind == intKind && n.typ.Kind() != reflect.Int && n.typ.Kind() != reflect.Int64 {
			t.Errorf("%s is a %s", path, n.typ)
		}
		if (n.bounds[0] == "") != (n.bounds[1] == "") || n.bounds[0] != "" && !(n.min < n.max && n.max < 1e18) {
			t.Errorf("%s has bounds %q, read as %v and %v", path, n.bounds, n.min, n.max)
		}
		if n.def != "" {
			if _, err := n.parseSetting(n.def); err != nil {
				t.Errorf("%s has a default that %v", path, err)
			}
		}
		if n.mask != "" && mask(n.mask, "redis://:hunter2@h/0123456789") == "redis://:hunter2@h/0123456789" {
			t.Errorf("%s is not masked", path)
		}
	})
}

func TestDefaultsAreComplete(t *testing.T) {
	if diff := cmp.Diff(Default(), Default(), same, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	a := Default()
	a.Routes["login"] = Route{}
	if Default().Routes["login"] == (Route{}) {
		t.Error("the defaults can be changed from outside")
	}
}
