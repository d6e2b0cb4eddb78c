package main

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// farewellMost is how long, out of the grace, clients may go on to use the
// connections that they keep; each is asked to let go with its next answer.
// Clients that keep connections and are asked less often than this are idle
// when the listener closes, and lose nothing.
const farewellMost = time.Second

const (
	// farewellEvery is how often it is looked whether all have let go.
	farewellEvery = 10 * time.Millisecond

	// farewellQuiet is how often in a row nobody may be found before all have:
	// a client that was asked to leave comes back over a new connection until
	// it, or its balancer, has heard of the drain by /readyz. What connects
	// just when a listener closes is reset, see lastCall.
	farewellQuiet = 10
)

// farewell ends the connections of a server by agreement. To close one that is
// idle just when its client sends the next request would lose that request: it
// is no error after which a proxy sends a POST again.
// So, before anything is closed, every answer says that it is the last one.
type farewell struct {
	most    time.Duration // that it takes
	leaving atomic.Bool
	open    atomic.Int64 // connections
}

// attach has the farewell see the requests and the connections of a server
// that does not serve yet.
func (f *farewell) attach(server *http.Server) {
	next := server.Handler
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A connection that changes its protocol is told so in the same header.
		if f.leaving.Load() && r.Header.Get("Upgrade") == "" {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
	server.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			f.open.Add(1)
		case http.StateClosed, http.StateHijacked:
			f.open.Add(-1)
		}
	}
}

// say asks the clients to leave, and returns when all have, when that takes
// too long, or when ctx ends.
func (f *farewell) say(ctx context.Context) {
	f.leaving.Store(true)
	ctx, cancel := context.WithTimeout(ctx, f.most)
	defer cancel()
	tick := time.NewTicker(farewellEvery)
	defer tick.Stop()
	for quiet := 0; quiet < farewellQuiet; quiet++ {
		if f.open.Load() > 0 {
			quiet = -1
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
