package main

import "testing"

// TestHelpIsNoError: -help is answered and done, a mistake is neither.
func TestHelpIsNoError(t *testing.T) {
	for _, help := range []string{"-h", "-help", "--help"} {
		if err := run([]string{"-loginguard", "x", help}); err != nil {
			t.Errorf("%s: %v", help, err)
		}
	}
	if err := run([]string{"-loginguard", "x", "-nothing"}); err == nil {
		t.Error("an unknown flag is no error")
	}
}
