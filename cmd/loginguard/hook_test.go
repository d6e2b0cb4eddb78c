package main

import (
	"slices"
	"testing"

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
