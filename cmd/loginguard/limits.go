package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"loginguard/handlers"
)

func (p *program) limitsCommand() *cobra.Command {
	var service remote
	var asJSON bool
	c := &cobra.Command{
		Use:   "limits",
		Short: "Show the limits, to be published",
		Long: "Shows the limits as tables in Markdown, to be published where the people are who are limited: what\n" +
			"each one protects, how large it is, how it refills, what a route costs, and how to ask for more.\n\n" +
			"They are those of the configuration or, with --url, those that a running service has in force.",
		Example: "  loginguard limits > limits.md\n" +
			"  loginguard limits --config /etc/loginguard/config.yaml --json\n" +
			"  loginguard limits --url https://guard.example.com --key-file /etc/loginguard/idp.key",
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if service.url != "" {
				if name := p.givenSetting(c); name != "" {
					return usageError{fmt.Errorf("%s is for the configuration, and --url asks a running service", name)}
				}
				return p.remoteLimits(c.Context(), &service, asJSON)
			}
			if service.given(c) {
				return usageError{errors.New("--key-file, --ca-file and --timeout are for a running service: --url says which")}
			}
			return p.localLimits(asJSON)
		},
	}
	p.settingFlags(c)
	service.flags(c, "")
	jsonFlag(c, &asJSON)
	return c
}

// localLimits shows the limits of the configuration.
func (p *program) localLimits(asJSON bool) error {
	c, err := p.loadToShow(asJSON)
	if err != nil {
		return err
	}
	ring, _ := c.Ring()
	rules, err := c.Rules(ring, time.Now())
	if err != nil {
		return err
	}
	limits := handlers.Publish(rules.Policy)
	if asJSON {
		return writeJSON(p.stdout, limits)
	}
	return writeLimits(p.stdout, limits, len(c.Overrides)-expired(c.Overrides, time.Now()))
}

// remoteLimits shows the limits of a running service.
func (p *program) remoteLimits(ctx context.Context, service *remote, asJSON bool) error {
	answer, err := service.ask(ctx, p.stderr, http.MethodGet, "/v1/limits", nil)
	if err != nil {
		return err
	}
	if asJSON {
		return p.passOn(answer)
	}
	var limits handlers.PublishedLimits
	if err := json.Unmarshal(answer, &limits); err != nil || len(limits.Limits) == 0 {
		return service.strange()
	}
	return writeLimits(p.stdout, limits, 0)
}

// givenSetting returns a flag of [program.settingFlags] that was used, "" for
// none.
func (p *program) givenSetting(c *cobra.Command) string {
	if c.Flags().Changed("config") {
		return "--config"
	}
	for _, f := range p.flags {
		if f.given {
			return f.name
		}
	}
	return ""
}
