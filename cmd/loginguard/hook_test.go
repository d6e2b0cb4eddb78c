package main

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"loginguard/cmd/loginguard/config"
	"loginguard/handlers"
)

// TestConfigurationKnowsEveryKindOfEvent: the kinds that may be asked for are
// those that there are.
func TestConfigurationKnowsEveryKindOfEvent(t *testing.T) {
	known, there := config.EventKinds(), handlers.EventKinds()
	slices.Sort(known)
	slices.Sort(there)
	if !slices.Equal(known, there) {
		t.Errorf("the configuration knows %v, there are %v", known, there)
	}
}

// TestLostEventsDoNotFloodTheLog: a receiver that is gone refuses every event.
func TestLostEventsDoNotFloodTheLog(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(1e9, 0)
	lost := lostEvents{log: zerolog.New(&out), now: func() time.Time { return now }}
	for range 300 {
		lost.tell(errors.New("answered 410"))
		now = now.Add(10 * time.Millisecond)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 3 || strings.Contains(lines[0], "lines_dropped") || !strings.Contains(lines[2], `"error":"answered 410","lines_dropped":99`) {
		t.Errorf("300 events in 3 s have the lines\n%s", out.String())
	}
}
