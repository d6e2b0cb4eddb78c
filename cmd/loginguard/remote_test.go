package main

import (
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loginguard/cmd/loginguard/config"
)

// asking is a question to a service, with what follows.
func asking(url string, more ...string) []string {
	return append([]string{"explain", "--account", "alice", "--ip", "203.0.113.7", "--url", url}, more...)
}

// Each answer that is not the one hoped for says which flag, or which part of
// the service, to look at.
func TestRefusalsNameWhatToChange(t *testing.T) {
	var lines []string
	keys := map[string]string{}
	for name, role := range map[string]string{"idp": "check", "ops": "admin"} {
		c, key, err := config.NewCaller(name, nil, role)
		if err != nil {
			t.Fatal(err)
		}
		line, err := c.Line()
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
		keys[name] = write(t, name+".key", key+"\n")
	}
	s := start(t, "callers:\n  "+strings.Join(lines, "\n  ")+"\n")
	wrong := write(t, "wrong.key", "lgk_nobody")
	for _, tt := range []struct {
		args []string
		want string
	}{
		{asking(s.api), "the service wants a key: name the file that holds it by --key-file"},
		{asking(s.api, "--key-file", wrong), "the key in " + wrong + " is not that of a caller of this service"},
		{asking(s.api, "--key-file", keys["idp"]), "the key in " + keys["idp"] + " does not allow this: This needs the role admin."},
		{asking(s.api, "--key-file", keys["ops"], "--realm", "shop"), "--realm: There is no realm of this name"},
		{asking(s.api, "--key-file", keys["ops"], "--route", "nope"), "--route: There is no route of this name"},
		{asking(s.api, "--key-file", keys["ops"], "--ip", "nope"), "--ip: "},
		{[]string{"forget", "--url", s.api, "--key-file", keys["ops"], "--network", "10.0.0.0/8"}, "--network: "},
		{[]string{"limits", "--url", s.admin}, "there are no limits at " + s.admin},
		{asking(s.api+"/elsewhere", "--key-file", keys["ops"]), "there is no /v1/explain at " + s.api + "/elsewhere"},
		{asking(strings.Replace(s.api, "http:", "https:", 1)), "does not speak TLS: write http:// in --url"},
	} {
		code, out, errs := once(t, nil, tt.args...)
		if code != exitFailure || out != "" || !strings.Contains(errs, tt.want) || strings.Contains(errs, "lgk_") {
			t.Errorf("%v: %d, %s%s\nwant %s", tt.args, code, out, errs, tt.want)
		}
	}
	for _, args := range [][]string{
		asking(s.api, "--key-file", keys["ops"]),
		asking(s.admin), // on its own machine
		{"limits", "--url", s.api, "--key-file", keys["idp"]},
	} {
		if code, _, errs := once(t, nil, args...); code != 0 || errs != "" {
			t.Errorf("%v: %d, %s", args, code, errs)
		}
	}
}

// What is no loginguard at all is told so, in bounded time and space, and
// nothing that it says reaches the terminal as it is.
func TestStrangersAreRecognised(t *testing.T) {
	hang := make(chan struct{})
	for _, tt := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
	}{
		{"a page", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, "is not loginguard: is --url right?"},
		{"other JSON", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"hello":1}`) }, "is not loginguard: is --url right?"},
		{"not found", http.NotFound, "answers 404, and not as loginguard does"},
		{"a gateway", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "\x1b[2J", http.StatusBadGateway) }, "answers 502, and not as loginguard does"},
		{"a redirect", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/explain" {
				t.Error("the redirect was followed")
			}
			http.Redirect(w, r, "/login", http.StatusFound)
		}, "redirects to "},
		{"too much", func(w http.ResponseWriter, _ *http.Request) { io.CopyN(w, zeros{}, maxAnswer+1) }, "more than 1024 KiB"},
		{"nothing", func(_ http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body) // only then is it seen that the client has gone
			select {
			case <-hang:
			case <-r.Context().Done():
			}
		}, "within 50ms"},
		{"half an answer", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "{")
		}, "no answer from"},
		{"a failure", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.Header().Set("X-Request-Id", "r\u202e1")
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"detail":"No store.\u001b[2J"}`)
		}, `the service cannot answer (503): "No store.\x1b[2J" Its log says more under the id "r\u202e1"`},
		{"another refusal", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/problem+json; charset=utf-8")
			w.WriteHeader(http.StatusConflict)
		}, "answers 409, and not as loginguard does"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := httptest.NewServer(tt.answer)
			defer s.Close()
			wait := "20s"
			if tt.name == "nothing" {
				wait = "50ms"
			}
			code, out, errs := once(t, nil, asking(s.URL, "--timeout", wait, "--key-file", write(t, "key", "lgk_secret"))...)
			if code != exitFailure || out != "" || !strings.Contains(errs, tt.want) || strings.ContainsAny(errs, "\x1b\u202e") || strings.Contains(errs, "lgk_") {
				t.Errorf("%d, %q%q\nwant %s", code, out, errs, tt.want)
			}
		})
	}
	close(hang)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestNobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	l.Close()
	code, _, errs := once(t, nil, asking("http://"+at)...)
	if code != exitFailure || !strings.Contains(errs, "nothing listens at "+at+": is loginguard running there") {
		t.Errorf("%d, %s", code, errs)
	}
}

