package guard

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// later is after the lifetime of any attempt that a test begins.
func later() time.Time { return time.Now().Add(10 * time.Minute) }

func TestUnreportedAttemptsNameTheirCaller(t *testing.T) {
	b := newBench(t)
	elsewhereToo := b.other(b.ring)
	mail := Caller{Name: "mail", Realms: idp.Realms}
	b.fail(b.allowed(from("alice", home)))            // reported here
	elsewhereToo.fail(b.allowed(from("alice", home))) // reported to another instance
	if n := len(b.watch.open); n != 1 {
		t.Errorf("%d attempts wait for a report to this instance, want the one reported elsewhere", n)
	}
	for range 3 {
		b.allowed(from("bob", home))
	}
	if _, err := b.Check(context.Background(), mail, from("carol", home)); err != nil {
		t.Fatal(err)
	}
	b.strangers("zoe", 11) // the last is denied: nothing to report

	b.searchOnce(context.Background(), time.Now())
	if got := b.seen.count("unreported idp 3"); got != 0 {
		t.Error("attempts are missed before their lifetime is over")
	}
	b.searchOnce(context.Background(), later())
	b.searchOnce(context.Background(), later())
	for line, want := range map[string]int{"unreported idp 3": 1, "unreported mail 1": 1} {
		if got := b.seen.count(line); got != want {
			t.Errorf("the observer is told %q %d times, want %d", line, got, want)
		}
	}
	if n := len(b.watch.open) + len(b.watch.queue); n != 0 {
		t.Errorf("%d entries are left, want none", n)
	}
}

func TestRepeatedChecksAreOneUnreportedAttempt(t *testing.T) {
	b := newBench(t)
	b.allowed(named("login-1"))
	b.allowed(named("login-1"))
	if n := len(b.watch.queue); n != 1 {
		t.Errorf("%d attempts are watched, want one", n)
	}
	b.searchOnce(context.Background(), later())
	if got := b.seen.count("unreported idp 1"); got != 1 {
		t.Errorf("the observer is told %q, want one attempt", b.seen.lines)
	}
}

func TestExpiredReportCountsAsUnreported(t *testing.T) {
	b := newBench(t)
	d := b.allowed(from("alice", home))
	b.add(2 * time.Minute)
	if _, err := b.Report(context.Background(), idp, Report{Attempt: d.Attempt, Outcome: Success}); err == nil {
		t.Fatal("an expired attempt was reported")
	}
	b.searchOnce(context.Background(), later())
	if got := b.seen.count("unreported idp 1"); got != 1 {
		t.Errorf("the observer is told %q, want one attempt", b.seen.lines)
	}
}

func TestUnknownIsNotCountedAsUnreported(t *testing.T) {
	s := new(broken)
	b := newBench(t, breaks(s))
	b.allowed(from("alice", home))
	s.fail(errSlow)
	b.searchOnce(context.Background(), later())
	if got := b.seen.count("unreported idp 1"); got != 0 {
		t.Error("an attempt is counted although the store did not answer")
	}
	if got := b.seen.count("store search timeout"); got != 1 {
		t.Errorf("the observer is told of %d failures of the search, want 1", got)
	}
}

func TestSearchIsBounded(t *testing.T) {
	w := newWatch()
	for i := range watchMost + 100 {
		w.add(fmt.Sprint(i), "", "idp", time.Minute)
	}
	if len(w.queue) != watchMost || len(w.open) != watchMost {
		t.Errorf("%d and %d attempts are watched, want %d", len(w.queue), len(w.open), watchMost)
	}
	w.remove("0")
	if got := w.due(later()); len(got) != watchBatch || got[0].name != "1" {
		t.Errorf("%d attempts are due, the first named %q, want %d and the second", len(got), got[0].name, watchBatch)
	}
	n := watchBatch
	for list := w.due(later()); len(list) > 0; list = w.due(later()) {
		n += len(list)
	}
	if want := watchMost - 1; n != want {
		t.Errorf("%d attempts were due in all, want %d", n, want)
	}
	w.add("new", "", "idp", time.Minute)
	if got := w.due(later()); len(got) != 1 || got[0].name != "new" {
		t.Errorf("after all were taken %d are due, want the new one", len(got))
	}
}
