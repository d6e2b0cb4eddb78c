package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// fakeRedis serves on l as a Redis that knows nothing but its eviction policy,
// until the listener is closed.
func fakeRedis(l net.Listener, policy string) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			for in := bufio.NewReader(conn); ; {
				words, err := command(in)
				if err != nil {
					return
				}
				answer := "-ERR unknown command\r\n"
				if strings.EqualFold(words[0], "info") {
					info := "# Memory\r\nmaxmemory_policy:" + policy + "\r\n"
					answer = fmt.Sprintf("$%d\r\n%s\r\n", len(info), info)
				}
				if _, err := io.WriteString(conn, answer); err != nil {
					return
				}
			}
		}()
	}
}

// command reads an array of bulk strings.
func command(in *bufio.Reader) ([]string, error) {
	number := func(mark string) (int, error) {
		line, err := in.ReadString('\n')
		if err != nil {
			return 0, err
		}
		return strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, mark)))
	}
	count, err := number("*")
	if err != nil || count < 1 {
		return nil, io.ErrUnexpectedEOF
	}
	words := make([]string, count)
	for i := range words {
		size, err := number("$")
		if err != nil {
			return nil, err
		}
		word := make([]byte, size+2)
		if _, err := io.ReadFull(in, word); err != nil {
			return nil, err
		}
		words[i] = string(word[:size])
	}
	return words, nil
}

func listenLocal(t *testing.T, address string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

const secretVar = "LOGINGUARD_IDENTITY_SECRET=MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// A Redis that drops counters when it is full is refused at the start, unless
// the configuration accepts it.
func TestEvictingRedisIsRefused(t *testing.T) {
	l := listenLocal(t, "127.0.0.1:0")
	go fakeRedis(l, "allkeys-lru")
	store := "store: {timeout: 1s, url: \"redis://" + l.Addr().String() + "\", allow_eviction: %v}\n"
	code, out, errs := once(t, []string{secretVar}, "--config", write(t, "c.yaml", fmt.Sprintf(store, false)), "--api-listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0")
	if code != 1 || out != "" || !strings.Contains(errs, "maxmemory-policy allkeys-lru") || !strings.Contains(errs, "noeviction") {
		t.Errorf("status %d\n%s%s", code, out, errs)
	}
	s := start(t, fmt.Sprintf(store, true), secretVar)
	s.stop()
	if code := s.wait(t); code != 0 {
		t.Errorf("allow_eviction: exit status %d: %s", code, s.log)
	}
}

// A service starts without its Redis, denies, and stays alive and ready.
func TestAbsentRedisDenies(t *testing.T) {
	l := listenLocal(t, "127.0.0.1:0")
	l.Close()
	s := start(t, "store: {url: \"redis://"+l.Addr().String()+"\"}\n", secretVar)
	status, header, body := post(t, http.DefaultClient, s.api+"/v1/check", "", check)
	if status != 503 || header.Get("Retry-After") == "" || !strings.Contains(body, "store_unavailable") {
		t.Errorf("%d %v %s", status, header, body)
	}
	res, err := http.Get(s.admin + "/livez")
	if err != nil || res.StatusCode != 200 {
		t.Errorf("livez: %v %v", res, err)
	}
	if !strings.Contains(s.log.String(), "cannot be inspected yet") {
		t.Errorf("the log is silent about it: %s", s.log)
	}

	// When it comes and turns out to drop counters, the service ends rather
	// than let attempts through.
	late := listenLocal(t, l.Addr().String())
	go fakeRedis(late, "volatile-ttl")
	if code := s.wait(t); code != 1 || !strings.Contains(s.log.String(), "loginguard: store.url: maxmemory-policy volatile-ttl") {
		t.Errorf("exit status %d: %s", code, s.log)
	}
}

// The configuration says what happens without the store, by name only.
func TestAbsentRedisAsConfigured(t *testing.T) {
	l := listenLocal(t, "127.0.0.1:0")
	l.Close()
	s := start(t, "server: {readiness: store}\nstore: {url: \"redis://"+l.Addr().String()+"\", on_failure: open}\nroutes: {mfa: {on_failure: closed}}\n", secretVar)
	if status, _, body := post(t, http.DefaultClient, s.api+"/v1/check", "", check); status != 200 || !strings.Contains(body, `"degraded":true`) {
		t.Errorf("on_failure open: %d %s", status, body)
	}
	mfa := strings.Replace(check, "{", `{"route":"mfa",`, 1)
	if status, _, body := post(t, http.DefaultClient, s.api+"/v1/check", "", mfa); status != 503 {
		t.Errorf("on_failure closed on one route: %d %s", status, body)
	}
	for deadline := time.Now().Add(patience); ; {
		res, err := http.Get(s.admin + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode == 503 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("readyz does not see that the store is down")
		}
	}
}

func TestOpenStoreNamesWhatIsWrong(t *testing.T) {
	for url, want := range map[string]string{
		"redis://127.0.0.1:1/0?pool_size=9": "--store-url: store.url: ",
		"http://127.0.0.1":                  "--store-url: store.url: must be memory: or begin with redis://",
	} {
		code, out, errs := once(t, []string{secretVar}, "--config", write(t, "c.yaml", "{}\n"), "--store-url", url)
		if code != 1 || out != "" || !strings.Contains(errs, want) || strings.Contains(errs, "store.url: store.url") {
			t.Errorf("%s: status %d\n%s%s", url, code, out, errs)
		}
	}
}
