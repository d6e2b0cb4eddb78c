package efficacy

import (
	"context"
	"fmt"
	"time"

	"loginguard/cmd/loginguard/config"
	"loginguard/cmd/loginguard/replay"
	"loginguard/guard"
	"loginguard/keys"
)

// secret hashes the accounts of a run: always the same, so that a run can be
// repeated to the last bit.
const secret = "bG9naW5ndWFyZCBlZmZpY2FjeSBvZiBsaW1pdHMhISE="

// mostKeys bounds the engine's store: far more than any trace needs.
const mostKeys = 4_000_000

// engine is loginguard itself, on the path of its replay command.
type engine struct {
	*replay.Engine
	tags bool
}

// newEngine returns the engine with the default configuration, changed where
// change is not nil.
func newEngine(v Variant, canChallenge bool, change func(*config.Config)) (*engine, error) {
	ring, err := keys.ParseRing(secret)
	if err != nil {
		return nil, fmt.Errorf("parse the secret: %w", err)
	}
	c := config.Default()
	if change != nil {
		change(c)
	}
	rules, err := c.Rules(ring, time.UnixMicro(monday))
	if err != nil {
		return nil, fmt.Errorf("build the rules: %w", err)
	}
	o := replay.EngineOptions{MaxKeys: mostKeys, CanChallenge: canChallenge}
	return &engine{replay.NewEngine(rules, ring, o), v.Tags}, nil
}

// Try implements [Policy].
func (e *engine) Try(a *Attempt) (Answer, error) {
	d, err := e.decide(a)
	return answerOf(d), err
}

// decide takes one step of the engine.
func (e *engine) decide(a *Attempt) (replay.Decision, error) {
	ev := replay.Event{Time: a.At, Account: a.Account, IP: a.From.IP, Outcome: guard.Failure, Device: a.Device}
	switch {
	case a.Right:
		ev.Outcome = guard.Success
	case a.Unknown:
		ev.Reason = guard.UnknownAccount
	default:
		ev.Reason = guard.BadPassword
	}
	if e.tags {
		ev.PasswordTag = a.Password
	}
	d, err := e.Step(context.Background(), ev)
	if err != nil {
		return d, fmt.Errorf("decide an attempt: %w", err)
	}
	return d, nil
}

func answerOf(d replay.Decision) Answer {
	return Answer{
		Allowed:    d.Verdict == guard.Allow,
		Challenged: d.Verdict == guard.Challenge,
		Wait:       time.Duration(d.RetryAfter) * time.Second,
	}
}

// challenging changes the limits that strangers share so that a challenge is
// asked for in place of a denial.
func challenging(c *config.Config) {
	c.Limits.Global.OnExhausted = "challenge"
	c.Limits.Account.OnExhausted = "challenge"
}

// sparing is a proposal, not a feature: an engine that lets an attempt pass
// although the budget of all strangers is used up, if nobody failed from its
// network or at its account within the last hour. It is a model on top of the
// engine, which learns nothing of the attempts it lets pass.
type sparing struct {
	*engine
	failed map[string]int64 // network or account to its last failure
}

// Try implements [Policy].
func (s *sparing) Try(a *Attempt) (Answer, error) {
	d, err := s.decide(a)
	if err != nil {
		return Answer{}, err
	}
	answer := answerOf(d)
	if !answer.Allowed && d.Busy && s.clean(a.From.Block, a.At) && s.clean(a.Account, a.At) {
		answer = Answer{Allowed: true}
	}
	if answer.Allowed && !a.Right {
		s.failed[a.From.Block], s.failed[a.Account] = a.At, a.At
	}
	return answer, nil
}

func (s *sparing) clean(key string, now int64) bool {
	last, ok := s.failed[key]
	return !ok || now-last >= hour
}
