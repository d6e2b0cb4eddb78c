package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// Exit statuses of the program.
const (
	exitFailure = 1
	exitUsage   = 2
)

// program is what a command may use of the world.
type program struct {
	environ        []string // "NAME=value"
	stdout, stderr io.Writer

	configFile string  // of --config, "" for the default
	flags      []*flag // that stand for keys of the configuration
}

// run runs one command line to its end and returns the exit status. A service
// ends, after its drain, when ctx does.
func run(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	p := &program{environ: environ, stdout: stdout, stderr: stderr}
	root := p.root()
	root.SetArgs(append([]string{}, args...)) // nil would mean os.Args
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	var usage usageError
	var status exitStatus
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "loginguard: %v\nRun 'loginguard --help' for usage.\n", err)
		return exitUsage
	default:
		fmt.Fprintf(stderr, "loginguard: %v\n", err)
		return exitFailure
	}
}

// usageError is a command line that cannot be understood.
type usageError struct{ error }

// root returns the command tree. The bare command serves.
func (p *program) root() *cobra.Command {
	serve := p.serveCommand()
	root := &cobra.Command{
		Use:   "loginguard",
		Short: "Protects logins against guessing, without locking their owners out",
		Long: "loginguard decides, before a password is looked at, whether a login attempt may go ahead.\n" +
			"Without a command it serves.\n\n" +
			"Exit status: 0 all went well, 1 something failed, 2 the command is wrong. Some commands end with 3 when\n" +
			"they find what one looks for with them; their help says so.",
		Example: "  loginguard --config /etc/loginguard/config.yaml\n" +
			"  loginguard --store-url redis://127.0.0.1:6379/0 --log-format text",
		Args: noArguments,
		RunE: serve.RunE,

		SilenceErrors: true, // run reports them, with the exit status
		SilenceUsage:  true,
	}
	root.CompletionOptions.DisableDefaultCmd = true // completionCommand stands in for it
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	serve.Example = root.Example
	p.settingFlags(root)
	root.AddCommand(p.limitsCommand(), p.explainCommand(), p.forgetCommand(), p.overridesCommand(), p.listsCommand(), p.replayCommand(), p.completionCommand())
	root.AddCommand(serve, p.configCommand(), p.callersCommand(), p.versionCommand())
	return root
}

// group returns a command that only holds others.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: noArguments, RunE: func(c *cobra.Command, _ []string) error {
		return usageError{fmt.Errorf("%s needs a command, see %s --help", c.CommandPath(), c.CommandPath())}
	}}
	c.AddCommand(commands...)
	return c
}

// noArguments refuses anything that is no flag, and suggests a command that is
// spelled like it.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	c.SuggestionsMinimumDistance = 2
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf(" (did you mean %s?)", near[0])
	}
	return usageError{fmt.Errorf("unknown command %q for %s%s", args[0], c.CommandPath(), hint)}
}
