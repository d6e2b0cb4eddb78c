package front

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A request that two readers split in different ways never becomes two at the
// application, and never one that the front did not look at.
func TestSmugglingEndsAtTheFront(t *testing.T) {
	a := newApp(t)
	g := start(t, a.URL, "")
	inner := guess("POST", "/login", "victim", "X-Inner: 1\r\n")
	chunk := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(inner), inner)
	for name, text := range map[string]string{
		"CL.TE":                "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + inner,
		"TE.CL":                "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n" + chunk,
		"two lengths":          "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n" + inner,
		"length list":          "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0, 5\r\n\r\n" + inner,
		"signed length":        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +0\r\n\r\n" + inner,
		"two codings":          "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n" + chunk,
		"unknown coding":       "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n" + chunk,
		"coding with blank":    "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n" + chunk,
		"coding in HTTP/1.0":   "POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk,
		"bare LF in chunk":     "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Replace(chunk, "\r\n", "\n", 1),
		"bare CR in header":    "POST / HTTP/1.1\r\nHost: x\r\nX: y\rContent-Length: 5\r\n\r\n" + inner,
		"folded header":        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n chunked\r\nConnection: close\r\n\r\n" + chunk,
		"blank before header":  "POST / HTTP/1.1\r\n Transfer-Encoding: chunked\r\nHost: x\r\n\r\n" + chunk,
		"chunk size overflows": "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000000\r\n" + inner,
		"two hosts":            "POST /login HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n" + inner,
		"blank in target":      "POST /x HTTP/1.1\r\nFoo: /login HTTP/1.1\r\nConnection: close\r\n\r\n",
		"GET with body":        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: " + fmt.Sprint(len(inner)) + "\r\nConnection: close\r\n\r\n" + inner,
		"length named by Connection": "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " + fmt.Sprint(len(inner)) +
			"\r\nConnection: close, Content-Length\r\n\r\n" + inner,
	} {
		raw(t, g, text)
		a.mu.Lock()
		for _, r := range a.seen {
			// An inner one that was a request of its own to the front, too,
			// was charged there; then it has the front's headers.
			if r.Header.Get("X-Inner") != "" && r.Header.Get("X-Forwarded-For") == "" {
				t.Errorf("%s: smuggled: %v", name, r.Header)
			}
		}
		a.mu.Unlock()
	}
	// What was taken for a request of its own, by both, is a guess that counts.
	if n := a.guesses.Load(); n > 10 {
		t.Errorf("%d guesses at one account", n)
	}
}

// An upgrade to anything but a WebSocket would be a tunnel past the front.
func TestOnlyWebSocketsLeaveHTTP(t *testing.T) {
	a := newApp(t)
	g := start(t, a.URL, "")
	for _, tt := range []struct{ method, path, upgrade string }{
		{"GET", "/", "h2c"}, {"GET", "/", "websocket, h2c"}, {"POST", "/", "websocket"}, {"GET", "/login", "websocket"}, {"GET", "/", "TLS/1.0"},
	} {
		g.do(tt.method, tt.path, "", "Connection", "Upgrade, HTTP2-Settings", "Upgrade", tt.upgrade, "HTTP2-Settings", "AAMAAABkAARAAAAAAAIAAAAA")
		r, _ := a.last(t)
		if r.Header.Get("Upgrade") != "" || r.Header.Get("Http2-Settings") != "" || strings.Contains(strings.ToLower(r.Header.Get("Connection")), "upgrade") {
			t.Errorf("%v arrived with %v", tt, r.Header)
		}
	}
}

// upstream serves h until the test ends.
func upstream(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: h}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	return "http://" + l.Addr().String()
}

