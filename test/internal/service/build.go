package service

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// dir holds the programs while the tests run, "" until one is needed.
var dir string

// workplace makes dir.
var workplace = sync.OnceValues(func() (string, error) {
	var err error
	dir, err = os.MkdirTemp("", "loginguard-test-")
	return dir, err
})

// The program is built once for each test process: with the race detector, and
// as users get it. Each returns the path.
var (
	watched = sync.OnceValues(func() (string, error) { return build("loginguard", "-race") })
	shipped = sync.OnceValues(func() (string, error) { return build("loginguard-shipped") })
)

// build builds the program under a name.
func build(name string, flags ...string) (string, error) {
	in, err := workplace()
	if err != nil {
		return "", err
	}
	path := filepath.Join(in, name)
	args := append(append([]string{"build"}, flags...), "-o", path, "loginguard/cmd/loginguard")
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
}

// Program returns the path of the program with the race detector, built if it
// was not yet.
func Program(t testing.TB) string {
	t.Helper()
	return must(t, watched)
}

// must returns what a build made.
func must(t testing.TB, build func() (string, error)) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Main runs the tests of a package and removes the program that they built. It
// returns the exit status.
func Main(m *testing.M) int {
	status := m.Run()
	if dir != "" {
		if err := os.RemoveAll(dir); err != nil {
			fmt.Fprintln(os.Stderr, "removing the program:", err)
			status = max(status, 1)
		}
	}
	return status
}
