package main

import (
	"github.com/spf13/cobra"
)

// completionCommand prints scripts that make a shell complete command lines. It
// stands in for cobra's own, which ends with another status for a wrong call.
func (p *program) completionCommand() *cobra.Command {
	shell := func(name, load string, script func(root *cobra.Command) error) *cobra.Command {
		return &cobra.Command{
			Use:     name,
			Short:   "Print the script for " + name,
			Long:    "Prints a script that makes " + name + " complete the commands and flags of loginguard.",
			Example: load,
			Args:    noArguments,
			RunE:    func(c *cobra.Command, _ []string) error { return script(c.Root()) },
		}
	}
	c := group("completion", "Print a script that makes a shell complete commands",
		shell("bash", "  source <(loginguard completion bash)\n"+
			"  loginguard completion bash > /etc/bash_completion.d/loginguard    # for every session; needs bash-completion",
			func(root *cobra.Command) error { return root.GenBashCompletionV2(p.stdout, true) }),
		shell("zsh", "  source <(loginguard completion zsh)\n"+
			"  loginguard completion zsh > \"${fpath[1]}/_loginguard\"    # for every session; needs compinit",
			func(root *cobra.Command) error { return root.GenZshCompletion(p.stdout) }),
		shell("fish", "  loginguard completion fish | source\n"+
			"  loginguard completion fish > ~/.config/fish/completions/loginguard.fish    # for every session",
			func(root *cobra.Command) error { return root.GenFishCompletion(p.stdout, true) }),
		shell("powershell", "  loginguard completion powershell | Out-String | Invoke-Expression    # in the profile for every session",
			func(root *cobra.Command) error { return root.GenPowerShellCompletionWithDesc(p.stdout) }),
	)
	c.Long = "Prints a script that makes a shell complete the commands and flags of loginguard. How to load it is in\n" +
		"the help of each shell: loginguard completion bash --help."
	return c
}
