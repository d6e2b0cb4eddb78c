package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/spf13/cobra"
)

// question is the attempt to be explained: the members of a check.
type question struct {
	Account      string `json:"account,omitempty"`
	IP           string `json:"ip"`
	Realm        string `json:"realm,omitempty"`
	Route        string `json:"route,omitempty"`
	Device       string `json:"device,omitempty"`
	CanChallenge bool   `json:"can_challenge,omitempty"`
}

func (p *program) explainCommand() *cobra.Command {
	var service remote
	var q question
	var asJSON bool
	c := &cobra.Command{
		Use:   "explain --account ACCOUNT --ip ADDRESS",
		Short: "Say how an attempt would be decided now, and why",
		Long: "Asks a running service how an attempt at this account from this address would be decided now, and\n" +
			"shows every limit that it would be charged on. Nothing is charged, and nothing changes.\n\n" +
			"It needs the key of a caller with the role admin or, on the machine of the service, its admin\n" +
			"listener, which needs none.\n\n" +
			"Exit status: 0 the attempt would be allowed, 3 it would be denied or asked for a challenge, 1 the\n" +
			"question was not answered, 2 the command is wrong.",
		Example: "  loginguard explain --account alice@example.com --ip 203.0.113.7\n" +
			"  loginguard explain --url http://127.0.0.1:8081 --account alice --ip 2001:db8::7 --json\n" +
			"  loginguard explain --url https://guard.example.com --key-file admin.key --realm shop --account alice --ip 203.0.113.7",
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case q.IP == "":
				return usageError{errors.New("explain needs --ip, the address that the attempt comes from")}
			case q.Account == "" && q.Route == "":
				return usageError{errors.New("explain needs --account, the name as it is typed at the login")}
			}
			return p.explain(c.Context(), &service, q, asJSON)
		},
	}
	c.Flags().StringVar(&q.Account, "account", "", "`name` as it is typed at the login; needed unless the route has none")
	c.Flags().StringVar(&q.IP, "ip", "", "`address` of the client (required)")
	c.Flags().StringVar(&q.Device, "device", "", "device `token` that the client shows")
	c.Flags().StringVar(&q.Route, "route", "", "`route` of the attempt (default \"login\")")
	c.Flags().StringVar(&q.Realm, "realm", "", "`realm` of the account (default \"default\")")
	c.Flags().BoolVar(&q.CanChallenge, "can-challenge", false, "the login can run a challenge, such as a CAPTCHA")
	service.flags(c, defaultURL)
	jsonFlag(c, &asJSON)
	return c
}

// explain asks, prints, and ends with the status that says how it would go.
func (p *program) explain(ctx context.Context, service *remote, q question, asJSON bool) error {
	answer, err := service.ask(ctx, p.stderr, http.MethodPost, "/v1/explain", q)
	if err != nil {
		return err
	}
	var x explanation
	if err := json.Unmarshal(answer, &x); err != nil || x.Decision == "" {
		return service.strange()
	}
	if asJSON {
		err = p.passOn(answer)
	} else {
		err = x.write(p.stdout, q)
	}
	if err == nil && x.Decision != "allow" {
		return exitFound
	}
	return err
}
