package handlers

import (
	"context"
	"sync/atomic"
	"time"

	"loginguard/guard"
)

// hintEvery is the shortest time between two hints about the same mistake.
const hintEvery = time.Hour

// proxyHint warns of the classic mistake in front of a login: requests come
// through a proxy, no hop is configured or the other header, and so all people
// share the proxy's limits.
type proxyHint struct{ last atomic.Int64 } // Unix second of the last hint

// hint looks at the material from which a client's address was derived. What
// it logs comes from the configuration alone.
func (s *Server) hint(ctx context.Context, by guard.Caller, q guard.Request) {
	clients := s.rules(ctx).Clients
	if q.Forwarded == nil || len(q.Forwarded.Lines) == 0 || clients == nil {
		return
	}
	text := ""
	switch {
	case clients.Hops() == 0:
		text = "a request came with a forwarding header, but client_address.hops is 0: if there is a proxy in between, " +
			"all its clients share the limits of its address until hops and trusted_proxies are set"
	case q.Forwarded.Header != clients.Header():
		text = "a caller hands on another header than client_address.header names: it is not read, " +
			"and all clients share the limits of the proxy's address"
	default:
		return
	}
	now, last := time.Now().Unix(), s.hints.last.Load()
	if last != 0 && now-last < int64(hintEvery/time.Second) || !s.hints.last.CompareAndSwap(last, now) {
		return
	}
	s.log.Warn().Str("caller", by.Name).Msg(text)
}
