package replay

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loginguard/guard"
	"loginguard/keys"
	"loginguard/netprefix"
	"loginguard/policy"
)

const (
	home    = "203.0.113.9"
	morning = int64(1_790_000_000_000_000) // 2026-09-21
)

// newRules returns the default policy with the realms default and shop, changed
// as the test needs it.
func newRules(t testing.TB, change ...func(*policy.Config)) guard.Rules {
	t.Helper()
	c := policy.Defaults()
	c.Realms = []string{"default", "shop"}
	for _, f := range change {
		f(&c)
	}
	p, err := policy.New(c)
	if err != nil {
		t.Fatalf("policy: %v", err)
	}
	table, err := netprefix.NewTable(netprefix.TableConfig{})
	if err != nil {
		t.Fatalf("networks: %v", err)
	}
	clients, err := netprefix.NewResolver(netprefix.ResolverConfig{})
	if err != nil {
		t.Fatalf("clients: %v", err)
	}
	names, err := keys.NewCanonicaliser(nil)
	if err != nil {
		t.Fatalf("names: %v", err)
	}
	return guard.Rules{Policy: p, Networks: table, Clients: clients, Names: names}
}

// bench is an engine, and a clock for its events.
type bench struct {
	*Engine
	t   testing.TB
	now int64
}

func newBench(t testing.TB, o EngineOptions, change ...func(*policy.Config)) *bench {
	t.Helper()
	b := &bench{NewEngine(newRules(t, change...), keys.RandomRing(), o), t, morning}
	t.Cleanup(b.Close)
	return b
}

func (b *bench) wait(d time.Duration) { b.now += d.Microseconds() }

// step runs one event at the bench's time; an error ends the test.
func (b *bench) step(ev Event) Decision {
	b.t.Helper()
	ev.Time = b.now
	d, err := b.Step(context.Background(), ev)
	if err != nil {
		b.t.Fatalf("step %+v: %v", ev, err)
	}
	return d
}

func wrong(account, ip string) Event { return Event{Account: account, IP: ip, Outcome: guard.Failure} }

func right(account, ip string) Event { return Event{Account: account, IP: ip, Outcome: guard.Success} }

// elsewhere returns an address in the i-th of many networks.
func elsewhere(i int) string { return fmt.Sprintf("11.%d.%d.1", i/256, i%256) }

// guesses makes n guesses at an account, each from another network, and counts
// those that were allowed.
func (b *bench) guesses(account string, n int) (allowed int) {
	b.t.Helper()
	for i := range n {
		if b.step(wrong(account, elsewhere(i))).Verdict == guard.Allow {
			allowed++
		}
	}
	return allowed
}

func TestEngineDecidesByTheClockOfTheEvents(t *testing.T) {
	b := newBench(t, EngineOptions{})
	if got := b.guesses("alice", 12); got != 10 {
		t.Fatalf("%d of 12 guesses were allowed, want 10", got)
	}
	d := b.step(wrong("alice", home))
	want := Decision{Verdict: guard.Deny, Limit: "account", RetryAfter: 30, Account: d.Account, Client: home, Meters: d.Meters}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("a denial (-want +got):\n%s", diff)
	}
	b.wait(30*time.Second - time.Microsecond)
	if d := b.step(wrong("alice", home)); d.Verdict != guard.Deny || d.RetryAfter != 1 {
		t.Errorf("a microsecond before the end of the wait: %s, retry after %d; want deny, 1", d.Verdict, d.RetryAfter)
	}
	b.wait(time.Microsecond)
	if d := b.step(right("alice", home)); d.Verdict != guard.Allow {
		t.Errorf("at the end of the wait: %s, want allow", d.Verdict)
	}
}

