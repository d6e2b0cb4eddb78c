package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// leaves calls f for every command that does something.
func leaves(c *cobra.Command, f func(*cobra.Command)) {
	if len(c.Commands()) == 0 || !c.HasParent() {
		f(c)
	}
	for _, sub := range c.Commands() {
		if !sub.Hidden && sub.Name() != "help" {
			leaves(sub, f)
		}
	}
}

// The examples in the help are command lines that are understood: the command
// exists, and so does each flag, with a value of its type.
func TestEveryCommandHasExamplesThatParse(t *testing.T) {
	tree := (&program{}).root()
	leaves(tree, func(c *cobra.Command) {
		if c.Short == "" || c.Example == "" {
			t.Errorf("%s: the help says %q with the examples %q", c.CommandPath(), c.Short, c.Example)
		}
		for _, line := range strings.Split(c.Example, "\n") {
			_, words, ok := strings.Cut(line, "loginguard ")
			if !ok {
				t.Errorf("%s: the example %q does not run loginguard", c.CommandPath(), line)
				continue
			}
			for _, end := range []string{" | ", " > ", " || ", ")", "    #"} {
				words, _, _ = strings.Cut(words, end)
			}
			root := (&program{}).root() // flags keep their values
			found, args, err := root.Find(strings.Fields(words))
			if err == nil {
				err = found.ParseFlags(args)
			}
			if err == nil && !found.HasParent() && c.Name() == "serve" {
				continue // the bare command serves
			}
			if err != nil || found.CommandPath() != c.CommandPath() {
				t.Errorf("%s: the example %q runs %s: %v", c.CommandPath(), line, found.CommandPath(), err)
			}
		}
	})
}

// What prints something prints JSON, too.
func TestEveryCommandThatPrintsDataHasJSON(t *testing.T) {
	without := map[string]bool{"loginguard": true, "loginguard serve": true}
	leaves((&program{}).root(), func(c *cobra.Command) {
		if without[c.CommandPath()] || c.Parent().Name() == "completion" {
			return
		}
		if c.Flags().Lookup("json") == nil {
			t.Errorf("%s has no --json", c.CommandPath())
		}
	})
}

func TestCompletionCompletesCommandsAndFlags(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		code, out, errs := once(t, nil, "completion", shell)
		if code != 0 || !strings.Contains(out, "loginguard") || len(out) < 1000 || errs != "" {
			t.Errorf("%s: %d, %d bytes, %s", shell, code, len(out), errs)
		}
	}
	// What the scripts ask.
	for _, tt := range []struct{ args, want string }{
		{"__complete ex", "explain\t"},
		{"__complete lists ", "import\t"},
		{"__complete explain --acc", "--account\t"},
	} {
		if _, out, _ := once(t, nil, strings.Split(tt.args, " ")...); !strings.Contains(out, tt.want) {
			t.Errorf("%s completes to %q, want %q", tt.args, out, tt.want)
		}
	}
	if code, _, errs := once(t, nil, "completion", "tcsh"); code != exitUsage || !strings.Contains(errs, `unknown command "tcsh"`) {
		t.Errorf("an unknown shell: %d, %s", code, errs)
	}
}
