package handlers

import (
	"strings"
	"testing"

	"loginguard/netprefix"
)

func TestForwardingHeaderWithoutHopsIsHintedAtOnce(t *testing.T) {
	const body = `{"account":"alice","forwarded":{"peer":"10.0.0.1","x_forwarded_for":["203.0.113.9"]}}`
	for hops, want := range map[int]int{0: 1, 1: 0} {
		clients, err := netprefix.NewResolver(netprefix.ResolverConfig{Hops: hops, Trusted: []string{"10.0.0.0/8"}})
		if err != nil {
			t.Fatal(err)
		}
		b := newBench(t, func(_ *Config, e *fakeEngine) { e.rules.Clients = clients })
		for range 3 {
			if w := serve(b.API(), post("/v1/check", body)); w.Code != 200 {
				t.Fatalf("status %d: %s", w.Code, w.Body)
			}
		}
		serve(b.API(), post("/v1/check", goodCheck))
		if got := strings.Count(b.out.String(), "client_address.hops is 0"); got != want {
			t.Errorf("%d hops: %d hints, want %d", hops, got, want)
		}
	}
}

func TestTheOtherForwardingHeaderIsHintedAt(t *testing.T) {
	clients, err := netprefix.NewResolver(netprefix.ResolverConfig{Hops: 1, Trusted: []string{"10.0.0.0/8"}, Header: "x-forwarded-for"})
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, func(_ *Config, e *fakeEngine) { e.rules.Clients = clients })
	serve(b.API(), post("/v1/check", `{"account":"alice","forwarded":{"peer":"10.0.0.1","forwarded":["for=203.0.113.9"]}}`))
	if got := strings.Count(b.out.String(), "another header than client_address.header"); got != 1 {
		t.Errorf("%d hints, want 1", got)
	}
}