// A service behind a certificate of one's own authority.
func TestTLSNeedsTheAuthority(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer lgk_secret" {
			t.Errorf("authorised by %q", r.Header.Get("Authorization"))
		}
		fmt.Fprint(w, `{"decision":"allow"}`)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that are meant to fail
	s.StartTLS()
	defer s.Close()
	key := write(t, "key", "lgk_secret\r\n")
	ca := write(t, "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
	code, _, errs := once(t, nil, asking(s.URL, "--key-file", key)...)
	if code != exitFailure || !strings.Contains(errs, "name it by --ca-file") {
		t.Errorf("without: %d, %s", code, errs)
	}
	if code, _, errs = once(t, nil, asking(s.URL, "--key-file", key, "--ca-file", ca)...); code != 0 {
		t.Errorf("with: %d, %s", code, errs)
	}
	other := strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	if code, _, errs = once(t, nil, asking(other, "--key-file", key, "--ca-file", ca)...); code != exitFailure || !strings.Contains(errs, "is for another name") {
		t.Errorf("under another name: %d, %s", code, errs)
	}
	plain := strings.Replace(s.URL, "https:", "http:", 1)
	if code, _, errs = once(t, nil, asking(plain)...); code != exitFailure || !strings.Contains(errs, "speaks TLS: write https:// in --url") {
		t.Errorf("without TLS: %d, %s", code, errs)
	}
}

func TestKeyAndAuthorityFilesAreChecked(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none")
	for _, tt := range []struct{ flag, file, want string }{
		{"--key-file", missing, "no such file"},
		{"--key-file", write(t, "empty", " \n"), "is empty"},
		{"--key-file", write(t, "two", "lgk_secret\nlgk_secret\n"), "must hold one key and nothing else"},
		{"--key-file", write(t, "odd", "lgk_secr\u00e9t"), "must hold one key and nothing else"},
		{"--key-file", write(t, "big", strings.Repeat("lgk_", maxKeyFile)), "is larger than 4 KiB"},
		{"--ca-file", missing, "no such file"},
		{"--ca-file", write(t, "ca", "lgk_secret"), "has no certificate in PEM"},
	} {
		code, _, errs := once(t, nil, asking("http://127.0.0.1:1", tt.flag, tt.file)...)
		if code != exitFailure || !strings.Contains(errs, tt.flag) || !strings.Contains(errs, tt.want) || strings.Contains(errs, "lgk_") {
			t.Errorf("%s %s: %d, %s", tt.flag, tt.file, code, errs)
		}
	}
}

// A key that leaves the machine in the clear is worth a warning, and an
// interrupt ends the question.
func TestAKeyInTheClearIsWarnedOf(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for url, warned := range map[string]bool{
		"http://guard.example.com:8080": true, "https://guard.example.com": false, "http://localhost:1": false, "http://[::1]:1": false,
	} {
		var errs bytes.Buffer
		r := remote{url: url, keyFile: write(t, "key", "lgk_secret"), timeout: time.Second}
		_, err := r.ask(ctx, &errs, http.MethodGet, "/v1/limits", nil)
		if err == nil || err.Error() != "interrupted" {
			t.Errorf("%s: %v", url, err)
		}
		if got := strings.Contains(errs.String(), "without encryption"); got != warned || strings.Contains(errs.String(), "lgk_") {
			t.Errorf("%s: %s", url, errs.String())
		}
	}
}