func TestWebSocketsPass(t *testing.T) {
	g := start(t, upstream(t, func(w http.ResponseWriter, r *http.Request) {
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		fmt.Fprintf(rw, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", r.Header.Get("Upgrade"))
		rw.Flush()
		line, err := rw.ReadString('\n')
		if err == nil {
			rw.WriteString("echo " + line)
			rw.Flush()
		}
	}), "")
	conn, err := net.Dial("tcp", strings.TrimPrefix(g.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(30 * time.Second))
	io.WriteString(conn, "GET /socket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n\r\n")
	in := bufio.NewReader(conn)
	res, err := http.ReadResponse(in, nil)
	if err != nil || res.StatusCode != 101 {
		t.Fatalf("%v, %v", res, err)
	}
	io.WriteString(conn, "hello\n")
	if line, err := in.ReadString('\n'); line != "echo hello\n" {
		t.Errorf("%q, %v", line, err)
	}
	// On a guarded path the upstream cannot do so, and it was a guess.
	r := g.login("alice", "wrong", "Connection", "Upgrade", "Upgrade", "websocket")
	if r.Status != 502 {
		t.Errorf("on a guarded path: %d", r.Status)
	}
}

func TestBodiesArriveByteForByte(t *testing.T) {
	a := newApp(t)
	g := start(t, a.URL, "")
	fill := func(n int) string {
		head := "username=big&password=" + strings.ReplaceAll(password, " ", "%20") + "&filler="
		return head + strings.Repeat("x", n-len(head))
	}
	for _, n := range []int{64 << 10, 64<<10 + 1, 1 << 20} {
		for _, chunked := range []bool{false, true} {
			body := fill(n)
			req, err := http.NewRequest("POST", g.url+"/login", io.MultiReader(strings.NewReader(body)))
			if err != nil {
				t.Fatal(err)
			}
			req.ContentLength = int64(n)
			if chunked {
				req.ContentLength = -1
			}
			if r := g.send(req, "Content-Type", formType, "Expect", "100-continue"); r.Status != 200 {
				t.Errorf("%d bytes, chunked %v: %d %s", n, chunked, r.Status, r.Body)
				continue
			}
			r, got := a.last(t)
			if got != body || r.ContentLength != int64(n) || len(r.TransferEncoding) > 0 {
				t.Errorf("%d bytes, chunked %v: %d arrived, length %d, coding %v", n, chunked, len(got), r.ContentLength, r.TransferEncoding)
			}
		}
	}
	before := a.requests.Load()
	for _, chunked := range []bool{false, true} {
		body := "--XyZ\r\n" // never looked at, so it may be anything
		text := "POST /login HTTP/1.1\r\nHost: x\r\nContent-Type: " + formType + "\r\n"
		if chunked {
			text += "Transfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s", 1<<20+1, strings.Repeat("x", 1<<20+1)) + "\r\n0\r\n\r\n"
		} else {
			text += fmt.Sprintf("Content-Length: %d\r\n\r\n%s", 1<<20+1, body)
		}
		res := raw(t, g, text)
		if len(res) != 1 || res[0].StatusCode != 413 {
			t.Errorf("chunked %v: one byte too much: %v", chunked, res)
		}
	}
	// Elsewhere there is no bound.
	big := strings.Repeat("0123456789abcdef", 1<<18) // 4 MiB
	if r := g.do("POST", "/upload", big); r.Status != 200 {
		t.Errorf("an upload: %d", r.Status)
	}
	if _, got := a.last(t); got != big {
		t.Errorf("%d bytes of the upload arrived", len(got))
	}
	if n := a.requests.Load() - before; n != 1 {
		t.Errorf("the application saw %d requests, want the upload alone", n)
	}
}

func TestSlowClientsAreCutOff(t *testing.T) {
	a := newApp(t)
	g := start(t, a.URL, "")
	for name, text := range map[string]string{
		"headers": "POST /login HTTP/1.1\r\nHost: x\r\n",
		"body":    "POST /login HTTP/1.1\r\nHost: x\r\nContent-Type: " + formType + "\r\nContent-Length: 100\r\n\r\nusername=",
		"chunk":   "POST /login HTTP/1.1\r\nHost: x\r\nContent-Type: " + formType + "\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nuse",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res := raw(t, g, text) // returns when the other side ends it
			if name == "headers" && len(res) > 0 || name != "headers" && (len(res) != 1 || res[0].StatusCode != 408) {
				t.Errorf("answered %v", res)
			}
			if n := a.requests.Load(); n != 0 {
				t.Errorf("%d requests reached the application", n)
			}
		})
	}
}

// A stream is passed on while it is made, and the answers before the answer.
func TestStreamsAndInformationalAnswersPass(t *testing.T) {
	next := make(chan struct{})
	g := start(t, upstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "</style.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Trailer", "X-Sum")
		for i := range 3 {
			fmt.Fprintf(w, "data: %d\n\n", i)
			http.NewResponseController(w).Flush()
			<-next
		}
		w.Header().Set("X-Sum", "3")
	}), "")
	conn, err := net.Dial("tcp", strings.TrimPrefix(g.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(30 * time.Second))
	io.WriteString(conn, "GET /events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	in := bufio.NewReader(conn)
	hint, err := http.ReadResponse(in, nil)
	if err != nil || hint.StatusCode != 103 || hint.Header.Get("Link") == "" {
		t.Fatalf("%v, %v", hint, err)
	}
	res, err := http.ReadResponse(in, nil)
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("%v, %v", res, err)
	}
	lines := bufio.NewReader(res.Body)
	for i := range 3 {
		line, err := lines.ReadString('\n')
		if line != fmt.Sprintf("data: %d\n", i) {
			t.Fatalf("%q, %v", line, err)
		}
		lines.ReadString('\n')
		next <- struct{}{}
	}
	if _, err := io.ReadAll(lines); err != nil || res.Trailer.Get("X-Sum") != "3" {
		t.Errorf("trailer %v, %v", res.Trailer, err)
	}
}
