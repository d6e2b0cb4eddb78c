package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"loginguard/cmd/loginguard/config"
	"loginguard/cmd/loginguard/watch"
	"loginguard/guard"
	"loginguard/handlers"
	"loginguard/handlers/webhook"
	"loginguard/keys"
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

// denialsKept bounds what is remembered of denials to answer a flood without
// the store: some tens of megabytes at most.
const denialsKept = 1 << 16

// serve runs the service until ctx ends or something fails that it cannot do
// without. It returns nil after an orderly end.
func (p *program) serve(ctx context.Context) error {
	// Before anything is read, so that no change is missed.
	hup := hangups()
	defer signal.Ignore(syscall.SIGHUP)
	var troubled troubles
	files := watch.New(watch.Options{Trouble: troubled.add})
	defer files.Close()
	files.Watch([]string{p.file()})

	c, warnings, err := p.load()
	if err != nil {
		p.warn(warnings)
		return mistakes(err)
	}
	defer zerolog.SetGlobalLevel(zerolog.GlobalLevel()) // as it is now
	log, err := newServiceLogger(c.Log, p.stderr)
	if err != nil {
		return fmt.Errorf("setting up the log: %w", err)
	}
	troubled.tell(log)
	for _, w := range warnings {
		log.Warn().Msg(w)
	}
	files.Watch(append(c.Files(), p.file()))
	s, err := newService(ctx, c, log)
	if err != nil {
		return err
	}
	defer s.close()
	files.Confirm()

	l, err := listen(c)
	if err != nil {
		return err
	}
	log.Info().Str("version", s.version).Str("api", l.api.Addr().String()).Str("admin", l.admin.Addr().String()).
		Str("mode", c.Mode).Uint64("config_hash", s.hash).Msg("serving")
	announce(p.stdout, l, c)

	r := newReloader(p, s, l, files, c, warnings)
	reloading, stop := context.WithCancel(ctx)
	var reloader sync.WaitGroup
	reloader.Go(func() { r.run(reloading, hup) })
	reloader.Go(func() { s.handlers.Run(reloading) })
	defer reloader.Wait()
	defer stop()
	return s.run(ctx, l, c)
}

// service is everything that runs, from the store up to the handlers.
type service struct {
	store    *counters
	ring     *keys.Ring
	guard    *guard.Guard
	metrics  *handlers.Metrics
	handlers *handlers.Server
	events   *handlers.Events
	hook     *webhook.Sender // nil where none is configured
	front    *handlers.Front // nil where none is configured
	log      zerolog.Logger
	version  string

	// What a reload may change, as it was last put in force. Whoever reloads
	// owns it.
	running handlers.Running
	hash    uint64 // of the configuration
}

// newService builds a service that listens nowhere yet.
func newService(ctx context.Context, c *config.Config, log zerolog.Logger) (*service, error) {
	ring, random := c.Ring()
	if random {
		log.Info().Msg("no identity secret is set, a random one is used: device tokens end with this process, like all that is kept in memory")
	}
	running, hash, err := build(c, ring, time.Now())
	if err != nil {
		return nil, err
	}
	counters, err := openStore(ctx, c.Store, log)
	if err != nil {
		return nil, err
	}
	info, _ := debug.ReadBuildInfo()
	s := &service{store: counters, ring: ring, log: log, version: version(info)}
	metrics := handlers.NewMetrics(s.version)
	s.metrics = metrics
	events, hook, err := newEvents(c.Events.Webhook, metrics, s.version, log)
	if err != nil {
		return nil, errors.Join(err, counters.Close())
	}
	s.events, s.hook = events, hook
	s.guard = guard.New(counters, ring, running.Rules, guard.Options{
		MaxInFlight: c.Server.MaxInFlight,
		Observer:    metrics,
		OnFailure:   c.Store.OnFailure,
		Denials:     denialsKept,

		StoreChanged: func(up bool) {
			events.StoreChanged(up, c.Store.OnFailure)
			counters.changed(ctx, up, log)
		},
	})
	s.handlers = handlers.New(s.guard, handlers.Config{
		Readiness: c.Server.Readiness,
		Events:    events,
		Log:       log,
		Version:   s.version,
	}, metrics)
	if running.Front != nil {
		if s.front, err = handlers.NewFront(s.handlers, *running.Front); err != nil {
			s.close()
			return nil, err
		}
	}
	if err := s.swap(running, hash); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// close releases what newService took.
func (s *service) close() {
	s.guard.Close()
	atOnce, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	s.closeHook(atOnce)
	if err := s.store.Close(); err != nil {
		s.log.Warn().Err(err).Msg("closing the store")
	}
}
