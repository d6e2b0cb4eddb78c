package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"loginguard/cmd/loginguard/config"
)

// run serves on l until ctx ends, then drains, in the grace of the
// configuration, and returns nil: first probes are told, and clients are asked
// to leave the connections that they keep; then it stops accepting, once all
// who had connected are in, and lets the requests in progress finish. The admin
// listener goes last, so that probes see all of it.
func (s *service) run(ctx context.Context, l *listeners, c *config.Config) error {
	api, admin := newServer(s.handlers.API(), s.log), newServer(s.handlers.Admin(), s.log)
	leave := &farewell{most: farewellMost}
	leave.attach(api)
	failed := make(chan error, 3)
	serve := func(name string, server *http.Server, listener net.Listener) {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			failed <- fmt.Errorf("serving %s: %w", name, err)
		}
	}
	go serve("the API", api, l.api)
	go serve("admin", admin, l.admin)
	var front *http.Server
	if l.front != nil {
		front = newFrontServer(s.front, s.log)
		leave.attach(front)
		go serve("the front", front, l.front)
	}

	var err error
	select {
	case <-ctx.Done():
		s.log.Info().Str("grace", c.Server.ShutdownGrace.String()).Msg("draining")
	case err = <-failed:
	case err = <-s.store.unfit:
	}
	s.handlers.Drain()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.Server.ShutdownGrace)
	defer cancel()
	leave.say(grace)
	// Both at once: the grace is for all together.
	var working sync.WaitGroup
	working.Go(func() { s.shutdown(grace, "the API", api, l.apiSocket) })
	if front != nil {
		working.Go(func() { s.shutdown(grace, "the front", front, l.frontSocket) })
	}
	working.Wait()
	s.closeHook(grace)
	// Probes are short, but a grace that is used up would cut them off.
	last, cancelLast := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancelLast()
	s.shutdown(last, "admin", admin, nil)
	if err == nil {
		s.log.Info().Msg("stopped")
	}
	return err
}

// shutdown ends a server, the hard way when the grace is over. Who has just
// connected to its socket is let in before that is closed, where the system can
// do so; nil for a server whose clients may as well ask again.
func (s *service) shutdown(grace context.Context, name string, server *http.Server, socket net.Listener) {
	if socket != nil {
		if err := lastCall(grace, socket); err != nil {
			s.log.Debug().Err(err).Str("listener", name).Msg("closing with connections in the queue")
		}
	}
	if err := server.Shutdown(grace); err == nil {
		return
	}
	s.log.Warn().Str("listener", name).Msg("requests in progress were cut off, the grace is over")
	if err := server.Close(); err != nil {
		s.log.Warn().Err(err).Str("listener", name).Msg("closing")
	}
}
