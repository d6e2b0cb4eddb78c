package deploy

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"loginguard/test/internal/service"
)

func TestMain(m *testing.M) { os.Exit(service.Main(m)) }

// root is the folder of the repository, seen from here.
const root = "../.."

// placeholders stand in the examples for what every user has to put in, with
// something that may stand there.
var placeholders = strings.NewReplacer(
	"REPLACE-WITH-THE-SHA256-OF-THE-CALLER-KEY", strings.Repeat("5e884898da280471", 4),
	"REPLACE-WITH-THE-CALLER-KEY", "lgk_key",
	"REPLACE-WITH-THE-ADDRESS-OF-ENVOY", "192.0.2.7",
	"REPLACE-WITH-THE-IDENTITY-SECRET", service.Secret,
)

// read returns a file of the repository with the placeholders filled in.
func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return placeholders.Replace(string(b))
}

// files lists the files below a folder of the repository whose names end in one
// of the suffixes.
func files(t *testing.T, dir string, suffixes ...string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(path, s) }) {
			rel, err := filepath.Rel(root, path)
			found = append(found, rel)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatalf("%s has no files %v", dir, suffixes)
	}
	return found
}

// object is a YAML mapping.
type object = map[string]any

// documents parses a YAML file strictly: keys must not be there twice, and what
// is not empty must be mappings.
func documents(t *testing.T, name, text string) []object {
	t.Helper()
	var all []object
	for d := yaml.NewDecoder(strings.NewReader(text)); ; {
		var o object
		switch err := d.Decode(&o); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatalf("%s: %v", name, err)
		case o == nil:
			t.Fatalf("%s: a document is empty", name)
		}
		all = append(all, o)
	}
}

// document is the one document of a file.
func document(t *testing.T, path string) object {
	t.Helper()
	all := documents(t, path, read(t, path))
	if len(all) != 1 {
		t.Fatalf("%s has %d documents, want one", path, len(all))
	}
	return all[0]
}

// at follows a path of keys and indexes into a document, and fails the test
// where it ends too early or at something of another type.
func at[T any](t *testing.T, from any, path ...any) T {
	t.Helper()
	here := from
	for i, step := range path {
		ok := false
		switch step := step.(type) {
		case string:
			var m object
			if m, ok = here.(object); ok {
				here, ok = m[step]
			}
		case int:
			var l []any
			if l, ok = here.([]any); ok && step < len(l) {
				here = l[step]
			} else {
				ok = false
			}
		}
		if !ok {
			t.Fatalf("there is no %v", path[:i+1])
		}
	}
	value, ok := here.(T)
	if !ok {
		t.Fatalf("%v is %T, want %T", path, here, value)
	}
	return value
}

// named returns the item of a list of mappings that has a name.
func named(t *testing.T, list []any, name string) object {
	t.Helper()
	for _, item := range list {
		if o, ok := item.(object); ok && o["name"] == name {
			return o
		}
	}
	t.Fatalf("nothing is called %s", name)
	return nil
}

// loginguard runs the program and returns its exit status and what it wrote to
// standard output and to standard error. The environment holds only env.
func loginguard(t *testing.T, env []string, args ...string) (status int, out, errs string) {
	t.Helper()
	c := exec.Command(service.Program(t), args...)
	c.Dir = t.TempDir() // without a config.yaml
	c.Env = append([]string{"GORACE=atexit_sleep_ms=0"}, env...)
	var o, e bytes.Buffer
	c.Stdout, c.Stderr = &o, &e
	var exit *exec.ExitError
	if err := c.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), o.String(), e.String()
}

// flagsExist checks a command line of an example: the program must know each
// flag of it.
func flagsExist(t *testing.T, args []string) {
	t.Helper()
	command := "serve"
	if len(args) == 0 || args[0] != command {
		t.Errorf("the program is started as %v, not to serve", args)
		return
	}
	_, help, _ := loginguard(t, nil, command, "--help")
	for _, a := range args[1:] {
		if name, _, _ := strings.Cut(a, "="); strings.HasPrefix(a, "-") && !strings.Contains(help, name+" ") {
			t.Errorf("there is no flag %s:\n%s", name, help)
		}
	}
}

// text writes a file of the test's own.
func text(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
