package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loginguard/cmd/loginguard/replay"
)

// guessed is a log of twelve guesses and the owner, who comes last.
func guessed() string {
	var log strings.Builder
	for i := range 12 {
		fmt.Fprintf(&log, `{"time":1790000000,"account":"alice","ip":"11.0.%d.1","outcome":"failure"}`+"\n", i)
	}
	return log.String() + `{"time":1790000001,"account":"alice","ip":"203.0.113.9","outcome":"success"}` + "\n"
}

func TestReplayPrintsAndWrites(t *testing.T) {
	log, settings := write(t, "day.jsonl", guessed()), write(t, "config.yaml", "mode: enforce\nstore: {url: redis+cluster://nowhere:1}\n")
	decisions, page := filepath.Join(t.TempDir(), "d.jsonl"), filepath.Join(t.TempDir(), "r.html")
	code, out, errs := once(t, nil, "replay", log, "--config", settings, "--decisions", decisions, "--html", page, "--show-accounts", "--check")
	if code != int(exitFound) || errs != "" || !strings.Contains(out, "10 allowed, 3 denied\n  denied with the right credential: 1, of 1 account\n") ||
		!strings.Contains(out, "\n  alice    3       0           1\n") {
		t.Errorf("status %d, %s\n%s", code, errs, out)
	}
	for name, want := range map[string]string{decisions: `{"n":13,"decision":"deny","limit":"account","retry_after":29}`, page: "<!doctype html>"} {
		text, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v, lacks %s", name, err, want)
		}
	}
	code, out, _ = once(t, nil, "replay", log, "--config", settings, "--against", settings, "--json", "--check")
	var r replay.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 || r.Events != 13 || r.Changes == nil || r.Changes.Both.Events != 3 || r.Changes.Both.Successes != 1 {
		t.Errorf("status %d, %v: %s", code, err, out)
	}
}

// TestReplayKeepsNothingOfAFailure: a log with a bad line leaves no file, and
// an older one as it was.
func TestReplayKeepsNothingOfAFailure(t *testing.T) {
	dir := t.TempDir()
	log, settings, decisions := write(t, "day.jsonl", guessed()+"nonsense\n"), write(t, "config.yaml", "mode: enforce\n"), filepath.Join(dir, "d.jsonl")
	if err := os.WriteFile(decisions, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := once(t, nil, "replay", log, "--config", settings, "--decisions", decisions)
	if code != exitFailure || out != "" || !strings.Contains(errs, "day.jsonl:14: is not a JSON object") {
		t.Errorf("status %d, %s%s", code, out, errs)
	}
	files, err := os.ReadDir(dir)
	if text, _ := os.ReadFile(decisions); err != nil || len(files) != 1 || string(text) != "old" {
		t.Errorf("%v, %v; the old file has %q", err, files, text)
	}
	if code, _, errs = once(t, nil, "replay", log, "--config", settings, "--skip-bad"); code != 0 || !strings.Contains(errs, "1 unusable line passed over") {
		t.Errorf("with --skip-bad: status %d, %s", code, errs)
	}
}

func TestReplayRefusesAWrongCommand(t *testing.T) {
	for _, args := range [][]string{
		{}, {"a", "b"}, {"a", "--format", "xml"}, {"a", "--year", "2026"}, {"a", "--format", "sshd", "--year", "26"},
		{"a", "--max-keys", "-1"}, {"a", "--html", "x", "--decisions", "x"},
	} {
		if code, _, errs := once(t, nil, append([]string{"replay"}, args...)...); code != exitUsage {
			t.Errorf("replay %v: status %d, %s", args, code, errs)
		}
	}
}

// TestReplayWritesOverNothingThatItReads: the log may be the only copy.
func TestReplayWritesOverNothingThatItReads(t *testing.T) {
	log, settings := write(t, "day.jsonl", guessed()), write(t, "config.yaml", "mode: enforce\n")
	linked, link := filepath.Join(t.TempDir(), "hard"), filepath.Join(t.TempDir(), "soft")
	if err := cmp.Or(os.Link(log, linked), os.Symlink(log, link)); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(log)
	for _, outs := range [][]string{
		{"--decisions", log}, {"--html", linked}, {"--html", link}, {"--decisions", dir + "/../" + filepath.Base(dir) + "/day.jsonl"},
		{"--decisions", settings}, {"--html", settings, "--against", log}, {"--decisions", "-"},
		{"--html", dir + "/new", "--decisions", dir + "/./new"},
	} {
		code, _, errs := once(t, nil, append([]string{"replay", log, "--config", settings}, outs...)...)
		if code != exitUsage || !strings.Contains(errs, "name one file") && !strings.Contains(errs, "needs the name of a file") {
			t.Errorf("%v: status %d, %s", outs, code, errs)
		}
	}
	if text, err := os.ReadFile(log); err != nil || string(text) != guessed() {
		t.Errorf("the log is written over: %v", err)
	}
	if code, _, errs := once(t, nil, "replay", log, "--config", settings, "--decisions", "/dev/null", "--html", "/dev/null"); code != 0 {
		t.Errorf("nothing can be written into a device: status %d, %s", code, errs)
	}
}

func TestProgressBar(t *testing.T) {
	for _, test := range []struct {
		read, size int64
		width      int
		want       string
	}{
		{0, 2_000_000, 40, "[" + strings.Repeat(" ", 22) + "]   0 % of 2.0 MB"},
		{1_000_000, 2_000_000, 79, "[" + strings.Repeat("=", 25) + strings.Repeat(" ", 25) + "]  50 % of 2.0 MB"},
		{1_500_000, 0, 30, "replay 1.5 MB"},
		{1, 1, 10, "replay 100"},
	} {
		got := progressBar(test.read, test.size, test.width)
		if len(got) != test.width || strings.TrimSpace(got) != test.want {
			t.Errorf("%d of %d in %d columns: %q, want %q", test.read, test.size, test.width, got, test.want)
		}
	}
}
