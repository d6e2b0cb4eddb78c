package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loginguard/keys"
	"loginguard/policy"
)

// day is a log of which every number is known: alice signs in at home with her
// laptop; thirteen guesses at her come from one network each, a minute apart;
// then she signs in from her laptop, and from a café without it.
//
// With ten guesses a day, the eleventh is denied for 30 seconds, which are over
// when the twelfth comes and is borrowed for; the thirteenth has to wait a
// minute, and the café comes 30 seconds later.
func day() string {
	var log strings.Builder
	at := time.Date(2026, 9, 21, 8, 0, 0, 0, time.UTC)
	add := func(wait time.Duration, account, ip, outcome, device string) {
		at = at.Add(wait)
		fmt.Fprintf(&log, `{"time":%q,"account":%q,"ip":%q,"outcome":%q,"device":%q}`+"\n", at.Format(time.RFC3339), account, ip, outcome, device)
	}
	add(0, "alice", home, "success", "laptop")
	for i := range 13 {
		add(time.Minute, "Alice", elsewhere(i), "failure", "")
	}
	add(0, "alice", elsewhere(500), "success", "laptop")
	add(30*time.Second, "alice", elsewhere(600), "success", "")
	add(0, "", elsewhere(600), "failure", "")
	return log.String()
}

// replayDay runs a log under one policy or two.
func replayDay(t *testing.T, log string, against func(*policy.Config), change ...func(*policy.Config)) (*Report, string) {
	t.Helper()
	r, err := NewReader(strings.NewReader(log), "day.jsonl", LogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ring := keys.RandomRing()
	var decisions bytes.Buffer
	o := RunOptions{
		Policy: Policy{"new.yaml", newRules(t, change...), ring}, Decisions: &decisions,
		Show: func(account, _ string) string { return strings.ToLower(account) },
	}
	if against != nil {
		o.Against = &Policy{"old.yaml", newRules(t, against), ring}
	}
	report, err := Run(context.Background(), r, o)
	if err != nil {
		t.Fatal(err)
	}
	return report, decisions.String()
}

// limitsOf returns the limits of an outcome that did anything.
func limitsOf(o *Outcome) map[string]LimitOutcome {
	all := make(map[string]LimitOutcome)
	for _, l := range o.Limits {
		if l.Events > 0 {
			all[l.Name()] = *l
		}
	}
	return all
}

func TestReportOfAKnownDay(t *testing.T) {
	report, decisions := replayDay(t, day(), nil)
	if report.Events != 17 || report.Successes != 3 || report.NoAccount != 1 || report.Skipped != 0 {
		t.Errorf("%d events, %d successes, %d without an account, %d skipped; want 17, 3, 1, 0",
			report.Events, report.Successes, report.NoAccount, report.Skipped)
	}
	if from, to := moment(report.First), moment(report.Last); from != "2026-09-21 08:00:00 UTC" || to != "2026-09-21 08:13:30 UTC" {
		t.Errorf("from %s to %s", from, to)
	}
	o := report.Policies[0]
	if o.Allowed != 14 || o.Denied != 3 || o.DeniedSuccesses != 1 || o.People != 1 || o.LongestWait != 60 || o.PersonWait != 30 {
		t.Errorf("allowed %d, denied %d, of these right %d, people %d, longest wait %d and %d; want 14, 3, 1, 1, 60, 30",
			o.Allowed, o.Denied, o.DeniedSuccesses, o.People, o.LongestWait, o.PersonWait)
	}
	stranger := func(limit, level string) LimitOutcome {
		return LimitOutcome{Limit: limit, Level: level, Mode: "enforce", Events: 16}
	}
	account := LimitOutcome{Limit: "account", Mode: "enforce", Events: 15, Denied: 3, DeniedSuccesses: 1}
	want := map[string]LimitOutcome{
		"account": account, "device": {Limit: "device", Mode: "enforce", Events: 1},
		"network host": stranger("network", "host"), "network subnet": stranger("network", "subnet"), "global": stranger("global", ""),
	}
	if diff := cmp.Diff(want, limitsOf(o)); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Count{{Name: "alice", Denied: 3, Successes: 1}}, o.Accounts); diff != "" {
		t.Errorf("accounts (-want +got):\n%s", diff)
	}
	networks := []Count{{Name: "11.0.10.0/24", Denied: 1}, {Name: "11.0.12.0/24", Denied: 1}, {Name: "11.2.88.0/24", Denied: 1, Successes: 1}}
	if diff := cmp.Diff(networks, o.Networks); diff != "" {
		t.Errorf("networks (-want +got):\n%s", diff)
	}
	lines := strings.Split(strings.TrimSpace(decisions), "\n")
	if len(lines) != 17 || lines[0] != `{"n":1,"decision":"allow","limit":null,"retry_after":0}` ||
		lines[11] != `{"n":12,"decision":"deny","limit":"account","retry_after":30}` {
		t.Errorf("%d decisions, the first and the twelfth:\n%s\n%s", len(lines), lines[0], lines[11])
	}
}

func TestReportOfLogOnly(t *testing.T) {
	report, decisions := replayDay(t, day(), nil, func(c *policy.Config) { c.Limits.Account.Mode = policy.LogOnly })
	o := report.Policies[0]
	l := limitsOf(o)["account"]
	if o.Denied != 0 || o.WouldDeny != 3 || o.WouldDenySuccesses != 1 || l.WouldDeny != 3 || l.WouldDenySuccesses != 1 {
		t.Errorf("denied %d, would deny %d, of these right %d, by the limit %d and %d; want 0, 3, 1, 3, 1",
			o.Denied, o.WouldDeny, o.WouldDenySuccesses, l.WouldDeny, l.WouldDenySuccesses)
	}
	if diff := cmp.Diff([]Count{{Name: "alice", WouldDeny: 3, Successes: 1}}, o.Accounts); diff != "" {
		t.Errorf("accounts (-want +got):\n%s", diff)
	}
	if n := strings.Count(decisions, `"decision":"allow","limit":null,"retry_after":0`); n != 17 {
		t.Errorf("%d of 17 decisions are to allow", n)
	}
}