func TestEngineShowsTheDeviceOfTheEvent(t *testing.T) {
	b := newBench(t, EngineOptions{})
	signIn := right("alice", home)
	signIn.Device = "laptop"
	b.step(signIn)
	b.guesses("alice", 11)

	signIn.IP, signIn.Account = elsewhere(1000), "ALICE" // the same account on its travels
	if d := b.step(signIn); d.Verdict != guard.Allow || !d.Familiar {
		t.Errorf("a known device was decided %s, familiar %t; want allow, true", d.Verdict, d.Familiar)
	}
	for _, ev := range []Event{
		{Account: "alice", Device: "phone"}, // never signed in
		{Account: "alice", Device: ""},
	} {
		ev.IP, ev.Outcome = elsewhere(1001), guard.Success
		if d := b.step(ev); d.Verdict != guard.Deny || d.Limit != "account" {
			t.Errorf("device %q was decided %s by %q, want deny by account", ev.Device, d.Verdict, d.Limit)
		}
	}
	b.guesses("bob", 11)
	if d := b.step(Event{Account: "bob", IP: elsewhere(1002), Device: "laptop", Outcome: guard.Success}); d.Verdict != guard.Deny {
		t.Errorf("another account's device was decided %s, want deny", d.Verdict)
	}
}

func TestEngineForgetsTheDevicesOfLongAgo(t *testing.T) {
	b := newBench(t, EngineOptions{MaxDevices: 4})
	signIn := func(device string) Decision {
		return b.step(Event{Account: "alice", IP: elsewhere(2000), Device: device, Outcome: guard.Success})
	}
	for i := range 5 {
		signIn(fmt.Sprint("device", i))
		signIn("daily")
	}
	if n := len(b.devices.young) + len(b.devices.old); n > 4 {
		t.Errorf("%d devices are kept, want at most 4", n)
	}
	if b.devices.get(deviceKey{"default", "alice", "daily"}) == "" {
		t.Error("the device that is used all the time was forgotten")
	}
	if b.devices.get(deviceKey{"default", "alice", "device0"}) != "" {
		t.Error("the device of long ago is kept")
	}
}

func TestEngineForget(t *testing.T) {
	b := newBench(t, EngineOptions{})
	signIn := Event{Account: "alice", IP: home, Device: "laptop", Outcome: guard.Success}
	b.step(signIn)
	b.guesses("alice", 11)
	if err := b.Forget(context.Background(), "", "alice", "limits"); err != nil {
		t.Fatal(err)
	}
	if got := b.guesses("alice", 11); got != 10 {
		t.Errorf("%d guesses were allowed after the limits were cleared, want 10", got)
	}
	b.wait(time.Second)
	if err := b.Forget(context.Background(), "", "alice", "credentials"); err != nil {
		t.Fatal(err)
	}
	b.guesses("alice", 11)
	signIn.IP = elsewhere(3000)
	if d := b.step(signIn); d.Verdict != guard.Deny {
		t.Errorf("a device of before the reset was decided %s, want deny", d.Verdict)
	}
}

// TestEngineIsDeterministic runs one stream twice; what differs between the
// two, the secret and the speed, must not show.
func TestEngineIsDeterministic(t *testing.T) {
	var first []string
	for run := range 2 {
		b := newBench(t, EngineOptions{})
		var lines []string
		for i := range 3000 {
			b.wait(time.Duration(i*i%97) * time.Second)
			ev := wrong(fmt.Sprint("user", i%7), elsewhere(i%11))
			if i%5 == 0 {
				ev.Outcome, ev.Device = guard.Success, fmt.Sprint(i%3)
			}
			d := b.step(ev)
			lines = append(lines, fmt.Sprint(d.Verdict, d.Limit, d.Level, d.RetryAfter, d.Familiar))
		}
		if run == 0 {
			first = lines
		} else if diff := cmp.Diff(first, lines); diff != "" {
			t.Errorf("two runs differ:\n%s", diff)
		}
	}
}

func TestEngineTakesATimeThatStepsBackAsTheLatest(t *testing.T) {
	b := newBench(t, EngineOptions{})
	b.guesses("alice", 11)
	b.wait(-time.Hour)
	if d := b.step(wrong("alice", home)); d.RetryAfter != 30 {
		t.Errorf("an hour back the wait is %d s, want the same 30", d.RetryAfter)
	}
	if b.SteppedBack() != 1 {
		t.Errorf("%d events stepped back, want 1", b.SteppedBack())
	}
}

