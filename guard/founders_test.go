package guard

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// One account that signs in again and again from ever new addresses of its own
// must not fill the store with populations of one.
func TestOwnSuccessesFromEverNewAddressesDoNotFillTheStore(t *testing.T) {
	b := newBench(t)
	address := func(i int) string { return fmt.Sprintf("2001:db8:7:%x::1", i) }
	for i := range 30 {
		b.signIn(from("mallory", address(i)))
	}
	b.add(3 * time.Minute) // the markers of settled attempts are gone
	for i := range 300 {
		b.add(time.Second)
		b.signIn(from("mallory", address(1000+i)))
	}
	b.add(3 * time.Minute)
	lasting := 0
	for key := range b.mem.Values() {
		if strings.Contains(key, "}:nh:") || strings.Contains(key, "}:ni:") || strings.Contains(key, "}:ns:") {
			lasting++
		}
	}
	if lasting > 2*(16+3) {
		t.Errorf("%d keys of populations, want those of 16 and of the first network", lasting)
	}
}

// The record of an account under an attack with tags, from ever new networks,
// stays short: every step reads it.
func TestRecordStaysShortUnderEventsFromEverNewNetworks(t *testing.T) {
	b := newBench(t)
	for i := range 400 {
		b.add(time.Second)
		q := from("victim", fmt.Sprintf("2001:db8:%x::1", i))
		q.PasswordTag = fmt.Sprintf("tag %d", i)
		for range 2 { // the second is a repeat
			b.report(Report{Request: q, Outcome: Failure, Reason: BadPassword})
		}
	}
	longest := 0
	for _, value := range b.mem.Values() {
		longest = max(longest, len(value))
	}
	if longest > 4096 {
		t.Errorf("the longest value has %d bytes, want at most 4096", longest)
	}
}
