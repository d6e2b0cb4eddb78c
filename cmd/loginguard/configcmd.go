package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (p *program) configCommand() *cobra.Command {
	check := &cobra.Command{
		Use:   "check",
		Short: "Find everything that is wrong in the configuration",
		Args:  noArguments,
		RunE:  func(*cobra.Command, []string) error { return p.checkConfig() },
	}
	show := &cobra.Command{
		Use:   "print",
		Short: "Show the configuration in force, with secrets masked",
		Args:  noArguments,
		RunE:  func(*cobra.Command, []string) error { return p.printConfig() },
	}
	p.settingFlags(check)
	p.settingFlags(show)
	return group("config", "Check or show the configuration", check, show)
}

func (p *program) checkConfig() error {
	_, warnings, err := p.load()
	p.warn(warnings)
	if err != nil {
		return mistakes(err)
	}
	_, err = fmt.Fprintln(p.stdout, "configuration OK")
	return err
}

func (p *program) printConfig() error {
	c, warnings, err := p.load()
	p.warn(warnings)
	if err != nil {
		return mistakes(err)
	}
	return c.Print(p.stdout)
}

func (p *program) warn(warnings []string) {
	for _, w := range warnings {
		fmt.Fprintf(p.stderr, "warning: %s\n", w)
	}
}
