package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"
)

// erasure says what to forget.
type erasure struct {
	Account string `json:"account,omitempty"`
	Scope   string `json:"scope,omitempty"`
	Network string `json:"network,omitempty"`
	Realm   string `json:"realm,omitempty"`
}

func (p *program) forgetCommand() *cobra.Command {
	var service remote
	var what erasure
	var asJSON bool
	c := &cobra.Command{
		Use:   "forget {--account ACCOUNT | --network NETWORK}",
		Short: "Let an account or a network in now",
		Long: "Tells a running service to forget what stands against an account or a network, so that it may try\n" +
			"again at once.\n\n" +
			"  --account              the waits and charges of the account\n" +
			"  --scope credentials    also its failures, wrong passwords and familiar networks; device tokens from\n" +
			"                         before are void: after a password reset, or a recovered account\n" +
			"  --network              the charges of a block, as explain shows it, or of a pool, by its name\n\n" +
			"It needs the key of a caller with the role admin or, on the machine of the service, its admin\n" +
			"listener, which needs none. It succeeds for an account that was never seen, too.\n\n" +
			"Exit status: 0 done, 1 not done, 2 the command is wrong.",
		Example: "  loginguard forget --account alice@example.com\n" +
			"  loginguard forget --account alice@example.com --scope credentials --realm shop\n" +
			"  loginguard forget --url https://guard.example.com --key-file admin.key --network 203.0.113.0/24",
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := what.check(c); err != nil {
				return usageError{err}
			}
			return p.forget(c.Context(), &service, what, asJSON)
		},
	}
	c.Flags().StringVar(&what.Account, "account", "", "`name` as it is typed at the login")
	c.Flags().StringVar(&what.Scope, "scope", "", "of an account: limits or credentials (default \"limits\")")
	c.Flags().StringVar(&what.Network, "network", "", "`block`, such as 203.0.113.0/24, or the name of a pool")
	c.Flags().StringVar(&what.Realm, "realm", "", "`realm` of the account or of the network's charges (default \"default\")")
	service.flags(c, defaultURL)
	jsonFlag(c, &asJSON)
	return c
}

// check finds what is wrong before anything is asked.
func (e *erasure) check(c *cobra.Command) error {
	switch {
	case (e.Account == "") == (e.Network == ""):
		return errors.New("forget needs one of --account and --network")
	case e.Network != "" && c.Flags().Changed("scope"):
		return errors.New("--scope is for an account")
	case c.Flags().Changed("scope") && e.Scope != "limits" && e.Scope != "credentials":
		return fmt.Errorf("--scope must be limits or credentials, not %q", e.Scope)
	}
	return nil
}

func (p *program) forget(ctx context.Context, service *remote, what erasure, asJSON bool) error {
	answer, err := service.ask(ctx, p.stderr, http.MethodPost, "/v1/forget", what)
	if err != nil {
		return err
	}
	var done struct {
		Applied bool `json:"applied"`
	}
	if err := json.Unmarshal(answer, &done); err != nil || !done.Applied {
		return service.strange()
	}
	if asJSON {
		return p.passOn(answer)
	}
	realm := printable(cmp.Or(what.Realm, "default"))
	switch {
	case what.Network != "":
		_, err = fmt.Fprintf(p.stdout, "the charges of %s in the realm %s are forgotten\n", printable(what.Network), realm)
	case what.Scope == "credentials":
		_, err = fmt.Fprintf(p.stdout, "all that was known of %s in the realm %s is forgotten; its device tokens are void\n", printable(what.Account), realm)
	default:
		_, err = fmt.Fprintf(p.stdout, "the waits and charges of %s in the realm %s are forgotten\n", printable(what.Account), realm)
	}
	return err
}
