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
	var asJSON bool
	add := &cobra.Command{
		Use:   "add --name NAME",
		Short: "Make a key for a client of the API",
		Long: "Makes a random key and prints it, this once, with the line for the configuration.\n" +
			"The line holds only a hash of the key. Nothing is written anywhere.\n\n" +
			"Exit status: 0 made, 1 not made, 2 the command is wrong.",
		Example: "  loginguard callers add --name idp --realm default --realm shop\n" +
			"  loginguard callers add --name ops --role admin --json",
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return p.addCaller(name, realms, role, asJSON) },
	}
	add.Flags().StringVar(&name, "name", "", "`name` of the caller, in logs and metrics (required)")
	add.Flags().StringSliceVar(&realms, "realm", nil, "`realm` it may use, may be repeated (default \"default\")")
	add.Flags().StringVar(&role, "role", "", "check, or admin, which may also forget and explain (default \"check\")")
	jsonFlag(add, &asJSON)
	return group("callers", "Manage who may use the API", add)
}

func (p *program) addCaller(name string, realms []string, role string, asJSON bool) error {
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
	if asJSON {
		return writeJSON(p.stdout, struct {
			Name string `json:"name"`
			Key  string `json:"key"`
			Line string `json:"line"` // for the list "callers" of the configuration
		}{c.Name, key, line})
	}
	_, err = fmt.Fprintf(p.stdout, `The key of %s. It is shown only now: give it to the caller, as
Authorization: Bearer, as the password of Basic, or as X-API-Key.

  %s

The line for the configuration, in the list "callers":

  %s
`, c.Name, key, line)
	return err
}
