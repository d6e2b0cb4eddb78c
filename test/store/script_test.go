package store

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"loginguard/store"
	"loginguard/test/internal/redisd"
)

// calls returns how often a command was called, in scripts and by clients.
func calls(s *redisd.Server, command string) int {
	stats := s.Do("INFO", "commandstats").(string)
	m := regexp.MustCompile(`cmdstat_` + command + `:calls=(\d+)`).FindStringSubmatch(stats)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// TestScriptsHeal: after SCRIPT FLUSH an attempt is charged once, the script
// is sent once, and everything goes on in single round trips.
func TestScriptsHeal(t *testing.T) {
	ctx := context.Background()
	s := redisd.Start(t)
	r := open(t, s)
	// On a server that never saw the scripts, the first call sends them.
	if got := admit(t, r, "lg:{b}:x").Buckets[0].Remaining(); got != 999 {
		t.Fatalf("%d left after the first attempt, want 999", got)
	}
	s.Do("SCRIPT", "FLUSH")
	s.Do("CONFIG", "RESETSTAT")
	if got := admit(t, r, "lg:{b}:x").Buckets[0].Remaining(); got != 998 {
		t.Fatalf("%d left, want 998: charged exactly once", got)
	}
	if whole, hash := calls(s, "eval"), calls(s, "evalsha"); whole != 1 || hash != 1 {
		t.Fatalf("%d EVAL, %d EVALSHA; want one of each to heal", whole, hash)
	}
	s.Do("CONFIG", "RESETSTAT")
	for n := range int64(1000) {
		out, err := r.Take(ctx, guess("lg:{b}:y", 1000))
		if err != nil || out.Outcome != store.Admitted || out.Buckets[0].Remaining() != 999-n {
			t.Fatalf("attempt %d: %+v, %v", n, out, err)
		}
	}
	if whole, hash := calls(s, "eval"), calls(s, "evalsha"); whole != 0 || hash != 1000 {
		t.Fatalf("%d EVAL, %d EVALSHA for 1000 attempts; want one EVALSHA each", whole, hash)
	}

	// The same for a report, which is applied once.
	s.Do("SCRIPT", "FLUSH")
	settle := store.Settle{Marker: "lg:{b}:t:1", Expires: time.Now().Add(time.Hour).UnixMicro(), Refund: true, Refunds: []store.Refund{{Key: "lg:{b}:y", Cost: 1}}}
	for _, want := range []bool{true, false} {
		if out, err := r.Settle(ctx, settle); err != nil || out.Applied != want {
			t.Fatalf("settle: %+v, %v; want applied %v", out, err, want)
		}
		s.Do("SCRIPT", "FLUSH")
	}
	if got := admit(t, r, "lg:{b}:y").Buckets[0].Remaining(); got != 0 {
		t.Fatalf("%d left, want the one that came back", got)
	}
	if err := r.Forget(ctx, store.Forget{Record: "lg:{b}"}); err != nil {
		t.Fatal(err)
	}
}

// TestEveryKeyIsDeclared watches the server run random steps: each key that a
// script touches was among its KEYS, without which a cluster could not route
// it, and nothing but the scripts' own commands is run.
func TestEveryKeyIsDeclared(t *testing.T) {
	s := redisd.Start(t)
	r := open(t, s)
	watch, err := net.Dial("tcp", s.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close()
	if _, err := fmt.Fprint(watch, "MONITOR\r\n"); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(watch)
	lines.Buffer(nil, 1<<20)
	if !lines.Scan() || lines.Text() != "+OK" {
		t.Fatalf("MONITOR: %q", lines.Text())
	}
	ctx := context.Background()
	given := make(map[string]bool)
	rapid.Check(t, func(t *rapid.T) {
		now := start
		for n := range rapid.IntRange(1, 8).Draw(t, "steps") {
			now += rapid.SampledFrom([]int64{0, second, 8 * 86400 * second, -3600 * second}).Draw(t, "clock")
			k := drawTake(t, n)
			k.Now = now
			taken, err := r.Take(ctx, k)
			if err != nil {
				t.Fatal(err)
			}
			settle := drawSettle(t, k, taken, now)
			if _, err := r.Settle(ctx, settle); err != nil {
				t.Fatal(err)
			}
			if err := r.Forget(ctx, store.Forget{Record: "lg:{A}", Now: now, Keep: 1, Remember: 1}); err != nil {
				t.Fatal(err)
			}
			note(given, k, settle)
		}
	})
	for key := range s.Values(t) {
		if !given[key] {
			t.Errorf("key %s was not given by any step", key)
		}
	}
	s.Do("ECHO", "the end")
	var keys []string
	scripts, touched := 0, 0
	for lines.Scan() {
		from, words := monitored(t, lines.Text())
		switch name := strings.ToLower(words[0]); {
		case from == "lua":
			for _, key := range keysOf(t, words) {
				touched++
				if !slices.Contains(keys, key) {
					t.Errorf("%q touches a key that is not in KEYS %q", words, keys)
				}
			}
		case name == "evalsha" || name == "eval":
			scripts++
			n, err := strconv.Atoi(words[2])
			if err != nil {
				t.Fatal(err)
			}
			keys = words[3 : 3+n]
		case name == "echo":
			if scripts < 20 || touched < 100 {
				t.Errorf("only %d scripts and %d keys were seen", scripts, touched)
			}
			return
		}
	}
	t.Fatalf("MONITOR ended: %v", lines.Err())
}

// note adds the keys that a take and a settlement name.
func note(given map[string]bool, k store.Take, s store.Settle) {
	for _, key := range []string{k.Record, k.Idempotence, s.Marker} {
		given[key] = true
	}
	for _, c := range k.Charges {
		given[c.Key] = true
	}
	for _, p := range s.Populations {
		given[p], given[p+":0"], given[p+":1"] = true, true, true
	}
}

// monitored reads a line of MONITOR: who ran a command, and its words.
func monitored(t *testing.T, line string) (from string, words []string) {
	t.Helper()
	m := regexp.MustCompile(`^\+[0-9.]+ \[\d+ ([^\]]+)\] (.*)$`).FindStringSubmatch(line)
	if m == nil {
		t.Fatalf("line %q", line)
	}
	for _, w := range regexp.MustCompile(`"(?:[^"\\]|\\.)*"`).FindAllString(m[2], -1) {
		words = append(words, w[1:len(w)-1])
	}
	return m[1], words
}

// keysOf returns the keys among the words of a command within a script.
func keysOf(t *testing.T, words []string) []string {
	t.Helper()
	switch strings.ToUpper(words[0]) {
	case "TIME":
		return nil
	case "GET", "SET", "PSETEX", "PTTL", "PEXPIRE", "PFADD":
		return words[1:2]
	case "MGET", "DEL", "EXISTS", "PFCOUNT":
		return words[1:]
	}
	t.Fatalf("a script runs %q", words)
	return nil
}