func TestReportOfWhatChanges(t *testing.T) {
	// With twelve tokens the first twelve guesses go through, the thirteenth is
	// told to wait half a minute, and that is when the café comes.
	report, _ := replayDay(t, day(), func(c *policy.Config) { c.Limits.Account.Capacity = 12 })
	want := &Changes{
		OnlyFirst: Change{Events: 2, Successes: 1, Limits: []*LimitChange{{Limit: "account", Events: 2, Successes: 1}}},
		Both:      Change{Events: 1, Limits: []*LimitChange{{Limit: "account", Events: 1}}},
	}
	if diff := cmp.Diff(want, report.Changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if len(report.Policies) != 2 || report.Policies[1].Config != "old.yaml" || report.Policies[1].Denied != 1 {
		t.Errorf("the other policy: %+v", report.Policies[1])
	}
}

func TestReportInWords(t *testing.T) {
	report, _ := replayDay(t, day()+day(), func(c *policy.Config) { c.Limits.Account.Capacity = 12 })
	var text bytes.Buffer
	report.Log = "day\x1b[31m.jsonl"
	if err := report.Print(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"day\x1b[31m.jsonl": 34 attempts, 6 with the right credential, 28 with a wrong one` + "\n",
		"2 attempts named no account", "15 attempts had an earlier time", "new.yaml (enforce): ", "old.yaml (enforce): ",
		"What changes with new.yaml in place of old.yaml", "newly denied",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, text.String())
		}
	}
}

func TestRunEndsAtAnEventThatCannotBeDecided(t *testing.T) {
	log := `{"time":1790000000,"account":"a","ip":"192.0.2.1","outcome":"success"}
{"time":1790000001,"account":"a","ip":"192.0.2.1","outcome":"success","realm":"nowhere"}
{"time":1790000002,"account":"a","ip":"192.0.2.1","outcome":"success","route":"teleport"}
{"time":1790000003,"account":"a","ip":"host.example","outcome":"success"}
{"time":1790000004,"account":"a","ip":"192.0.2.1","outcome":"success"}
`
	run := func(o LogOptions) (*Report, error) {
		r, err := NewReader(strings.NewReader(log), "day.jsonl", o)
		if err != nil {
			t.Fatal(err)
		}
		return Run(context.Background(), r, RunOptions{Policy: Policy{"new.yaml", newRules(t), keys.RandomRing()}})
	}
	_, err := run(LogOptions{})
	if want := `day.jsonl:2: realm: "nowhere" is not in new.yaml`; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error is %v, want %s", err, want)
	}
	report, err := run(LogOptions{SkipBad: true})
	if err != nil {
		t.Fatal(err)
	}
	if report.Events != 2 || report.Skipped != 3 || report.Policies[0].Allowed != 2 {
		t.Errorf("%d events, %d skipped, %d allowed; want 2, 3, 2", report.Events, report.Skipped, report.Policies[0].Allowed)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := NewReader(strings.NewReader(day()), "day.jsonl", LogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(ctx, r, RunOptions{Policy: Policy{"new.yaml", newRules(t), keys.RandomRing()}}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want context.Canceled", err)
	}
}

func TestTopFindsTheMostInBoundedMemory(t *testing.T) {
	top := newTop()
	const names = 3 * topKeep
	for i := range names {
		top.add(fmt.Sprint("rare", i), true, false, false)
		for _, often := range []string{"b", "a"} {
			top.add(often, true, false, i%2 == 0)
		}
	}
	if len(top.byName) != topKeep || len(top.order) != topKeep {
		t.Fatalf("%d names are kept, want %d", len(top.byName), topKeep)
	}
	want := []Count{{Name: "a", Denied: names, Successes: names / 2}, {Name: "b", Denied: names, Successes: names / 2}}
	if diff := cmp.Diff(want, top.most(2)); diff != "" {
		t.Errorf("the most (-want +got):\n%s", diff)
	}
	for _, c := range top.most(topKeep)[2:] {
		if c.Denied != 1 || c.AtMostMissed > 3*names/topKeep {
			t.Fatalf("%+v: want 1, and at most %d missed", c, 3*names/topKeep)
		}
	}
}

func TestSeriesLosesNothingAsItWidens(t *testing.T) {
	s := newSeries(1)
	at := morning
	for i := range 5000 {
		at += int64(i) * 1e6
		s.at(at)[0]++
		if len(s.bins) > mostBins {
			t.Fatalf("%d bins", len(s.bins))
		}
	}
	var sum int64
	for _, b := range s.bins {
		sum += b[0]
	}
	if sum != 5000 || len(s.bins) < 12 || s.width() != 24*3600 {
		t.Errorf("%d events in %d bins of %d s, want 5000 in bins of a day", sum, len(s.bins), s.width())
	}
	s.at(latest)[0]++
	if len(s.bins) > mostBins || s.start() > morning/1e6 {
		t.Errorf("%d bins from %d on", len(s.bins), s.start())
	}
	whole := newSeries(1)
	whole.at(1)
	whole.at(latest) // 230 years
}
