package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience bounds what a test waits for; nothing comes near it.
const patience = 20 * time.Second

// running is a service that run serves.
type running struct {
	api, admin, front string // base URLs
	curl              string // the line to try
	stop              context.CancelFunc
	exited            chan int
	log               *lockedBuffer
}

// lockedBuffer is written by a service while a test reads it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start runs a service on free ports, with that configuration file, and
// returns when it has said where it is.
func start(t *testing.T, config string, environ ...string) *running {
	t.Helper()
	return startFile(t, write(t, "config.yaml", config), environ...)
}

// startFile is [start] with a file that the test goes on to change.
func startFile(t *testing.T, file string, environ ...string) *running {
	t.Helper()
	return startArgs(t, []string{"--config", file}, environ...)
}

// startArgs is [start] with other arguments than a file.
func startArgs(t *testing.T, args []string, environ ...string) *running {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	s := &running{stop: stop, exited: make(chan int, 1), log: new(lockedBuffer)}
	out, in := io.Pipe()
	args = append([]string{"--api-listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"}, args...)
	go func() {
		s.exited <- run(ctx, args, environ, in, s.log)
		in.Close()
	}()
	t.Cleanup(func() { s.stop(); io.Copy(io.Discard, out) })
	lines := bufio.NewScanner(out)
	for s.curl == "" && lines.Scan() {
		line := lines.Text()
		if url, ok := strings.CutPrefix(line, "  api    "); ok {
			s.api = url
		} else if url, ok := strings.CutPrefix(line, "  admin  "); ok {
			s.admin = url
		} else if url, ok := strings.CutPrefix(line, "  front  "); ok {
			s.front = url
		} else if strings.HasPrefix(line, "  curl ") {
			s.curl = strings.TrimSpace(line)
		}
	}
	if s.curl == "" {
		t.Fatalf("exit status %d: %s", s.wait(t), s.log)
	}
	return s
}

// wait returns the exit status.
func (s *running) wait(t *testing.T) int {
	t.Helper()
	select {
	case code := <-s.exited:
		return code
	case <-time.After(patience):
		t.Fatalf("the service does not end: %s", s.log)
		return 0
	}
}

// write makes a file in a folder of the test and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// post sends JSON and returns the status, the headers and the body.
func post(t *testing.T, client *http.Client, url, key, body string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(text)
}

// once runs a command line that ends by itself.
func once(t *testing.T, environ []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, environ, &out, &errs)
	return code, out.String(), errs.String()
}

const check = `{"account":"alice","ip":"203.0.113.7"}`
