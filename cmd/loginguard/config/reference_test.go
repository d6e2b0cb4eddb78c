package config

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// referencePage is the reference of the configuration in the manual.
const referencePage = "../../../docs/configuration.md"

const referenceHead = `# Configuration reference

Every key, generated from the code (` + "`go test ./cmd/loginguard/config -run Reference -update`" + `).
[config.yaml](../config.yaml) has all of them with their defaults and, in its comments, examples and what
they mean for the people who sign in. Why a limit has its size, and how to try another one, is in [tune.md](tune.md).

- **Where from.** A flag (` + "`--store-url`" + `) wins over a variable (` + "`LOGINGUARD_STORE_URL`" + `), that over the file
  (` + "`--config FILE`" + `, else ` + "`./config.yaml`" + `), that over the default. ` + "`loginguard config print`" + ` shows the result.
- **Lists and maps.** A map is laid over the default map, so naming one limit keeps the others. A list replaces the whole list.
  In a variable a list has commas between its values; lists of maps (` + "`callers`" + `, ` + "`overrides`" + ` and the like) are for the file only.
- **Strict.** Unknown keys, numbers in quotes, durations without a unit, a second document, values out of
  range: refused, all at once, each with its line. ` + "`loginguard config check`" + ` says them before you save.
- **Reload.** Keys with *reload* take effect within a second of the file being saved, see [operate.md](operate.md). Those
  with *restart* keep their value until the process is started anew; the log names them when they differ.
- **Types.** A duration is a whole number and a unit: ` + "`50ms`, `15m`, `720h`" + `; there are no days. A rate is tokens
  per span: ` + "`10/6h`" + `. A block is an address or a CIDR; one in IPv6 needs quotes within ` + "`[]`" + ` and ` + "`{}`" + `.
`

const referenceTail = `
## Variables without a key

| variable | meaning |
|---|---|
| ` + "`LOGINGUARD_IDENTITY_SECRET`" + ` | 32 bytes or more in base64, the same for all instances: accounts are kept by hashes under it. Several with commas between them rotate it, see [security.md](security.md#secrets). Needed with Redis; random without. |
| ` + "`LOGINGUARD_IDENTITY_SECRET_FILE`" + ` | a file that holds it; one of both |
| ` + "`LOGINGUARD_EVENTS_WEBHOOK_SECRET_FILE`" + ` | a file that holds ` + "`events.webhook.secret`" + `; one of both |

## Flags

` + "`--config`, `--api-listen` (`server.api.listen`), `--admin-listen` (`server.admin.listen`), `--store-url` (`store.url`), `--log-level`\nand `--log-format`" + `. Everything else is in the file or a variable.
`

// kindWords names the kinds of values for a reader.
var kindWords = map[kind]string{
	textKind: "text", dateKind: "day", boolKind: "true or false", intKind: "whole number",
	floatKind: "number", durationKind: "duration", rateKind: "rate",
}

