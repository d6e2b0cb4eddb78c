package netprefix

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// addr is netip.MustParseAddr, short enough for tables.
func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

// mustResolver builds a resolver whose configuration is right.
func mustResolver(t testing.TB, c ResolverConfig) *Resolver {
	t.Helper()
	r, err := NewResolver(c)
	if err != nil {
		t.Fatalf("NewResolver: %v", err)
	}
	return r
}

// mustTable builds a table whose configuration is right.
func mustTable(t testing.TB, c TableConfig) *Table {
	t.Helper()
	table, err := NewTable(c)
	if err != nil {
		t.Fatalf("NewTable: %v", err)
	}
	return table
}

// faultsOf gives the faults of an error as lines, and fails when it is not Errors.
func faultsOf(t testing.TB, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	var list Errors
	if !errors.As(err, &list) {
		t.Fatalf("error is a %T, want Errors: %v", err, err)
	}
	lines := make([]string, len(list))
	for i, e := range list {
		lines[i] = e.Error()
	}
	return lines
}

// writeList writes a list file and gives its path.
func writeList(t testing.TB, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "list.txt")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// describe writes networks on one line: "host 203.0.113.9/32, pool shared".
func describe(networks []Network) string {
	parts := make([]string, len(networks))
	for i, n := range networks {
		parts[i] = n.Level.String() + " " + n.Name
	}
	return strings.Join(parts, ", ")
}