func TestEngineWithoutAnAccount(t *testing.T) {
	b := newBench(t, EngineOptions{})
	for i := range 31 {
		d := b.step(wrong(" \u200b", home))
		if want := map[bool]guard.Verdict{true: guard.Allow, false: guard.Deny}[i < 30]; d.Verdict != want {
			t.Fatalf("attempt %d with no name was decided %s, want %s", i+1, d.Verdict, want)
		}
	}
}

func TestEngineWouldDeny(t *testing.T) {
	b := newBench(t, EngineOptions{}, func(c *policy.Config) { c.Mode = policy.LogOnly })
	b.guesses("alice", 10)
	d := b.step(right("alice", home))
	if d.Verdict != guard.Allow || !cmp.Equal(d.WouldDeny, []string{"account"}) || d.LogOnly != len(d.Meters) {
		t.Errorf("decided %s, would deny %v, %d of %d meters log-only; want allow, [account], all", d.Verdict, d.WouldDeny, d.LogOnly, len(d.Meters))
	}
}

func TestEngineChallenges(t *testing.T) {
	b := newBench(t, EngineOptions{CanChallenge: true}, func(c *policy.Config) { c.Limits.Account.OnExhausted = "challenge" })
	b.guesses("alice", 10)
	if d := b.step(right("alice", home)); d.Verdict != guard.Challenge || d.Limit != "account" {
		t.Errorf("decided %s by %q, want challenge by account", d.Verdict, d.Limit)
	}
}

func TestEngineRefusesWhatItCannotDecide(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Event)
		field  string
	}{
		"realm":   {func(ev *Event) { ev.Realm = "nowhere" }, "realm"},
		"route":   {func(ev *Event) { ev.Route = "teleport" }, "route"},
		"address": {func(ev *Event) { ev.IP = "host.example" }, "ip"},
		"outcome": {func(ev *Event) { ev.Outcome = "maybe" }, "outcome"},
		"reason":  {func(ev *Event) { ev.Reason = "mood" }, "reason"},
		"no time": {func(ev *Event) { ev.Time = 0 }, "time"},
		"2200":    {func(ev *Event) { ev.Time = latest + 1 }, "time"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, EngineOptions{})
			ev := wrong("alice", home)
			ev.Time = morning
			test.change(&ev)
			_, err := b.Step(context.Background(), ev)
			var e *guard.Error
			if !errors.As(err, &e) || e.Field != test.field {
				t.Errorf("error is %v, want a *guard.Error about %q", err, test.field)
			}
		})
	}
}

// TestEngineSaysWhenItIsFull: a login may have a failure policy, a replay that
// forgot or guessed would be wrong.
func TestEngineSaysWhenItIsFull(t *testing.T) {
	for _, policyOf := range []string{guard.FailClosed, guard.FailOpen, guard.FailLocal} {
		t.Run(policyOf, func(t *testing.T) {
			b := newBench(t, EngineOptions{MaxKeys: 100}, func(c *policy.Config) {
				login := c.Routes["login"]
				login.OnFailure = policyOf
				c.Routes["login"] = login
			})
			for i := range 200 {
				ev := wrong(fmt.Sprint("user", i), elsewhere(i))
				ev.Time = morning
				if _, err := b.Step(context.Background(), ev); err != nil {
					if !errors.Is(err, ErrFull) {
						t.Errorf("error is %v, want ErrFull", err)
					}
					return
				}
			}
			t.Error("200 accounts found room among 100 keys")
		})
	}
}

// TestEngineSweepsWhatHasExpired: a log of ever new names, one a minute, is
// replayed in the memory of those of the last hours.
func TestEngineSweepsWhatHasExpired(t *testing.T) {
	b := newBench(t, EngineOptions{}, func(c *policy.Config) { c.Remember = time.Hour })
	most := 0
	for i := range 10_000 {
		b.wait(time.Minute)
		b.step(wrong(fmt.Sprint("user", i), elsewhere(i%65536)))
		most = max(most, b.Keys())
	}
	if most > 1000 {
		t.Errorf("%d keys were held at a time, want at most 1000", most)
	}
}
