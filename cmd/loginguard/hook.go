package main

import (
	"context"
	"fmt"
	"time"

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
	lost := lostEvents{log: log, now: time.Now}
	sender, err = webhook.New(webhook.Options{
		URL: c.URL, Secret: c.Secret, UserAgent: "loginguard/" + version,
		Result: func(result string, err error) {
			m.Delivery(result)
			switch result {
			case webhook.Failed:
				lost.tell(err)
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

// lostEvents logs the events that are given up, one a second: a receiver that
// wants no more refuses each of a flood of events, and a metric counts them.
// The sender tells of one event after another.
type lostEvents struct {
	log     zerolog.Logger
	now     func() time.Time
	next    time.Time // when the next may have a line
	dropped int64     // without one since the last
}

func (l *lostEvents) tell(err error) {
	now := l.now()
	if now.Before(l.next) {
		l.dropped++
		return
	}
	e := l.log.Warn().Err(err)
	if l.dropped > 0 {
		e.Int64("lines_dropped", l.dropped)
	}
	e.Msg("an event was not delivered to the webhook and is given up")
	l.next, l.dropped = now.Add(time.Second), 0
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
