package storetest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"loginguard/store"
)

const crowd = "lg:{default}:n"

// join lets member sign in.
func join(t *testing.T, h Harness, member string, now int64) {
	t.Helper()
	h.settle(t, store.Settle{Learn: true, Member: member, Populations: []string{crowd}, Now: now, Remember: remember, Sources: 8})
}

// members reads the population through a bucket that has a token per member.
func members(t *testing.T, h Harness, now int64) int64 {
	t.Helper()
	k := single("lg:{default}:g", store.Limit{Capacity: 1, Interval: second, PerUser: 1e6, MaxCapacity: 1e6}, 1, now)
	k.Charges[0].Population, k.Peek = crowd, true
	return h.take(t, k).Buckets[0].Capacity - 1
}

// population: a member counts once however often it signs in, and the count
// is within three standard errors of a HyperLogLog of 2^14 registers (0.81 %).
func population(t *testing.T, h Harness) {
	for range 3 {
		for i := range 20 {
			join(t, h, fmt.Sprintf("member%d", i), start)
		}
	}
	if got := members(t, h, start); got != 20 {
		t.Fatalf("%d members, want 20", got)
	}
	const many = 3000
	for i := range many {
		join(t, h, fmt.Sprintf("member%d", i), start)
	}
	if got := members(t, h, start); math.Abs(float64(got-many)) > 3*0.0081*many {
		t.Fatalf("%d members, want %d within 2.5 %%", got, many)
	}
	// Nobody's sign-in is no member.
	before := h.Values()
	h.settle(t, store.Settle{Learn: true, Populations: []string{crowd}, Now: start})
	h.same(t, before, "a sign-in without an account")
}

// populationWeeks: this week and the last one count.
func populationWeeks(t *testing.T, h Harness) {
	const week = 7 * day
	monday := start / week * week
	for i := range 10 {
		join(t, h, fmt.Sprintf("old%d", i), monday)
	}
	check := func(now, want int64, what string) {
		t.Helper()
		if got := members(t, h, now); got != want {
			t.Errorf("%s: %d members, want %d", what, got, want)
		}
	}
	check(monday+week-1, 10, "at the end of the week")
	check(monday+week, 10, "in the next week, nobody yet")
	check(monday+2*week, 0, "two weeks later")
	for i := range 4 {
		join(t, h, fmt.Sprintf("new%d", i), monday+week)
	}
	join(t, h, "old0", monday+week)
	check(monday+week, 14, "both weeks")
	check(monday+2*week, 5, "when the first is over")
	join(t, h, "newest", monday+2*week)
	check(monday+2*week, 6, "the second and third")
	join(t, h, "late", monday+10*week)
	check(monday+10*week, 1, "after a long silence")
	slots := 0
	for key := range h.Values() {
		if strings.HasPrefix(key, crowd+":") {
			slots++
		}
	}
	if slots != 1 {
		t.Errorf("%d weekly logs are left, want 1", slots)
	}
}

// populationGrows: capacity and refill grow in proportion, up to the most, and
// tokens that are missing stay missing.
func populationGrows(t *testing.T, h Harness) {
	l := store.Limit{Capacity: 10, Interval: 360 * second, PerUser: 500_000, MaxCapacity: 25}
	k := single("lg:{default}:g", l, 1, start)
	k.Charges[0].Population = crowd
	for range 10 {
		h.want(t, k, store.Admitted)
	}
	h.want(t, k, store.Denied)
	for i := range 20 {
		join(t, h, fmt.Sprintf("member%d", i), start)
	}
	out := h.want(t, k, store.Admitted)
	if b := out.Buckets[0]; b.Capacity != 20 || b.Interval != 180*second || b.Remaining() != 9 {
		t.Fatalf("%+v, want 20 tokens in the same hour, 11 of them taken", b)
	}
	for i := range 100 {
		join(t, h, fmt.Sprintf("member%d", i), start)
	}
	if b := h.want(t, k, store.Admitted).Buckets[0]; b.Capacity != 25 || b.Interval != 144*second {
		t.Fatalf("%+v, want no more than 25", b)
	}
}
