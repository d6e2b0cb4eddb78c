package replay

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"loginguard/guard"
	"loginguard/keys"
	"loginguard/policy"
)

// Policy is one set of rules to run a log through.
type Policy struct {
	Name  string // of its configuration, for the report
	Rules guard.Rules
	Ring  *keys.Ring
}

// RunOptions says what [Run] does.
type RunOptions struct {
	Engine EngineOptions

	Policy  Policy
	Against *Policy // to compare with, nil for none

	// Decisions gets one line of JSON for each event, of the first policy; nil
	// for nobody.
	Decisions io.Writer

	// Show names an account in the report by the account as it was typed and
	// its keyed hash; the hash when nil.
	Show func(account, hash string) string
}

// side is one policy at work.
type side struct {
	engine *Engine
	tally  *tally
}

func (o *RunOptions) side(p Policy) side {
	show := func(ev Event, hash string) string {
		if o.Show == nil {
			return hash
		}
		return o.Show(ev.Account, hash)
	}
	return side{NewEngine(p.Rules, p.Ring, o.Engine), newTally(p.Name, p.Rules, show)}
}

func (s side) step(ctx context.Context, ev Event) (Decision, error) {
	d, err := s.engine.Step(ctx, ev)
	if err == nil {
		s.tally.add(ev, d, s.engine.clock.Load())
	}
	return d, err
}

// Run reads the log to its end, decides each event under one policy or two and
// reports what they did. It ends early, with an error, at a line that cannot be
// used, unless the reader passes over those, and when ctx ends.
func Run(ctx context.Context, log *Reader, o RunOptions) (*Report, error) {
	first := o.side(o.Policy)
	defer first.engine.Close()
	report := &Report{Log: log.name, NamesHashed: o.Show == nil}
	var second *side
	if o.Against != nil {
		s := o.side(*o.Against)
		defer s.engine.Close()
		second, report.Changes = &s, new(Changes)
	}
	decisions := newDecisionWriter(o.Decisions)
	for {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("%s: stopped at line %d: %w", log.name, log.Lines(), err)
		}
		ev, err := log.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		d, err := o.decide(ctx, first, second, report.Changes, ev)
		if err != nil {
			if err = unusable(log, err); err != nil {
				return nil, err
			}
			continue
		}
		if err := decisions.write(d); err != nil {
			return nil, err
		}
		report.note(ev, d, first.engine.clock.Load())
	}
	report.Policies = []*Outcome{first.tally.result()}
	if second != nil {
		report.Policies = append(report.Policies, second.tally.result())
	}
	report.SteppedBack, report.OtherLines = first.engine.SteppedBack(), log.Others()
	var skip error
	if report.Skipped, skip = log.Skipped(); skip != nil {
		report.FirstSkip = skip.Error()
	}
	return report, decisions.flush()
}

// unusable returns nil for an event that is passed over, else the error to end
// with.
func unusable(log *Reader, err error) error {
	var fault *guard.Error
	if errors.As(err, &fault) && fault.Kind != guard.KindStore {
		return log.Bad(err)
	}
	return &LineError{File: log.name, Line: log.Lines(), Err: err}
}

// decide runs one event through the policies. That both know its realm and
// route is seen to first, so that none counts what the other cannot.
func (o *RunOptions) decide(ctx context.Context, first side, second *side, c *Changes, ev Event) (Decision, error) {
	if err := o.Policy.knows(ev); err != nil {
		return Decision{}, err
	}
	if second == nil {
		return first.step(ctx, ev)
	}
	if err := o.Against.knows(ev); err != nil {
		return Decision{}, err
	}
	d, err := first.step(ctx, ev)
	if err != nil {
		return Decision{}, err
	}
	return d, c.compare(ctx, *second, ev, d)
}

// knows reports what of an event the policy has not.
func (p *Policy) knows(ev Event) error {
	if realm := cmp.Or(ev.Realm, policy.DefaultRealm); !p.Rules.Policy.Realm(realm) {
		return bad("realm", fmt.Sprintf("%s is not in %s: there are default, and those that callers and front name", clip(realm), p.Name))
	}
	if route := cmp.Or(ev.Route, defaultRoute); !known(p.Rules.Policy, route) {
		return bad("route", fmt.Sprintf("%s is not in %s under routes", clip(route), p.Name))
	}
	return nil
}

// defaultRoute is that of an event which names none.
const defaultRoute = "login"

func known(p *policy.Policy, route string) bool {
	_, ok := p.Route(route)
	return ok
}

// note counts one event that was decided.
func (r *Report) note(ev Event, d Decision, now int64) {
	r.Events++
	count(&r.Successes, ev.Outcome == guard.Success)
	count(&r.NoAccount, d.Account == "")
	r.Last = time.UnixMicro(now).UTC()
	if r.First.IsZero() {
		r.First = r.Last
	}
}

// compare runs an event through the other policy, too.
func (c *Changes) compare(ctx context.Context, other side, ev Event, d Decision) error {
	o, err := other.step(ctx, ev)
	if err != nil {
		return fmt.Errorf("under %s: %w", other.tally.out.Config, err)
	}
	right := ev.Outcome == guard.Success
	switch denied, was := d.Verdict == guard.Deny, o.Verdict == guard.Deny; {
	case denied && was:
		c.Both.add(d.Limit, d.Level, right)
	case denied:
		c.OnlyFirst.add(d.Limit, d.Level, right)
	case was:
		c.OnlySecond.add(o.Limit, o.Level, right)
	}
	return nil
}

// decisionWriter writes one line for each decision.
type decisionWriter struct {
	w *bufio.Writer
	n int64
}

func newDecisionWriter(w io.Writer) *decisionWriter {
	if w == nil {
		return &decisionWriter{}
	}
	return &decisionWriter{w: bufio.NewWriterSize(w, 64<<10)}
}

func (w *decisionWriter) write(d Decision) error {
	if w.w == nil {
		return nil
	}
	w.n++
	line := struct {
		N          int64   `json:"n"`
		Decision   string  `json:"decision"`
		Limit      *string `json:"limit"`
		RetryAfter int     `json:"retry_after"`
	}{N: w.n, Decision: string(d.Verdict), RetryAfter: d.RetryAfter}
	if d.Limit != "" {
		line.Limit = &d.Limit
	}
	b, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("write decision %d: %w", w.n, err)
	}
	if _, err := w.w.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("write decision %d: %w", w.n, err)
	}
	return nil
}

func (w *decisionWriter) flush() error {
	if w.w == nil {
		return nil
	}
	if err := w.w.Flush(); err != nil {
		return fmt.Errorf("write the decisions: %w", err)
	}
	return nil
}
