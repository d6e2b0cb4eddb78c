package guard

import (
	"context"
	"errors"
	"strings"
	"testing"

	"loginguard/policy"
	"loginguard/store"
)

// onFailure sets what happens without the store.
func onFailure(word string) func(*setup) { return func(s *setup) { s.o.OnFailure = word } }

func TestWithoutStoreItIsClosed(t *testing.T) {
	for class, err := range map[string]error{"other": errBroken, "timeout": errSlow, "full": store.ErrFull} {
		for word, change := range map[string]func(*setup){"closed": onFailure(FailClosed), "default": func(*setup) {}} {
			s := new(broken)
			b := newBench(t, breaks(s), change, func(c *setup) { c.o.Jitter = func() float64 { return 0.999 } })
			s.fail(err)
			d := b.check(from("alice", home))
			if d.Verdict != Deny || !d.Busy || d.Reason != ReasonStore || d.Limit != "" || d.Attempt != "" || d.Degraded {
				t.Errorf("%s, %s: decided %+v, want deny, busy, %s", word, class, d, ReasonStore)
			}
			if d.RetryAfter < 1 || d.RetryAfter > 5 {
				t.Errorf("%s, %s: the wait is %d s, want 1 to 5", word, class, d.RetryAfter)
			}
			if b.seen.count("store take "+class) != 1 || b.seen.count("decided default login deny "+ReasonStore) != 1 {
				t.Errorf("%s, %s: the observer is told %q", word, class, b.seen.lines)
			}
			s.fail(nil)
			b.allowed(from("alice", home))
		}
	}
}

// silent is a store that denies and does not say which bucket is dry.
type silent struct{ store.Store }

func (silent) Take(context.Context, store.Take) (store.Taken, error) { return store.Taken{}, nil }

func TestDenialWithoutABucketIsNoYes(t *testing.T) {
	b := newBench(t, func(c *setup) { c.store = silent{c.store} })
	d := b.check(from("alice", home))
	if d.Verdict != Deny || !d.Busy || d.Attempt != "" || d.RetryAfter < 1 {
		t.Errorf("decided %+v, want a denial that is nobody's fault", d)
	}
	if e := b.explain(from("alice", home)); e.Decision != Deny {
		t.Errorf("explained as %s, want deny", e.Decision)
	}
}

func TestWithoutStoreEverythingElseSaysSo(t *testing.T) {
	s := new(broken)
	b := newBench(t, breaks(s))
	d := b.allowed(from("alice", home))
	s.fail(errBroken)
	ctx := context.Background()
	calls := map[string]func() error{
		"report": func() error {
			_, err := b.Report(ctx, idp, Report{Attempt: d.Attempt, Outcome: Success})
			return err
		},
		"report by id": func() error {
			_, err := b.Report(ctx, idp, Report{Request: named("login-1"), Outcome: Success})
			return err
		},
		"report of an event": func() error {
			_, err := b.Report(ctx, idp, event(from("alice", home), Failure))
			return err
		},
		"forget": func() error { return b.Forget(ctx, idp, ForgetRequest{Account: "alice"}) },
		"explain": func() error {
			_, err := b.Explain(ctx, idp, from("alice", home))
			return err
		},
	}
	for name, call := range calls {
		err := call()
		wantError(t, err, KindStore, "")
		if !errors.Is(err, errBroken) {
			t.Errorf("%s: the cause is lost for the log", name)
		}
		if err != nil && (err.Error() != ReasonStore || strings.Contains(err.Error(), "lg:{")) {
			t.Errorf("%s: the caller is told %q, want %q and no key", name, err, ReasonStore)
		}
	}
	s.fail(nil)
	if !b.report(Report{Attempt: d.Attempt, Outcome: Success}).Applied {
		t.Error("the report cannot be made once the store is back")
	}
}

