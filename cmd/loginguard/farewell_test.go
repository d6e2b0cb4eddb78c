package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"
)

// parting is a server with a farewell, and a client that keeps its connection.
func parting(t *testing.T, most time.Duration) (*farewell, func() *http.Response) {
	t.Helper()
	f := &farewell{most: most}
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	f.attach(server.Config)
	server.Start()
	t.Cleanup(server.Close)
	return f, func() *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		// The client keeps a connection only when it has read all of the answer.
		_, err = io.Copy(io.Discard, res.Body)
		if err := errors.Join(err, res.Body.Close()); err != nil {
			t.Fatal(err)
		}
		return res
	}
}

// begun waits until the farewell asks clients to leave.
func begun(t *testing.T, f *farewell) {
	t.Helper()
	for deadline := time.Now().Add(patience); !f.leaving.Load(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("the farewell does not begin")
		}
	}
}

func TestFarewellLetsClientsLeaveWithAnAnswer(t *testing.T) {
	f, ask := parting(t, time.Hour)
	if ask().Close {
		t.Error("a client is sent away before anybody leaves")
	}
	said := make(chan struct{})
	go func() { f.say(context.Background()); close(said) }()
	begun(t, f)
	select {
	case <-said:
		t.Fatal("the connection that is kept was not waited for")
	default:
	}
	if !ask().Close {
		t.Error("the client is not asked to leave")
	}
	select {
	case <-said:
	case <-time.After(patience):
		t.Fatalf("all have left, and %d are waited for", f.open.Load())
	}
}

func TestFarewellEndsForClientsThatStay(t *testing.T) {
	f, ask := parting(t, time.Millisecond)
	ask()
	f.say(context.Background())
	f.most = time.Hour
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	f.say(ctx)
	if n := f.open.Load(); n != 1 {
		t.Errorf("%d connections are open, want the one that stayed", n)
	}
}

func TestFarewellLeavesUpgradesAlone(t *testing.T) {
	f := new(farewell)
	f.leaving.Store(true)
	server := &http.Server{Handler: http.NotFoundHandler()}
	f.attach(server)
	for _, tt := range []struct{ upgrade, want string }{{"websocket", ""}, {"", "close"}} {
		req, w := httptest.NewRequest(http.MethodGet, "/", nil), httptest.NewRecorder()
		req.Header.Set("Upgrade", tt.upgrade)
		server.Handler.ServeHTTP(w, req)
		if got := w.Header().Get("Connection"); got != tt.want {
			t.Errorf("upgrade to %q: Connection is %q, want %q", tt.upgrade, got, tt.want)
		}
	}
}
