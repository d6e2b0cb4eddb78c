package main

import (
	"context"
	"fmt"

	"github.com/rs/zerolog"

	"loginguard/cmd/loginguard/config"
	"loginguard/handlers"
	"loginguard/handlers/webhook"
)

// newEvents returns who is told of events: the log and, where one is
// configured, a webhook, whose sender the service closes. sender is nil for
// none.
func newEvents(c config.Webhook, m *handlers.Metrics, version string, log zerolog.Logger) (e *handlers.Events, sender *webhook.Sender, err error) {
	if c.URL == "" {
		return handlers.NewEvents(log, nil), nil, nil
	}
	sender, err = webhook.New(webhook.Options{
		URL: c.URL, Secret: c.Secret, UserAgent: "loginguard/" + version,
		Result: func(result string, err error) {
			m.Delivery(result)
			switch result {
			case webhook.Failed:
				log.Warn().Err(err).Msg("an event was not delivered to the webhook and is given up")
			case webhook.Retried:
				log.Debug().Err(err).Msg("an event was not delivered to the webhook yet")
			}
		},
	})
	if err != nil {
		return nil, nil, fmt.Errorf("events: %w", err)
	}
	return handlers.NewEvents(log, &handlers.Hook{Send: sender.Send, Kinds: c.Kinds}), sender, nil
}

// closeHook delivers what is left until ctx ends.
func (s *service) closeHook(ctx context.Context) {
	if s.hook == nil {
		return
	}
	if err := s.hook.Close(ctx); err != nil {
		s.log.Warn().Err(err).Msg("the grace is over")
	}
}