func TestOpenRouteAllowsWithoutStore(t *testing.T) {
	s := new(broken)
	// On the system's clock, which a decision without the store is dated by.
	mem := store.NewMemory(store.MemoryOptions{})
	t.Cleanup(func() { _ = mem.Close() })
	b := newBench(t, func(c *setup) { c.store = mem }, breaks(s), limits(func(c *policy.Config) {
		c.Routes["login"] = policy.Route{Cost: 1, OnFailure: FailOpen}
	}))
	s.fail(errSlow)
	var d Decision
	for range 100 {
		if d = b.allowed(from("alice", home)); !d.Degraded || d.Attempt == "" || d.ExpiresIn <= 0 {
			t.Fatalf("decided %+v, want it degraded with an attempt", d)
		}
	}
	if d := b.check(Request{Account: "alice", IP: home, Route: "signup"}); d.Verdict != Deny {
		t.Error("another route is open")
	}
	if _, err := b.Check(context.Background(), idp, from("", home)); err == nil {
		t.Error("a request without an account is allowed")
	}
	b.back(s)
	if out := b.report(Report{Attempt: d.Attempt, Outcome: Success, RememberDevice: true}); !out.Applied || out.Device == "" {
		t.Errorf("the report answers %+v, want it applied with a device", out)
	}
	if d := b.allowed(from("alice", home)); !d.Familiar || d.Degraded {
		t.Errorf("familiar %t and degraded %t, want the success learned", d.Familiar, d.Degraded)
	}
}

func TestLogOnlyDeniesNobodyWithoutStore(t *testing.T) {
	s := new(broken)
	b := newBench(t, breaks(s), onFailure(FailClosed), limits(func(c *policy.Config) { c.Mode = policy.LogOnly }))
	s.fail(errBroken)
	if d := b.allowed(from("alice", home)); !d.Degraded {
		t.Error("the decision is not marked as degraded")
	}
}

func TestClientThatHangsUpIsNoFailureOfTheStore(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	d, err := b.Check(ctx, idp, from("alice", home))
	if err != nil || d.Verdict != Allow {
		t.Errorf("decided %s, %v, want allow", d.Verdict, err)
	}
	if _, err := b.Report(ctx, idp, Report{Attempt: d.Attempt, Outcome: Success}); err != nil {
		t.Errorf("its report: %v", err)
	}
}

func TestDamagedMemoryOfAnAttemptIsAFailureOfTheStore(t *testing.T) {
	for name, mangle := range map[string]func(string, []string) (string, []string){
		"not base64":   func(_ string, m []string) (string, []string) { return "!", m },
		"shortened":    func(n string, m []string) (string, []string) { return n[:len(n)/8*4], m },
		"a mark":       func(n string, _ []string) (string, []string) { return n, []string{"1y2"} },
		"a large mark": func(n string, _ []string) (string, []string) { return n, []string{"300x1"} },
	} {
		t.Run(name, func(t *testing.T) {
			s := new(broken)
			b := newBench(t, breaks(s))
			b.allowed(named("login-1"))
			s.mangle = mangle
			if d := b.check(named("login-1")); d.Verdict != Deny || d.Reason != ReasonStore {
				t.Errorf("decided %s for %q, want deny for %s", d.Verdict, d.Reason, ReasonStore)
			}
			_, err := b.Report(context.Background(), idp, Report{Request: named("login-1"), Outcome: Success})
			wantError(t, err, KindStore, "")
		})
	}
}

func TestZeroOptionsAreReadyForUse(t *testing.T) {
	s := new(broken)
	b := newBench(t, breaks(s), func(c *setup) { c.o = Options{} })
	d := b.allowed(from("alice", home))
	b.report(Report{Attempt: d.Attempt, Outcome: Success})
	s.fail(errSlow)
	if d := b.check(from("alice", home)); d.Verdict != Deny || d.Reason != ReasonStore {
		t.Errorf("without the store it is decided %s for %q, want deny for %s", d.Verdict, d.Reason, ReasonStore)
	}
}
