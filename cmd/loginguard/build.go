package main

import (
	"fmt"
	"time"

	"loginguard/cmd/loginguard/config"
	"loginguard/handlers"
	"loginguard/keys"
)

// build makes everything that a reload may change from a configuration, and its
// hash. It changes nothing: what it returns is for [service.swap].
func build(c *config.Config, ring *keys.Ring, now time.Time) (r handlers.Running, hash uint64, err error) {
	if hash, err = c.Fingerprint(); err != nil {
		return r, 0, err
	}
	if r.Rules, err = c.Rules(ring, now); err != nil {
		return r, 0, err
	}
	if r.Callers, err = apiCallers(c.Callers); err != nil {
		return r, 0, err
	}
	r.Loopback = len(r.Callers) == 0
	r.ForwardAuth = handlers.ForwardAuth{AccountHeader: c.ForwardAuth.AccountHeader, Reports: c.ForwardAuth.Reports}
	if c.Server.Front.Listen != "" {
		front := frontConfig(c)
		r.Front = &front
	}
	return r, hash, nil
}

// swap puts what was built in force, for requests in one step. On an error
// nothing has changed.
func (s *service) swap(r handlers.Running, hash uint64) error {
	if err := s.handlers.Swap(r); err != nil {
		return fmt.Errorf("putting the configuration in force: %w", err)
	}
	s.guard.Swap(r.Rules)
	s.running, s.hash = r, hash
	s.metrics.SetConfigHash(hash)
	return nil
}
