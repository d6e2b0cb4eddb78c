package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"loginguard/cmd/loginguard/config"
	"loginguard/cmd/loginguard/watch"
)

const (
	// retryEvery is how often a configuration that was refused is read again
	// without any sign of a change: the mistake may be in a file that is not
	// watched yet, since it was never in force.
	retryEvery = 30 * time.Second

	// clockEvery is how often the clock is looked at for overrides that
	// expire: it may be set, and a machine may sleep.
	clockEvery = time.Minute
)

// Why the configuration is read again, for the log.
const (
	bySignal = "SIGHUP"
	byFile   = "file changed"
	byRetry  = "retry"
)

// hangups receives SIGHUPs; several that nobody has received are one.
func hangups() <-chan os.Signal {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	return hup
}

// reloader keeps a running service to its configuration. One goroutine runs it,
// so that reloads never overlap.
type reloader struct {
	load      func() (*config.Config, []string, error)
	file      string // the configuration
	files     *watch.Watcher
	service   *service
	listeners *listeners
	log       zerolog.Logger
	now       func() time.Time

	config  *config.Config  // in force
	judged  time.Time       // when it was last found out which overrides have expired
	warned  map[string]bool // of what the last configuration was warned of
	refusal string          // the text of the last one, "" when the last reload succeeded
	retry   time.Time       // after a refusal: when to read again
}

// newReloader returns a reloader of a service that runs under c, of which the
// log has these warnings.
func newReloader(p *program, s *service, l *listeners, files *watch.Watcher, c *config.Config, warnings []string) *reloader {
	r := &reloader{
		load: p.load, file: p.file(), files: files, service: s, listeners: l, log: s.log, now: time.Now,
		config: c, judged: time.Now(), warned: make(map[string]bool),
	}
	for _, w := range warnings {
		r.warned[w] = true
	}
	return r
}

// run reloads until ctx ends.
func (r *reloader) run(ctx context.Context, hup <-chan os.Signal) {
	for ctx.Err() == nil {
		clock := time.NewTimer(r.pause())
		select {
		case <-ctx.Done():
		case <-hup:
			r.reload(bySignal)
		case <-r.files.Changed():
			r.reload(byFile)
		case <-clock.C:
			r.expire()
			if r.refusal != "" && !r.now().Before(r.retry) {
				r.reload(byRetry)
			}
		}
		clock.Stop()
	}
}

// pause is how long nothing is due.
func (r *reloader) pause() time.Duration {
	now, wait := r.now(), clockEvery
	if end := r.service.running.Rules.Policy.NextExpiry(); !end.IsZero() {
		wait = min(wait, end.Sub(now))
	}
	if r.refusal != "" {
		wait = min(wait, r.retry.Sub(now))
	}
	return max(wait, time.Second) // not at every turn for what is overdue
}

// reload reads the configuration and puts it in force, all of it or nothing,
// and tells log and metrics.
func (r *reloader) reload(cause string) {
	r.expire()
	r.files.Sync()
	next, warnings, err := r.load()
	var kept, changed, lists []string
	if err == nil {
		kept, changed, lists, err = r.adopt(next)
	}
	r.files.Confirm()
	r.service.metrics.Reloaded(err == nil, r.now())
	if err != nil {
		r.refused(cause, err)
		return
	}
	r.refusal = ""
	r.warn(warnings)
	if len(kept) > 0 {
		r.log.Warn().Strs("keys", kept).Msg("these keys differ and cannot change while the service runs: they have their old values until a restart")
	}
	line := r.log.Info().Str("cause", cause).Strs("changed", changed)
	if len(lists) > 0 {
		line.Strs("lists", lists)
	}
	line.Uint64("config_hash", r.service.hash).Msg("the configuration was reloaded")
}

// errNothing is a file that is missing or empty though there was one. It is
// about to be written, or a mount has gone; it does not mean the defaults.
var errNothing = errors.New("is missing or has no keys, though the configuration in force was read from it: " +
	"to go back to the defaults, restart, or write one key, such as mode: enforce")

// adopt puts a configuration in force. It returns the keys that differ and stay
// as they were, the top-level keys that changed, and the list files that hold
// something else: a change of those is one of networks. On an error nothing has
// changed.
func (r *reloader) adopt(next *config.Config) (kept, changed, lists []string, err error) {
	if r.config.FromFile() && !next.FromFile() {
		return nil, nil, nil, config.Mistakes{{Source: r.file, Msg: errNothing.Error()}}
	}
	next, kept, err = next.Under(r.config)
	if err != nil {
		return nil, nil, nil, err
	}
	// Before they are read, so that no change is missed.
	r.files.Watch(append(next.Files(), r.file))
	now := r.now()
	running, hash, err := build(next, r.service.ring, now)
	if err != nil {
		return nil, nil, nil, err
	}
	renew, err := r.listeners.renewed(next.Server)
	if err != nil {
		return nil, nil, nil, err
	}
	level, err := zerolog.ParseLevel(next.Log.Level)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := r.service.swap(running, hash); err != nil {
		return nil, nil, nil, err
	}
	renew()
	zerolog.SetGlobalLevel(level)
	changed, lists = next.Changed(r.config), next.ChangedLists(r.config)
	if len(lists) > 0 && !slices.Contains(changed, "networks") {
		changed = append(changed, "networks")
	}
	r.config, r.judged = next, now
	return kept, changed, lists, nil
}

// refused tells of a configuration that is not put in force. What was told
// already is not told again only because it is still so.
func (r *reloader) refused(cause string, err error) {
	text := err.Error()
	told := cause == byRetry && text == r.refusal
	r.refusal, r.retry = text, r.now().Add(retryEvery)
	if told {
		return
	}
	r.log.Error().Str("cause", cause).Strs("mistakes", mistakeLines(text)).
		Msg("the new configuration is refused, the old one stays in force")
}

// mostLines is how many mistakes one line of the log lists.
const mostLines = 100

// mistakeLines splits the text of an error, and quotes what would not be one
// line of a log.
func mistakeLines(text string) []string {
	lines := strings.Split(text, "\n")
	if n := len(lines) - mostLines; n > 0 {
		lines = append(lines[:mostLines:mostLines], "and more")
	}
	for i, l := range lines {
		lines[i] = oneLine(l)
	}
	return lines
}

// warn logs the warnings that there were not at the last reload.
func (r *reloader) warn(warnings []string) {
	warned := make(map[string]bool, len(warnings))
	for _, w := range warnings {
		if !r.warned[w] {
			r.log.Warn().Msg(w)
		}
		warned[w] = true
	}
	r.warned = warned
}

// expire ends the overrides whose last day is over. It needs no file: what was
// raised until a day ends with it, whatever has become of the configuration.
func (r *reloader) expire() {
	now, running := r.now(), r.service.running
	if end := running.Rules.Policy.NextExpiry(); end.IsZero() || now.Before(end) {
		return
	}
	rules, expired, err := r.config.Expire(running.Rules, r.service.ring, r.judged, now)
	if err == nil {
		running.Rules = rules
		err = r.service.swap(running, r.service.hash)
	}
	if err != nil {
		r.log.Error().Err(err).Msg("overrides have expired and are still in force")
		return
	}
	r.judged = now
	for _, o := range expired {
		r.service.events.OverrideExpired(o.Limit, o.Level, o.Reason, o.Expires)
	}
}
