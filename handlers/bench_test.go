package handlers

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"loginguard/guard"
	"loginguard/keys"
	"loginguard/netprefix"
	"loginguard/policy"
	"loginguard/store"
)

// blank is a ResponseWriter that keeps nothing.
type blank struct{ h http.Header }

func (w *blank) Header() http.Header         { return w.h }
func (w *blank) Write(p []byte) (int, error) { return len(p), nil }
func (w *blank) WriteHeader(int)             {}

// BenchmarkCheck is a whole check but for the network: from the parsed request
// over a guard on a memory store to the written answer. Compare two versions
// with benchstat over -count 10.
func BenchmarkCheck(b *testing.B) {
	c := policy.Defaults()
	c.Limits.Account.Capacity, c.Limits.Account.Refill = 1_000_000, policy.Rate{Tokens: 1_000_000, Per: 6 * time.Hour}
	c.Limits.Global.Capacity, c.Limits.Global.MaxCapacity, c.Limits.Global.Refill = 1_000_000, 1_000_000, policy.Rate{Tokens: 1_000_000, Per: time.Second}
	p, err := policy.New(c)
	if err != nil {
		b.Fatal(err)
	}
	table, err := netprefix.NewTable(netprefix.TableConfig{})
	if err != nil {
		b.Fatal(err)
	}
	clients, err := netprefix.NewResolver(netprefix.ResolverConfig{})
	if err != nil {
		b.Fatal(err)
	}
	names, err := keys.NewCanonicaliser(nil)
	if err != nil {
		b.Fatal(err)
	}
	m := NewMetrics("bench")
	mem := store.NewMemory(store.MemoryOptions{})
	b.Cleanup(func() { _ = mem.Close() })
	g := guard.New(mem, keys.RandomRing(), guard.Rules{Policy: p, Networks: table, Clients: clients, Names: names}, guard.Options{Observer: m, Denials: 1000})
	b.Cleanup(g.Close)
	s := New(g, Config{Loopback: true, Log: zerolog.Nop()}, m)
	ask := func(b *testing.B, status int, body func(i int) string) {
		b.ReportAllocs()
		h := s.API()
		bodies := make([]string, 1<<12)
		for i := range bodies {
			bodies[i] = body(i)
		}
		b.ResetTimer()
		for i := 0; b.Loop(); i++ {
			r := httptest.NewRequest(http.MethodPost, "/v1/check", strings.NewReader(bodies[i%len(bodies)]))
			r.Header.Set("Content-Type", "application/json")
			r.RemoteAddr, r.Host = "127.0.0.1:1", "127.0.0.1"
			h.ServeHTTP(&blank{http.Header{}}, r)
		}
		r := httptest.NewRequest(http.MethodPost, "/v1/check", strings.NewReader(bodies[0]))
		r.Header.Set("Content-Type", "application/json")
		r.RemoteAddr, r.Host = "127.0.0.1:1", "127.0.0.1"
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != status {
			b.Fatalf("status %d, want %d: %s", w.Code, status, w.Body)
		}
	}
	n := 0
	b.Run("allowed", func(b *testing.B) {
		ask(b, http.StatusOK, func(i int) string {
			n++
			return fmt.Sprintf(`{"account":"user%d@example.org","ip":"2001:%x:%x:1::7"}`, i, 0x1000+n>>16, n&0xffff)
		})
	})
	for range 40 {
		q := guard.Request{Account: "closed@example.org", IP: "192.0.2.7"}
		if _, err := g.Check(b.Context(), guard.Caller{Name: "bench", Realms: []string{"default"}}, q); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("denied", func(b *testing.B) {
		ask(b, http.StatusTooManyRequests, func(int) string { return `{"account":"any@example.org","ip":"192.0.2.7"}` })
	})
}
