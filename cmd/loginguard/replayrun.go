package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"loginguard/cmd/loginguard/config"
	"loginguard/cmd/loginguard/replay"
	"loginguard/keys"
)

// replay runs a log through the configurations and writes what came of it.
// Files appear only when all went well.
func (p *program) replay(ctx context.Context, r *replaying) (err error) {
	first, ring, err := p.replayPolicy(p.configFile)
	if err != nil {
		return err
	}
	run := replay.RunOptions{Engine: r.engine, Policy: first}
	if r.against != "" {
		second, _, err := p.replayPolicy(r.against)
		if err != nil {
			return fmt.Errorf("--against: %w", err)
		}
		run.Against = &second
	}
	run.Show = shower(r.showAccounts, ring, run.Policy.Ring)
	log, err := replay.Open(r.log, r.options)
	if err != nil {
		return err
	}
	defer log.Close() // it was only read

	var files outputs
	defer func() { err = errors.Join(err, files.discard()) }()
	if r.decisions != "" {
		if run.Decisions, err = files.create(r.decisions); err != nil {
			return err
		}
	}
	var page io.Writer
	if r.html != "" {
		if page, err = files.create(r.html); err != nil {
			return err
		}
	}
	done := p.showProgress(log, r.noProgress)
	report, err := replay.Run(ctx, log, run)
	done()
	if err != nil {
		return hint(err)
	}
	report.NamesHashed = !r.showAccounts
	if page != nil {
		if err := report.HTML(page); err != nil {
			return err
		}
	}
	if err := files.keep(); err != nil {
		return err
	}
	if err := p.printReplay(r, report, ring == nil); err != nil {
		return err
	}
	if r.check && hurts(report) {
		return exitFound
	}
	return nil
}

// printReplay prints the report, and warnings to standard error.
func (p *program) printReplay(r *replaying, report *replay.Report, noSecret bool) error {
	switch {
	case report.Events == 0 && r.options.Format == replay.FormatSSHD:
		p.warn([]string{fmt.Sprintf("no line of %s is about an attempt", report.Log)})
	case report.Events == 0:
		p.warn([]string{report.Log + " has no attempts"})
	}
	if report.Skipped > 0 {
		p.warn([]string{plural(int(report.Skipped), "unusable line") + " passed over"})
	}
	if noSecret && !r.showAccounts && len(report.Policies[0].Accounts) > 0 {
		p.warn([]string{"no identity secret is set: the hashes of accounts mean something in this report only (--show-accounts shows names)"})
	}
	if r.json {
		return writeJSON(p.stdout, report)
	}
	return report.Print(p.stdout)
}

// replaySettings are the keys that play no part in a replay. A log is often
// looked at on another machine than the service's, with the same file: there is
// no Redis, no secret and no certificate there.
var replaySettings = []string{
	"server.api.tls.cert", "server.api.tls.key", "server.api.tls.client_ca", "server.front.tls.cert", "server.front.tls.key", "store.ca_file",
}

// replayPolicy reads a configuration for a replay. The ring is that of its
// secret, nil when it has none: accounts are then hashed under a fixed secret,
// so that a second run decides the same.
func (p *program) replayPolicy(file string) (replay.Policy, *keys.Ring, error) {
	memory := config.Setting{Name: "replay", Path: "store.url", Text: "memory:"}
	settings := []config.Setting{memory}
	for _, path := range replaySettings {
		settings = append(settings, config.Setting{Name: "replay", Path: path})
	}
	c, warnings, err := config.Load(file, p.environ, settings)
	if err != nil {
		// Callers known by certificate alone need their authority.
		var second error
		if c, warnings, second = config.Load(file, p.environ, []config.Setting{memory}); second != nil {
			p.warn(warnings)
			return replay.Policy{}, nil, mistakes(err)
		}
	}
	p.warn(warnings)
	ring, random := c.Ring()
	use := ring
	if random {
		ring = nil
		if use, err = keys.ParseRing(fixedSecret); err != nil {
			return replay.Policy{}, nil, fmt.Errorf("make the secret of the replay: %w", err)
		}
	}
	rules, err := c.Rules(use, time.Now())
	if err != nil {
		return replay.Policy{}, nil, err
	}
	if file == "" {
		file = config.DefaultFile
	}
	return replay.Policy{Name: file, Rules: rules, Ring: use}, ring, nil
}

// fixedSecret is no secret, and protects nothing: no hash made with it is shown.
const fixedSecret = "bG9naW5ndWFyZCByZXBsYXkgd2l0aG91dCBhIHNlY3JldA=="

// shower returns how accounts are shown: by name, by the hash under the secret
// of the configuration or, when that has none, under a random one. A hash under
// the fixed secret would be a name to whoever tries some.
func shower(names bool, ring, used *keys.Ring) func(account, hash string) string {
	switch {
	case names:
		return func(account, _ string) string { return account }
	case ring == used:
		return nil
	}
	hidden := keys.RandomRing()
	return func(_, hash string) string { return hidden.Fingerprint("replay", hash) }
}

// hint tells what to do about a failure.
func hint(err error) error {
	var line *replay.LineError
	switch {
	case errors.Is(err, replay.ErrFull):
		return fmt.Errorf("%w\nThe log has more accounts and networks at a time than counters are kept: raise --max-keys", err)
	case errors.As(err, &line):
		return fmt.Errorf("%w\n--skip-bad passes over such lines and counts them", err)
	}
	return err
}

// hurts reports whether people are denied: by the only policy, or by the first
// and not by the other.
func hurts(r *replay.Report) bool {
	if r.Changes != nil {
		return r.Changes.OnlyFirst.Successes > 0
	}
	return r.Policies[0].DeniedSuccesses > 0
}
