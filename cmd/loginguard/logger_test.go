package main

import (
	"bytes"
	"encoding/json"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"loginguard/cmd/loginguard/config"
)

var discard = zerolog.Nop()

func TestLogFollowsTheConfiguration(t *testing.T) {
	var b bytes.Buffer
	l, err := newLogger(config.Log{Level: "warn", Format: config.FormatJSON}, &b)
	if err != nil {
		t.Fatal(err)
	}
	l.Info().Msg("not shown")
	l.Warn().Str("a", "b\nc").Msg("shown")
	var line map[string]string
	if err := json.Unmarshal(b.Bytes(), &line); err != nil || line["message"] != "shown" || line["a"] != "b\nc" || line["level"] != "warn" || line["time"] == "" {
		t.Errorf("%v: %s", err, b.String())
	}

	b.Reset()
	l.Warn().Msg("\u202e\u0085x")
	if got := b.String(); !strings.Contains(got, `"\u202e\u0085x"`) {
		t.Errorf("JSON: %q, want what turns the line around escaped", got)
	}

	b.Reset()
	if l, err = newLogger(config.Log{Level: "debug", Format: config.FormatText}, &b); err != nil {
		t.Fatal(err)
	}
	httpLog(l).Print("http: TLS handshake error\x1b[31m from a\nstranger")
	if got := b.String(); strings.Count(got, "\n") != 1 || strings.Contains(got, "\x1b") || !strings.Contains(got, "DBG") {
		t.Errorf("text for a file: %q", got)
	}
	if _, err := newLogger(config.Log{Level: "loud"}, &b); err == nil {
		t.Error("an unknown level is accepted")
	}
}

func TestVersion(t *testing.T) {
	commit := debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}}}
	for _, tt := range []struct {
		info *debug.BuildInfo
		want string
	}{{nil, "(unknown)"}, {&debug.BuildInfo{}, "(devel)"}, {&commit, "0123456789ab"}, {&debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, "v1.2.3"}} {
		if got := version(tt.info); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}
