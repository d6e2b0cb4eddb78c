package config

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files of the mistakes anew")

// environOf returns the variables that a test file asks for in its comments.
func environOf(text string) []string {
	var environ []string
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(line, "# env: "); ok {
			environ = append(environ, strings.TrimSuffix(v, "\n"))
		}
	}
	return environ
}

// Each file holds one kind of mistake; beside it stands what is said about it.
func TestEveryMistakeIsRefusedWithItsMessage(t *testing.T) {
	files, err := filepath.Glob("testdata/mistakes/*.yaml")
	if err != nil || len(files) < 80 {
		t.Fatalf("found %d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c, _, err := Load(file, environOf(string(text)), nil)
			if err == nil || c != nil {
				t.Fatalf("accepted, error %v", err)
			}
			got := err.Error() + "\n"
			if strings.Contains(got, "hunter2") {
				t.Errorf("the message shows a password: %s", got)
			}
			golden := strings.TrimSuffix(file, ".yaml") + ".txt"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A mistake names the file and line unless it is about the whole file or a
// value that stands elsewhere.
func TestMistakesHaveLines(t *testing.T) {
	const text = "mode: enforce\nlimits:\n  account:\n    capacity: \"10\"\n    backoff: {max: 2h}\n"
	_, _, err := loadText(t, text)
	got, ok := err.(Mistakes)
	if !ok || len(got) != 2 {
		t.Fatalf("got %v, want two mistakes", err)
	}
	for i, want := range []struct {
		line int
		path string
	}{{4, "limits.account.capacity"}, {5, "limits.account.backoff.max"}} {
		if got[i].Line != want.line || got[i].Path != want.path || !strings.HasSuffix(got[i].Source, ".yaml") {
			t.Errorf("mistake %d is %+v, want %+v", i, got[i], want)
		}
	}
}

func TestFileBounds(t *testing.T) {
	padding := bytes.Repeat([]byte("# a comment\n"), maxFile/12)
	if _, _, err := loadText(t, string(padding)); err != nil {
		t.Errorf("%d bytes: %v", len(padding), err)
	}
	_, _, err := loadText(t, string(padding)+strings.Repeat("#", 12))
	if err == nil || !strings.HasSuffix(err.Error(), "cannot be read: is larger than 1024 KiB") {
		t.Errorf("a larger file: %v", err)
	}
}

func TestMissingAndEmptyFiles(t *testing.T) {
	for _, empty := range []string{"", "# nothing\n", "---\n", "\n\n"} {
		_, warnings, err := loadText(t, empty)
		if err != nil || len(warnings) != 1 || !strings.HasSuffix(warnings[0], "the file is empty, the defaults are in force") {
			t.Errorf("%q: %v, %v", empty, warnings, err)
		}
	}

	t.Chdir(t.TempDir())
	c, warnings, err := Load("", nil, nil)
	if err != nil || c == nil || len(warnings) != 1 || warnings[0] != "config.yaml: there is no such file, the defaults are in force" {
		t.Errorf("without a file: %v, %v", warnings, err)
	}
	if _, _, err = Load("config.yaml", nil, nil); err == nil || err.Error() != "config.yaml: cannot be read: no such file or directory" {
		t.Errorf("a file asked for by name: %v", err)
	}
	if err := os.WriteFile("config.yaml", []byte("mode: log_only\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, warnings, err = Load("", nil, nil); err != nil || c.Mode != "log_only" || len(warnings) != 0 {
		t.Errorf("the default file is not read: %v, %v", warnings, err)
	}
}

// loadText loads a file with that text and no environment.
func loadText(t testing.TB, text string, environ ...string) (*Config, []string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "test.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(file, environ, nil)
}

// mustLoad is loadText for a text that must be accepted.
func mustLoad(t testing.TB, text string, environ ...string) *Config {
	t.Helper()
	c, _, err := loadText(t, text, environ...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
