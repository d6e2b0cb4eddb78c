package store

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// TestHashTag: what Redis Cluster hashes of a key.
func TestHashTag(t *testing.T) {
	for key, want := range map[string]string{
		"lg:{A}":                            "A",
		"lg:{A}:t:1":                        "A",
		"lg:{default/2001:db8::/48}:h:x":    "default/2001:db8::/48",
		"lg:{default:3}:g":                  "default:3",
		"plain":                             "plain",
		"{}rest":                            "{}rest",
		"a{b":                               "a{b",
		"a{b}{c}":                           "b",
		"a{{b}}":                            "{b",
		"lg:{i:x}" + ":held":                "i:x",
		populationSlot("lg:{default}:n", 0): "default",
		populationSlot("lg:{default/203.0.113.0/24}:nh:203.0.113.9/32", 1): "default/203.0.113.0/24",
	} {
		if got := hashTag(key); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}

// drawGroups returns an attempt with any set of groups.
func drawGroups(t *rapid.T) Take {
	k := Take{Remember: day, Challenged: -1, Attempt: "x", Idempotence: "lg:{i:1}"}
	if rapid.Bool().Draw(t, "account") {
		k.Record = "lg:{A}"
		for _, field := range []string{"a", "f:n", "d:x"} {
			k.Charges = append(k.Charges, Charge{Key: k.Record, Field: field, Cost: 1, When: LaneStranger})
		}
	}
	for n := range rapid.IntRange(0, 6).Draw(t, "charges") {
		tag := fmt.Sprintf("lg:{%d}", rapid.IntRange(0, 3).Draw(t, "tag"))
		c := Charge{Key: fmt.Sprintf("%s:%d", tag, n), Cost: 1, When: LaneStranger, Mark: fmt.Sprint(n)}
		if rapid.Bool().Draw(t, "population") {
			c.Population = tag + ":n"
		}
		k.Charges = append(k.Charges, c)
	}
	if k.Record != "" && rapid.Bool().Draw(t, "challenged") {
		k.Challenged = len(k.Charges)
		k.Charges = append(k.Charges, Charge{Field: "c", Cost: 1, When: LaneStranger})
	}
	return k
}

// TestGroupsShareASlot: each script is given keys of one hash tag only, every
// charge is in exactly one group, and the stand-in is where its field is.
func TestGroupsShareASlot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := drawGroups(t)
		account, others := groups(k)
		seen := make(map[int]bool)
		for _, g := range append([]group{account}, others...) {
			if g.take.Idempotence != "" {
				t.Error("a group has the idempotence key")
			}
			tags := make(map[string]bool)
			for _, key := range takeArgs(g.take).keys {
				tags[hashTag(key)] = true
			}
			if len(tags) > 1 {
				t.Errorf("one script gets keys of %d tags: %v", len(tags), tags)
			}
			if len(g.index) != len(g.take.Charges) {
				t.Fatalf("%d charges with %d places", len(g.take.Charges), len(g.index))
			}
			for i, at := range g.index {
				if seen[at] || g.take.Charges[i].Key != k.Charges[at].Key || g.take.Charges[i].Field != k.Charges[at].Field {
					t.Errorf("charge %d is at a wrong place, or twice", at)
				}
				seen[at] = true
			}
		}
		if len(seen) != len(k.Charges) {
			t.Errorf("%d of %d charges are in a group", len(seen), len(k.Charges))
		}
		if k.Challenged >= 0 && account.take.Charges[account.take.Challenged].Field != "c" {
			t.Error("the stand-in is another charge")
		}
	})
}
