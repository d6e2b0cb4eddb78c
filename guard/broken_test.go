package guard

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"loginguard/store"
)

// broken is a store that fails or waits when told to, and works otherwise.
type broken struct {
	store.Store
	mu    sync.Mutex
	err   error
	enter chan struct{} // told of every take, when set
	leave chan struct{} // what a take waits for

	mangle func(note string, marks []string) (string, []string) // damages what is remembered, when set
}

// breaks puts a broken store in front of a bench's own.
func breaks(s *broken) func(*setup) {
	return func(c *setup) { s.Store, c.store = c.store, s }
}

// fail makes every call fail with err, nil for none.
func (s *broken) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *broken) state() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *broken) Take(ctx context.Context, t store.Take) (store.Taken, error) {
	if s.enter != nil {
		s.enter <- struct{}{}
		<-s.leave
	}
	if err := s.state(); err != nil {
		return store.Taken{}, err
	}
	out, err := s.Store.Take(ctx, t)
	if s.mangle != nil {
		out.Note, out.Marks = s.mangle(out.Note, out.Marks)
	}
	return out, err
}

func (s *broken) Settle(ctx context.Context, t store.Settle) (store.Settled, error) {
	if err := s.state(); err != nil {
		return store.Settled{}, err
	}
	return s.Store.Settle(ctx, t)
}

func (s *broken) Lookup(ctx context.Context, key string) (store.Remembered, error) {
	if err := s.state(); err != nil {
		return store.Remembered{}, err
	}
	out, err := s.Store.Lookup(ctx, key)
	if s.mangle != nil {
		out.Note, out.Marks = s.mangle(out.Note, out.Marks)
	}
	return out, err
}

func (s *broken) Forget(ctx context.Context, f store.Forget) error {
	if err := s.state(); err != nil {
		return err
	}
	return s.Store.Forget(ctx, f)
}

func (s *broken) Settled(ctx context.Context, markers []string) ([]bool, error) {
	if err := s.state(); err != nil {
		return nil, err
	}
	return s.Store.Settled(ctx, markers)
}

func (s *broken) Ping(ctx context.Context) error { return s.state() }

var (
	errBroken = errors.New("read key lg:{AAAAAAAAAAAAAAAAAAAAAA}: broken")
	errSlow   = fmt.Errorf("take: %w", context.DeadlineExceeded)
)
