package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"loginguard/cmd/loginguard/config"
	"loginguard/handlers"
	"loginguard/store"
)

// counters is the store of a service, and the news about it that end the
// service.
type counters struct {
	store.Store
	unfit chan error // receives at most one error
}

// openStore opens the store. A Redis that does not answer is no error: the
// service starts without it, denies, and recovers when it comes. One that
// answers and would drop counters, or is too old, is refused, now or when it first answers.
func openStore(ctx context.Context, c config.Store, log zerolog.Logger) (*counters, error) {
	news := make(chan error, 1)
	if c.Memory() {
		return &counters{store.NewMemory(store.MemoryOptions{}), news}, nil
	}
	r, err := store.OpenRedis(store.RedisOptions{URL: c.URL, Timeout: c.Timeout, AllowEviction: c.AllowEviction, CAFile: c.CAFile})
	if err != nil {
		return nil, err
	}
	err = r.Inspect(ctx)
	if unfit(err) {
		return nil, errors.Join(fmt.Errorf("store.url: %w", err), r.Close())
	}
	if err != nil {
		log.Warn().Err(err).Msg("the store cannot be inspected yet, serving without")
		go reinspect(ctx, r, news)
	}
	return &counters{r, news}, nil
}

// changed is told when the store is down or up again. One that is up again may
// be another server than before, so it is inspected; by then the service runs,
// and what is found is an error in the log.
func (c *counters) changed(ctx context.Context, up bool, log zerolog.Logger) {
	r, ok := c.Store.(*store.Redis)
	if !ok || !up {
		return
	}
	go func() {
		if err := r.Inspect(ctx); unfit(err) {
			log.Error().Err(err).Msg("the store is not fit for use")
		}
	}()
}

// unfit reports whether an inspection found a server that cannot be used.
func unfit(err error) bool {
	return errors.Is(err, store.ErrEviction) || errors.Is(err, store.ErrVersion)
}

// reinspect repeats the inspection until it could be made.
func reinspect(ctx context.Context, r *store.Redis, news chan<- error) {
	const first, longest = time.Second, 30 * time.Second
	for wait := first; ; wait = min(2*wait, longest) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		switch err := r.Inspect(ctx); {
		case err == nil:
			return
		case unfit(err):
			news <- fmt.Errorf("store.url: %w", err)
			return
		}
	}
}

// apiCallers turns the callers of the configuration into those of the API.
func apiCallers(configured []config.Caller) ([]handlers.Caller, error) {
	var callers []handlers.Caller
	for _, c := range configured {
		h := handlers.Caller{Name: c.Name, Realms: c.Realms, Admin: c.Role == config.RoleAdmin}
		// Without a digest it stays zero, which no key has: such a caller
		// shows a certificate.
		if _, err := hex.Decode(h.KeySHA256[:], []byte(c.KeySHA256)); err != nil {
			return nil, fmt.Errorf("caller %s: key_sha256: %w", c.Name, err)
		}
		callers = append(callers, h)
	}
	return callers, nil
}