// TestReferenceOfTheConfigurationIsCurrent: the page is made from the schema,
// the defaults, the bounds as they are enforced and what a reload takes over;
// -update writes it.
func TestReferenceOfTheConfigurationIsCurrent(t *testing.T) {
	var page strings.Builder
	page.WriteString(referenceHead)
	said := make(map[string]bool)
	row := func(n *node, path string) {
		meaning, key := meaningOf(path)
		if meaning == "" {
			t.Errorf("nothing is said about %s", path)
		}
		said[key] = true
		fmt.Fprintf(&page, "| `%s`%s | %s | %s | %s | %s |\n", path, variableOf(n, path), typeOf(t, n, path), defaultOf(n, path), taken(t, path), meaning)
	}
	for _, top := range schema.fields {
		fmt.Fprintf(&page, "\n## %s\n\n", top.name)
		if words := sectionWords[top.name]; words != "" {
			page.WriteString(words + "\n\n")
		}
		page.WriteString("| key, variable | type and values | default | changes by | meaning |\n|---|---|---|---|---|\n")
		walkReference(top, top.name, row)
	}
	page.WriteString(referenceTail)
	for key := range meanings {
		if !said[key] {
			t.Errorf("something is said about %s, which is no key", key)
		}
	}
	if *update {
		if err := os.WriteFile(referencePage, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(referencePage)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(page.String(), string(got)); diff != "" {
		t.Errorf("docs/configuration.md is stale: go test ./cmd/loginguard/config -run Reference -update\n(-code +page)\n%s", diff)
	}
}

// walkReference calls f for every key that holds a value or a list, NAME being
// any name of a map.
func walkReference(n *node, path string, f func(n *node, path string)) {
	switch n.kind {
	case mappingKind:
		for _, child := range n.fields {
			walkReference(child, join(path, child.name), f)
		}
	case namedKind:
		walkReference(n.elem, path+".NAME", f)
	case listKind:
		f(n, path)
		if !n.elem.scalar() {
			walkReference(n.elem, path+"[]", f)
		}
	default:
		f(n, path)
	}
}

// variableOf returns the variable that sets a key, in a line of its own.
func variableOf(n *node, path string) string {
	if strings.Contains(path, "[]") || !n.settable() {
		return ""
	}
	return "<br>`" + envName(strings.Split(path, ".")) + "`"
}

// typeOf says what may be written: words are those of the schema, bounds those
// that Load names when it refuses a value far outside of them.
func typeOf(t *testing.T, n *node, path string) string {
	t.Helper()
	switch {
	case n.kind == listKind && n.elem.scalar():
		return "list of " + kindWords[n.elem.kind] + "s"
	case n.kind == listKind:
		return "list of maps"
	case len(n.oneof) > 0:
		words := slices.DeleteFunc(slices.Clone(n.oneof), func(s string) bool { return s == "" })
		return "`" + strings.Join(words, "`, `") + "`"
	}
	words := kindWords[n.kind]
	if n.bounds[0] != "" {
		return words + ", " + n.bounds[0] + " to " + n.bounds[1]
	}
	if bounds := enforced(n, path); bounds != "" {
		return words + ", " + bounds
	}
	return words
}

var outOfRange = regexp.MustCompile(`^(?:must be |-?\d+ is out of range: want )(-?[\d.]+\w* to [\d.]+\w*(?:, or 0 for no such level)?|above 0 and at most 1)(?:, is .*)?$`)

// enforced returns the bounds of a number or duration that the mistakes of Load
// name, "" where there are none or no variable can set it.
func enforced(n *node, path string) string {
	tries := map[kind][]string{
		intKind: {"9999999999", "-1"}, floatKind: {"9999999999", "-1"}, durationKind: {"99999h"},
	}[n.kind]
	if strings.Contains(path, "[]") {
		return ""
	}
	path = strings.Replace(path, ".NAME", ".login", 1)
	for _, try := range tries {
		_, _, err := Load("", []string{envName(strings.Split(path, ".")) + "=" + try}, nil)
		var found Mistakes
		if !errors.As(err, &found) {
			continue
		}
		for _, m := range found {
			if b := outOfRange.FindStringSubmatch(m.Msg); b != nil && m.Path == path {
				return b[1]
			}
		}
	}
	return ""
}

// defaultOf returns the default as a file would have it.
func defaultOf(n *node, path string) string {
	inElement := strings.Contains(path, "[]") || strings.Contains(path, ".NAME")
	switch {
	case inElement && n.def != "" && n.kind == listKind:
		return "`[" + n.def + "]`"
	case inElement && n.def != "":
		return "`" + n.def + "`"
	case inElement:
		return ""
	}
	v := reflect.ValueOf(*Default())
	for at, name := schema, strings.Split(path, "."); len(name) > 0; name = name[1:] {
		at = at.field(name[0])
		v = v.FieldByIndex(at.index)
	}
	y := n.yaml(v, false)
	if n.kind != listKind {
		if y.Value == "" {
			return "`\"\"`"
		}
		return "`" + y.Value + "`"
	}
	var all []string
	for _, e := range y.Content {
		all = append(all, e.Value)
	}
	return "`[" + strings.Join(all, ", ") + "]`"
}

// taken says whether a running process takes a change over, by having it meet
// one: the value, list or map of a default configuration is made another.
func taken(t *testing.T, path string) string {
	t.Helper()
	if words, ok := takenWords[path]; ok {
		return words
	}
	changed := Default()
	v, at := reflect.ValueOf(changed).Elem(), schema
	var upTo string
	for name := range strings.SplitSeq(path, ".") {
		if name == "NAME" || strings.HasSuffix(upTo, "[]") {
			break
		}
		at = at.field(strings.TrimSuffix(name, "[]"))
		v, upTo = v.FieldByIndex(at.index), join(upTo, name)
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("another")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Float64:
		v.SetFloat(v.Float() + 1)
	case reflect.Slice:
		v.Set(reflect.Append(v, reflect.New(v.Type().Elem()).Elem()))
	case reflect.Map:
		v.SetMapIndex(reflect.ValueOf("another"), reflect.New(v.Type().Elem()).Elem())
	case reflect.Struct: // a rate
		v.FieldByName("Tokens").SetInt(v.FieldByName("Tokens").Int() + 1)
	default:
		v.SetInt(v.Int() + 1)
	}
	if len(changed.Changed(Default())) != 1 {
		t.Fatalf("%s was to be changed, and %q were", path, changed.Changed(Default()))
	}
	_, kept, _ := changed.Under(Default())
	if slices.Contains(kept, strings.TrimSuffix(upTo, "[]")) {
		return "restart"
	}
	return "reload"
}
