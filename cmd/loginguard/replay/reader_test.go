package replay

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loginguard/guard"
)

// one reads the first event of a log of JSON lines.
func one(t *testing.T, log string) (Event, error) {
	t.Helper()
	r, err := NewReader(strings.NewReader(log), "day.jsonl", LogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Next()
}

func TestJSONLines(t *testing.T) {
	at := int64(1_796_032_800_000_000)
	for line, want := range map[string]Event{
		`{"time":"2026-11-30T10:00:00Z","account":"a","ip":"192.0.2.1","outcome":"success"}`: {Time: at, Account: "a", IP: "192.0.2.1", Outcome: "success"},
		`{"time":"2026-11-30T12:00:00.25+02:00","ip":"::1","outcome":"success"}`:             {Time: at + 250_000, IP: "::1", Outcome: "success"},
		`{"time":1796032800,"ip":"::1","outcome":"success"}`:                                 {Time: at, IP: "::1", Outcome: "success"},
		`{"time":1796032800.000001,"ip":"::1","outcome":"success"}`:                          {Time: at + 1, IP: "::1", Outcome: "success"},
		`{"time":1.7960328e9,"ip":"::1","outcome":"success"}`:                                {Time: at, IP: "::1", Outcome: "success"},
		"\uFEFF" + `{"time":1796032800,"ip":"::1","outcome":"success"}` + "\r":               {Time: at, IP: "::1", Outcome: "success"},
		`{"time":1796032800,"account":" \u00e9","ip":"::1","outcome":"failure","realm":"shop","route":"mfa","device":"d","password_tag":"p","reason":"bad_password"}`: {
			Time: at, Account: " é", IP: "::1", Outcome: "failure", Realm: "shop", Route: "mfa", Device: "d", PasswordTag: "p", Reason: "bad_password"},
	} {
		got, err := one(t, line+"\n")
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", line, err, diff)
		}
	}
}

func TestJSONLinesAreStrict(t *testing.T) {
	with := func(more string) string { return `{"time":1,"ip":"::1","outcome":"failure"` + more + `}` }
	for line, want := range map[string]string{
		`nonsense`: "is not a JSON object",
		`[1]`:      "is not a JSON object",
		`{"time":1,"ip":"::1","outcome":"success"`: "is not a JSON object",
		with(`,}`):                   "is not a JSON object",
		with(``) + `{}`:              "something behind its object",
		with(`,"acount":"a"`):        `has the unknown member "acount"`,
		with(`,"Account":"a"`):       `has the unknown member "Account"`,
		with(`,"ip":"::2"`):          "ip: is there twice",
		with(`,"device":null`):       "device: is not a string",
		with(`,"account":7`):         "account: is not a string",
		with(`,"account":{"a":"b"}`): "account: is not a string",
		with(`,"reason":"x","device":"` + strings.Repeat("d", 1025) + `"`):         "device: is longer than 1024 bytes",
		"{\"time\":1,\"ip\":\"::1\",\"outcome\":\"failure\",\"account\":\"\xff\"}": "is not UTF-8",
		`{"ip":"::1","outcome":"success"}`:                                         "time: is missing",
		`{"time":1,"outcome":"success"}`:                                           "ip: is missing",
		`{"time":1,"ip":"::1"}`:                                                    "outcome: is missing",
		`{"time":1,"ip":"::1","outcome":"cancelled"}`:                              "outcome: is neither success nor failure",
		`{"time":1,"ip":"::1","outcome":"success","reason":"mfa_failed"}`:          "reason: belongs to the outcome failure",
		`{"time":"yesterday","ip":"::1","outcome":"success"}`:                      "time: is neither RFC 3339",
		`{"time":"1796032800","ip":"::1","outcome":"success"}`:                     "time: is neither RFC 3339",
		`{"time":true,"ip":"::1","outcome":"success"}`:                             "time: is neither a string nor a number",
		`{"time":-1,"ip":"::1","outcome":"success"}`:                               "time: is no number of seconds since 1970",
		`{"time":"0001-01-01T00:00:00Z","ip":"::1","outcome":"success"}`:           "time: is not between 1970 and 2200",
		`{"time":1e999,"ip":"::1","outcome":"success"}`:                            "time: is no number of seconds since 1970",
		`{"time":1796032800000,"ip":"::1","outcome":"success"}`:                    "are these milliseconds?",
		`{"account":"` + strings.Repeat("a", longestLine) + `"}`:                   "the line is longer than 65536 bytes",
	} {
		_, err := one(t, "\n\n"+line+"\n")
		var at *LineError
		if !errors.As(err, &at) || at.File != "day.jsonl" || at.Line != 3 || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v, want line 3 of day.jsonl and %q", line, err, want)
		}
	}
}

func TestReaderPassesOverBadLines(t *testing.T) {
	good := `{"time":1,"ip":"::1","outcome":"success"}` + "\n"
	log := good + "nonsense\n" + strings.Repeat("x", 3*longestLine) + "\n" + good + "more"
	r, err := NewReader(strings.NewReader(log), "day.jsonl", LogOptions{SkipBad: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, r); len(got) != 2 {
		t.Errorf("%d events, want 2", len(got))
	}
	n, first := r.Skipped()
	if n != 3 || first == nil || !strings.HasPrefix(first.Error(), "day.jsonl:2: ") {
		t.Errorf("%d lines skipped, the first: %v; want 3, line 2", n, first)
	}
}

func TestReaderUnpacksWhatBeginsLikeGzip(t *testing.T) {
	line := `{"time":1,"ip":"::1","outcome":"success"}` + "\n"
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := io.WriteString(z, line+line); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	whole := packed.Bytes()
	file := filepath.Join(t.TempDir(), "log") // its name says nothing
	if err := os.WriteFile(file, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Open(file, LogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, r); len(got) != 2 {
		t.Errorf("%d events, want 2", len(got))
	}
	if read, size := r.Progress(); read != size || size != int64(len(whole)) {
		t.Errorf("read %d of %d bytes, want all %d", read, size, len(whole))
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}

	cut, err := NewReader(bytes.NewReader(whole[:len(whole)-9]), "log", LogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = cut.Next()
	}
	if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error("a file that is cut off ended like a whole one")
	}
}

func TestReaderOfNothing(t *testing.T) {
	for _, log := range []string{"", "\n", "\n \n"} {
		if _, err := one(t, log); !errors.Is(err, io.EOF) {
			t.Errorf("%q: %v, want EOF", log, err)
		}
	}
	if _, err := NewReader(strings.NewReader(""), "log", LogOptions{Format: "xml"}); err == nil {
		t.Error("there is a format xml")
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none"), LogOptions{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// FuzzJSON: whatever is accepted is an object that the standard library reads
// as the same event.
func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"time":1796032800.5,"account":"a","ip":"::1","outcome":"success","device":"d"}`))
	f.Add([]byte(`{"time":"2026-11-30T10:00:00Z","ip":"::1","outcome":"failure","reason":"other"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		got, n, err := parseJSON(line)
		if err != nil {
			return
		}
		var want struct{ Account, IP, Outcome, Realm, Route, Device, Reason string }
		if err := json.Unmarshal(line, &want); err != nil {
			t.Fatalf("accepted, though it is no JSON: %v", err)
		}
		if n != 1 || got.Outcome != guard.Success && got.Outcome != guard.Failure || got.Time < 0 ||
			got.Account != want.Account || got.IP != want.IP || got.Device != want.Device || got.Realm != want.Realm {
			t.Errorf("read %+v, the standard library %+v", got, want)
		}
	})
}
