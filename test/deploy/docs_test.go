package deploy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"loginguard/test/internal/service"
)

// block is a fenced block of a page.
type block struct {
	line int
	lang string
	text string
}

func (b block) name(path string) string { return fmt.Sprintf("%s:%d", path, b.line) }

// blocks returns the fenced blocks of a page in one of the languages.
func blocks(page string, langs ...string) []block {
	var all []block
	var open *block
	for i, line := range strings.Split(page, "\n") {
		fence, found := strings.CutPrefix(strings.TrimLeft(line, " "), "```")
		switch {
		case found && open == nil:
			open = &block{line: i + 1, lang: strings.TrimSpace(fence)}
		case found:
			if slices.Contains(langs, open.lang) {
				all = append(all, *open)
			}
			open = nil
		case open != nil:
			open.text += line + "\n"
		}
	}
	return all
}

func TestEveryJSONInTheManualIsJSON(t *testing.T) {
	for _, path := range files(t, "docs", ".md") {
		for _, b := range blocks(read(t, path), "json", "jsonl") {
			for d := json.NewDecoder(strings.NewReader(b.text)); ; {
				var v any
				if err := d.Decode(&v); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Errorf("%s: %v", b.name(path), err)
					break
				}
			}
		}
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	noWord  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors returns the names under which the headings of a page are found.
func anchors(page string) []string {
	var all []string
	for _, h := range heading.FindAllStringSubmatch(page, -1) {
		all = append(all, strings.ReplaceAll(noWord.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-"))
	}
	return all
}

func TestEveryLinkOfTheManualLeadsSomewhere(t *testing.T) {
	for _, path := range files(t, "docs", ".md") {
		for _, l := range link.FindAllStringSubmatch(read(t, path), -1) {
			if strings.Contains(l[1], "://") {
				continue
			}
			file, anchor, _ := strings.Cut(l[1], "#")
			target := path
			if file != "" {
				target = filepath.Join(filepath.Dir(path), file)
			}
			if _, err := os.Stat(filepath.Join(root, target)); err != nil {
				t.Errorf("%s links to %s: %v", path, l[1], err)
			} else if anchor != "" && !slices.Contains(anchors(read(t, target)), anchor) {
				t.Errorf("%s links to %s, which has no such heading", path, l[1])
			}
		}
	}
}

func TestTheIndexNamesEveryPage(t *testing.T) {
	index := read(t, "docs/README.md")
	for _, path := range files(t, "docs", ".md") {
		if name := strings.TrimPrefix(path, "docs/"); name != "README.md" && !strings.Contains(index, "("+name+")") {
			t.Errorf("docs/README.md does not link to %s", name)
		}
	}
}

// The alerts of the rules are those of the manual, so that whoever is woken finds
// what to do.
func TestTheManualSaysWhatToDoAtEveryAlert(t *testing.T) {
	names := func(pattern, path string) []string {
		var all []string
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(read(t, path), -1) {
			all = append(all, m[1])
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	fire := names(`alert: (\w+)`, "deploy/prometheus/loginguard.rules.yml")
	said := names(`(?:\| |, )(Loginguard[A-Z]\w+)`, "docs/operate.md")
	if len(fire) == 0 || !slices.Equal(fire, said) {
		t.Errorf("the rules have %q, docs/operate.md %q", fire, said)
	}
}

// The manual's command that shows how an address is found, with the configuration
// above it.
func TestTheManualFindsTheClientBehindTwoProxies(t *testing.T) {
	page := read(t, "docs/integrations.md")
	_, section, _ := strings.Cut(page, "\n## Handing over the client's address\n")
	config := blocks(section, "yaml")
	command := regexp.MustCompile(`--json '(\{"account":"a","forwarded":[^']+)'`).FindStringSubmatch(section)
	result := regexp.MustCompile(`(?m)^# ("client":"[^"]+")`).FindStringSubmatch(section)
	if len(config) == 0 || command == nil || result == nil {
		t.Fatal("the section has no configuration, no command or no result")
	}
	s := service.Start(t, service.Options{Config: config[0].text})
	a := s.Do(http.MethodPost, "/v1/explain", http.Header{"Content-Type": {"application/json"}}, command[1])
	if !strings.Contains(string(a.Body), result[1]) {
		t.Errorf("answered %s, the manual says %s", a.Body, result[1])
	}
}

// The manual's program in Go does the smoke test of the same page.
func TestTheProgramInTheManualRefusesTheEleventh(t *testing.T) {
	s := service.Start(t, service.Options{})
	code := blocks(read(t, "docs/integrations.md"), "go")
	if len(code) != 1 {
		t.Fatalf("there are %d programs in Go, want one", len(code))
	}
	const ours = "http://127.0.0.1:8080"
	if !strings.Contains(code[0].text, ours) {
		t.Fatalf("the program does not ask %s", ours)
	}
	main := text(t, "main.go", `package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

func verify(account, password string) bool { return password == "right" }

func main() {
	for range 20 {
		fmt.Print(login("owner", "right", "203.0.113.1"), " ")
	}
	for range 11 {
		fmt.Print(login("alice", "wrong", "203.0.113.7"), " ")
	}
}

`+strings.ReplaceAll(code[0].text, ours, s.API))
	c := exec.Command("go", "run", main)
	c.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if want := strings.Repeat("200 ", 20) + strings.Repeat("401 ", 10) + "429 "; string(out) != want {
		t.Errorf("printed %s, want %s", out, want)
	}
}
