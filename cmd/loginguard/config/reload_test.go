package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// from loads a configuration that is right.
func from(t *testing.T, text string) *Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _, err := Load(file, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const oneCaller = "callers: [{name: idp, key_sha256: 6c3a4ff4365466596c86dd5bb9380339981efafc862e4e4a13ad759562d07e22}]\n"

func TestUnderKeepsWhatAProcessCannotChange(t *testing.T) {
	running := from(t, "log: {level: info}\n")
	next := from(t, "mode: log_only\nserver: {max_in_flight: 7, api: {listen: \"127.0.0.1:9\"}}\nstore: {instances: 3}\nlog: {level: warn, format: text}\n")
	got, kept, err := next.Under(running)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"server.api.listen", "server.max_in_flight", "store.instances", "log.format"}, kept); diff != "" {
		t.Errorf("kept keys (-want +got):\n%s", diff)
	}
	if got.Server != running.Server || got.Store != running.Store || got.Log != (Log{Level: "warn", Format: FormatJSON}) || got.Mode != "log_only" {
		t.Errorf("in force is %+v", got)
	}
	if diff := cmp.Diff([]string{"mode", "log"}, got.Changed(running)); diff != "" {
		t.Errorf("changed keys (-want +got):\n%s", diff)
	}
}

// Both files are right by themselves. Together they would open the service to
// everybody on the network.
func TestUnderRefusesToOpenTheServiceToTheNetwork(t *testing.T) {
	running := from(t, "server: {api: {listen: \":8080\"}}\n"+oneCaller)
	_, _, err := from(t, "mode: enforce\n").Under(running)
	if err == nil || !strings.Contains(err.Error(), "callers: is empty, though the service goes on to listen on") {
		t.Errorf("got %v", err)
	}
}

func TestFingerprintTellsConfigurationsAndListsApart(t *testing.T) {
	list := filepath.Join(t.TempDir(), "list.txt")
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("198.51.100.0/24\n")
	seen := make(map[uint64]string)
	for _, tt := range []struct{ name, text, list string }{
		{"defaults", "mode: enforce\n", ""},
		{"another mode", "mode: off\n", ""},
		{"a list", "networks: {hosting: {files: [" + list + "]}}\n", "198.51.100.0/24\n"},
		{"a longer list", "networks: {hosting: {files: [" + list + "]}}\n", "198.51.100.0/24\n203.0.113.0/24\n"},
	} {
		put(tt.list)
		h, err := from(t, tt.text).Fingerprint()
		if err != nil {
			t.Fatal(err)
		}
		if other, taken := seen[h]; taken || h == 0 || h >= 1<<48 {
			t.Errorf("%s has the number %d, and so has %q", tt.name, h, other)
		}
		seen[h] = tt.name
		if again, err := from(t, tt.text).Fingerprint(); again != h || err != nil {
			t.Errorf("%s has the numbers %d and %d, %v", tt.name, h, again, err)
		}
	}
}

// A list that has lost all that it had is an accident: a download that failed,
// a full disk. A comment says that it is meant.
func TestUnderRefusesAListThatWasEmptied(t *testing.T) {
	list := filepath.Join(t.TempDir(), "list.txt")
	with := func(text string) *Config {
		t.Helper()
		if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return from(t, "networks: {hosting: {files: ["+list+"]}}\n")
	}
	refusal := list + ": is empty, and the list in force is not: to empty it on purpose, leave a comment in it"
	for _, tt := range []struct{ name, running, next, want string }{
		{"emptied", "198.51.100.0/24\n", "", refusal},
		{"left with blanks", "198.51.100.0/24\n", " \n\n", refusal},
		{"left with a comment", "198.51.100.0/24\n", "# none now\n", ""},
		{"shorter", "198.51.100.0/24\n203.0.113.0/24\n", "198.51.100.0/24\n", ""},
		{"empty from the beginning", "", "", ""},
		{"a comment is something", "# none yet\n", "", refusal},
	} {
		running := with(tt.running)
		_, _, err := with(tt.next).Under(running)
		if err == nil && tt.want != "" || err != nil && err.Error() != tt.want {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
	without := from(t, "mode: enforce\n")
	if _, _, err := with("").Under(without); err != nil {
		t.Errorf("a list that is new and empty: %v", err)
	}
}
