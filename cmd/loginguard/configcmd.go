package main

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

func (p *program) configCommand() *cobra.Command {
	var asJSON bool
	check := &cobra.Command{
		Use:   "check",
		Short: "Find everything that is wrong in the configuration",
		Long: "Reads the configuration as the service would, list files included, and shows all mistakes at once, each\n" +
			"with its place. Nothing is started, and no store is asked.\n\n" +
			"With --json the mistakes are a list of source, path, line and message.\n\n" +
			"Exit status: 0 it is right, 1 it is refused, 2 the command is wrong.",
		Example: "  loginguard config check\n" +
			"  loginguard config check --config /etc/loginguard/config.yaml --json | jq -r '.mistakes[].path'",
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return p.checkConfig(asJSON) },
	}
	show := &cobra.Command{
		Use:   "print",
		Short: "Show the configuration in force, with secrets masked",
		Long: "Shows every key with the value that is in force: of a flag, a LOGINGUARD_ variable, the file, or its\n" +
			"default. Secrets are masked. What is printed is itself a configuration.\n\n" +
			"Exit status: 0 shown, 1 the configuration is refused, 2 the command is wrong.",
		Example: "  loginguard config print --config /etc/loginguard/config.yaml\n" +
			"  LOGINGUARD_MODE=log_only loginguard config print --json | jq .limits.account",
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return p.printConfig(asJSON) },
	}
	for _, c := range []*cobra.Command{check, show} {
		p.settingFlags(c)
		jsonFlag(c, &asJSON)
	}
	return group("config", "Check or show the configuration", check, show)
}

func (p *program) checkConfig(asJSON bool) error {
	_, warnings, err := p.load()
	if asJSON {
		if err != nil {
			return p.refuseJSON(warnings, err)
		}
		return writeJSON(p.stdout, verdictOf(warnings, nil))
	}
	p.warn(warnings)
	if err != nil {
		return mistakes(err)
	}
	_, err = fmt.Fprintln(p.stdout, "configuration OK")
	return err
}

func (p *program) printConfig(asJSON bool) error {
	c, err := p.loadToShow(asJSON)
	if err != nil {
		return err
	}
	if !asJSON {
		return c.Print(p.stdout)
	}
	// From the YAML, so that both show the same, masks included.
	var text bytes.Buffer
	if err := c.Print(&text); err != nil {
		return err
	}
	var all map[string]any
	if err := yaml.Unmarshal(text.Bytes(), &all); err != nil {
		return fmt.Errorf("printing the configuration: %w", err)
	}
	return writeJSON(p.stdout, all)
}

func (p *program) warn(warnings []string) {
	for _, w := range warnings {
		fmt.Fprintf(p.stderr, "warning: %s\n", w)
	}
}
