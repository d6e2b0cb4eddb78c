package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"loginguard/cmd/loginguard/config"
)

func (p *program) callersCommand() *cobra.Command {
	var name, role string
	var realms []string
	add := &cobra.Command{
		Use:   "add --name NAME",
		Short: "Make a key for a client of the API",
		Long: "Makes a random key and prints it, this once, with the line for the configuration.\n" +
			"The line holds only a hash of the key. Nothing is written anywhere.",
		Example: "  loginguard callers add --name idp --realm default --realm shop",
		Args:    noArguments,
		RunE:    func(*cobra.Command, []string) error { return p.addCaller(name, realms, role) },
	}
	add.Flags().StringVar(&name, "name", "", "`name` of the caller, in logs and metrics (required)")
	add.Flags().StringSliceVar(&realms, "realm", nil, "`realm` it may use, may be repeated (default \"default\")")
	add.Flags().StringVar(&role, "role", "", "check, or admin, which may also forget and explain (default \"check\")")
	return group("callers", "Manage who may use the API", add)
}

func (p *program) addCaller(name string, realms []string, role string) error {
	if name == "" {
		return usageError{errors.New("callers add needs --name")}
	}
	c, key, err := config.NewCaller(name, realms, role)
	if err != nil {
		return usageError{err}
	}
	line, err := c.Line()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, `The key of %s. It is shown only now: give it to the caller, as
Authorization: Bearer, as the password of Basic, or as X-API-Key.

  %s

The line for the configuration, in the list "callers":

  %s
`, c.Name, key, line)
	return err
}
