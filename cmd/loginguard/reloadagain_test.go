package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"loginguard/cmd/loginguard/config"
	"loginguard/cmd/loginguard/watch"
)

// A list that is written again with what it had, and met when only half of it is
// there, is read once more: half of it must not stay in force.
func TestListThatIsReadByHalvesIsReadAgain(t *testing.T) {
	whole := "198.51.100.0/25\n198.51.100.128/25\n"
	list := write(t, "hosting.txt", whole)
	out := new(lockedBuffer)
	p := &program{stdout: io.Discard, stderr: out, configFile: write(t, "config.yaml", "networks: {hosting: {files: ["+list+"]}}\n")}
	c, _, err := p.load()
	if err != nil {
		t.Fatal(err)
	}
	s, err := newService(t.Context(), c, zerolog.New(out))
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	files := watch.New(watch.Options{Quiet: time.Millisecond})
	defer files.Close()
	files.Watch(append(c.Files(), p.file()))
	r := newReloader(p, s, &listeners{}, files, c, nil)
	put := func(text string) {
		if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.load = func() (*config.Config, []string, error) {
		put(whole[:len("198.51.100.0/25\n")])
		return p.load()
	}
	r.reload(bySignal)
	put(whole)
	select {
	case <-files.Changed():
	case <-time.After(patience):
		t.Fatalf("half of the list stays in force: %s", out)
	}
}

// A list that was never in force is not watched; the configuration that names
// it is read again from time to time, and refused in silence.
func TestRefusedConfigurationIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	list := filepath.Join(dir, "later.txt")
	s := startReloading(t, capacity(12))
	s.put(capacity(13) + "networks: {hosting: {files: [" + list + "]}}\n")
	s.logged(1, refusedLine)
	p := &program{stdout: io.Discard, stderr: io.Discard, configFile: s.file}
	if _, _, err := p.load(); err == nil {
		t.Fatal("the configuration is good")
	}

	out := new(lockedBuffer)
	r := &reloader{log: zerolog.New(out), now: time.Now}
	for range 3 {
		r.refused(byRetry, fmt.Errorf("%s: no such file", list))
	}
	if got := strings.Count(out.String(), refusedLine); got != 1 {
		t.Errorf("one refusal is logged %d times", got)
	}
	r.refused(bySignal, fmt.Errorf("%s: no such file", list))
	if got := strings.Count(out.String(), refusedLine); got != 2 {
		t.Error("who asks by SIGHUP is not answered")
	}
}
