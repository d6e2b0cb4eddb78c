package main

import (
	"sync"

	"github.com/rs/zerolog"
)

// troubles keeps what happens before there is a log to tell.
type troubles struct {
	mu   sync.Mutex
	log  *zerolog.Logger
	errs []error
}

// add tells the log, or keeps the error until there is one.
func (t *troubles) add(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.log == nil {
		t.errs = append(t.errs, err)
		return
	}
	t.log.Warn().Err(err).Msg("changed files are found by looking at them every few seconds")
}

// tell gives it the log.
func (t *troubles) tell(log zerolog.Logger) {
	t.mu.Lock()
	t.log = &log
	errs := t.errs
	t.mu.Unlock()
	for _, err := range errs {
		t.add(err)
	}
}
