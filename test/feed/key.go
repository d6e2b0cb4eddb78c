package main

import (
	"fmt"
	"os"
	"strings"
)

// readKey reads a caller's key from a file, since arguments are there for
// everybody on the machine to see.
func readKey(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("read the key: %w", err)
	}
	key := strings.TrimSpace(string(b))
	if key == "" {
		return "", fmt.Errorf("read the key: %s is empty", name)
	}
	return key, nil
}
