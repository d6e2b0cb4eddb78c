package service

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// dir holds the program while the tests run, "" until it is needed.
var dir string

// program builds the program, once for each test process, with the race
// detector, and returns its path.
var program = sync.OnceValues(func() (string, error) {
	var err error
	if dir, err = os.MkdirTemp("", "loginguard-test-"); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "loginguard")
	out, err := exec.Command("go", "build", "-race", "-o", path, "loginguard/cmd/loginguard").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

// Program returns the path of the program, built if it was not yet.
func Program(t testing.TB) string {
	t.Helper()
	path, err := program()
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
