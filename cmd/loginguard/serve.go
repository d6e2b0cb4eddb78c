package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"loginguard/cmd/loginguard/config"
	"loginguard/guard"
	"loginguard/handlers"
)

func (p *program) serveCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "Answer checks and reports (the default)",
		Args:  noArguments,
		RunE:  func(c *cobra.Command, _ []string) error { return p.serve(c.Context()) },
	}
	p.settingFlags(c)
	return c
}

// serve runs the service until ctx ends or something fails that it cannot do
// without. It returns nil after an orderly end.
func (p *program) serve(ctx context.Context) error {
	c, warnings, err := p.load()
	if err != nil {
		p.warn(warnings)
		return mistakes(err)
	}
	log, err := newLogger(c.Log, p.stderr)
	if err != nil {
		return fmt.Errorf("setting up the log: %w", err)
	}
	for _, w := range warnings {
		log.Warn().Msg(w)
	}
	s, err := newService(ctx, c, log)
	if err != nil {
		return err
	}
	defer s.close()

	l, err := listen(c)
	if err != nil {
		return err
	}
	log.Info().Str("version", s.version).Str("api", l.api.Addr().String()).Str("admin", l.admin.Addr().String()).
		Str("mode", c.Mode).Msg("serving")
	announce(p.stdout, l, c)
	return s.run(ctx, l, c)
}

// service is everything that runs, from the store up to the handlers.
type service struct {
	store    *counters
	guard    *guard.Guard
	handlers *handlers.Server
	front    *handlers.Front // nil where none is configured
	log      zerolog.Logger
	version  string
}

// newService builds a service that listens nowhere yet.
func newService(ctx context.Context, c *config.Config, log zerolog.Logger) (*service, error) {
	ring, random := c.Ring()
	if random {
		log.Info().Msg("no identity secret is set, a random one is used: device tokens end with this process, like all that is kept in memory")
	}
	rules, err := c.Rules(ring, time.Now())
	if err != nil {
		return nil, err
	}
	counters, err := openStore(ctx, c.Store, log)
	if err != nil {
		return nil, err
	}
	info, _ := debug.ReadBuildInfo()
	s := &service{store: counters, log: log, version: version(info)}
	metrics := handlers.NewMetrics(s.version)
	s.guard = guard.New(counters, ring, rules, guard.Options{
		MaxInFlight: c.Server.MaxInFlight,
		Observer:    metrics,
		OnFailure:   c.Store.OnFailure,

		StoreChanged: func(up bool) { counters.changed(ctx, up, c.Store.OnFailure, log) },
	})
	callers, err := apiCallers(c.Callers)
	if err != nil {
		s.close()
		return nil, err
	}
	s.handlers = handlers.New(s.guard, handlers.Config{
		Callers:   callers,
		Readiness: c.Server.Readiness,
		Loopback:  len(callers) == 0,
		ForwardAuth: handlers.ForwardAuth{
			AccountHeader: c.ForwardAuth.AccountHeader,
			Reports:       c.ForwardAuth.Reports,
		},
		Log:     log,
		Version: s.version,
	}, metrics)
	if c.Server.Front.Listen != "" {
		if s.front, err = handlers.NewFront(s.handlers, frontConfig(c)); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

// close releases what newService took.
func (s *service) close() {
	s.guard.Close()
	if err := s.store.Close(); err != nil {
		s.log.Warn().Err(err).Msg("closing the store")
	}
}
