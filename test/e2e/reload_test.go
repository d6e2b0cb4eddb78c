package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"loginguard/test/internal/client"
	"loginguard/test/internal/service"
)

const reloaded = "the configuration was reloaded"

// sized is a configuration whose values all tell which one it is: each
// capacity, and the lifetime of an attempt in seconds, is so many times that of
// the first.
func sized(times int) string {
	return fmt.Sprintf(`
attempt_ttl: %ds
limits:
  account: {capacity: %d}
  network:
    host: {capacity: %d, per_user: 0}
    site: {capacity: %d, per_user: 0}
    subnet: {capacity: %d, per_user: 0}
  global: {capacity: %d, refill: 100000/1h, per_user: 0}
`, 100*times, 10*times, 1000*times, 2000*times, 3000*times, 100_000*times)
}

// firsts are the capacities of sized(1).
var firsts = map[string]string{"account": "10", "network-host": "1000", "network-subnet": "3000", "global": "100000"}

var sizedItem = regexp.MustCompile(`"([a-z0-9-]+)";q=(\d+)`)

// times returns which configuration an answer is of, or what is mixed in it.
func times(d client.Decision) (int, error) {
	n := d.ExpiresIn / 100
	items := sizedItem.FindAllStringSubmatch(strings.Join(d.Header.Values("RateLimit-Policy"), ","), -1)
	for _, item := range items {
		first := firsts[item[1]]
		if first == "" {
			first = firsts["network-"+item[1]]
		}
		var have, want int
		if _, err := fmt.Sscan(item[2]+" "+first, &have, &want); err != nil {
			return 0, fmt.Errorf("%q: %w", item[0], err)
		}
		if have != n*want {
			return 0, fmt.Errorf("an attempt that lives %d s has %s", d.ExpiresIn, item[0])
		}
	}
	if len(items) < 3 {
		return 0, fmt.Errorf("the answer shows %d limits", len(items))
	}
	return n, nil
}

// put replaces a file in one step.
func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".next", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".next", path); err != nil {
		t.Fatal(err)
	}
}

func TestAlternatingReloadsUnderLoadMixNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "loginguard.yaml")
	put(t, path, sized(1))
	s := service.Start(t, service.Options{Args: []string{"--config", path}, Env: []string{"LOGINGUARD_LOG_LEVEL=info"}})

	const workers = 8
	var (
		all  sync.WaitGroup
		stop = make(chan struct{})
		mu   sync.Mutex
		seen = map[int]int{}
	)
	for w := range workers {
		all.Go(func() {
			// About 1,000 checks a second in all, as far as the machine can.
			tick := time.NewTicker(workers * time.Millisecond)
			defer tick.Stop()
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				case <-tick.C:
				}
				d := s.Check(client.Attempt{Account: fmt.Sprintf("user-%d-%d", w, i), IP: address(w<<12 | i&0xfff)})
				if !d.Allowed() {
					t.Errorf("answered %d: %s", d.Status, d.Body)
					return
				}
				n, err := times(d)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				seen[n]++
				mu.Unlock()
			}
		})
	}
	began := time.Now()
	for i := range 100 {
		before := strings.Count(s.Log(), reloaded)
		put(t, path, sized(2-i%2))
		if err := syscall.Kill(s.Pid, syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		service.Await(t, 10*time.Second, "the reload", func() bool { return strings.Count(s.Log(), reloaded) > before })
		if t.Failed() {
			break
		}
	}
	took := time.Since(began)
	close(stop)
	all.Wait()
	if seen[1] == 0 || seen[2] == 0 || len(seen) != 2 {
		t.Errorf("answers by configuration: %v, want some of both and no other", seen)
	}
	if strings.Contains(s.Log(), "refused") {
		t.Error("a configuration was refused")
	}
	t.Logf("%d checks in 100 reloads, %s", seen[1]+seen[2], took.Round(time.Millisecond))
}

// A ConfigMap that is edited: its folder of links is led to another one.
func TestSwappedConfigMapIsInForceAfterOneReload(t *testing.T) {
	dir := t.TempDir()
	version := func(n, times int) {
		t.Helper()
		name := fmt.Sprintf("..%d", n)
		for _, err := range []error{
			os.Mkdir(filepath.Join(dir, name), 0o700),
			os.WriteFile(filepath.Join(dir, name, "config.yaml"), []byte(sized(times)), 0o600),
			os.Symlink(name, filepath.Join(dir, "..data_tmp")),
			os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	version(1, 1)
	path := filepath.Join(dir, "config.yaml")
	if err := os.Symlink("..data/config.yaml", path); err != nil {
		t.Fatal(err)
	}
	s := service.Start(t, service.Options{Args: []string{"--config", path}})
	ask := func(i int) int {
		t.Helper()
		n, err := times(s.Check(client.Attempt{Account: fmt.Sprint("user", i), IP: address(i)}))
		if err != nil {
			t.Error(err)
		}
		return n
	}
	if n := ask(0); n != 1 {
		t.Fatalf("the first configuration is %d", n)
	}
	for i := range 3 {
		version(i+2, i+2)
		if err := os.RemoveAll(filepath.Join(dir, fmt.Sprintf("..%d", i+1))); err != nil {
			t.Fatal(err)
		}
		service.Await(t, 10*time.Second, "the reload", func() bool { return strings.Count(s.Log(), reloaded) == i+1 })
		if n := ask(i + 1); n != i+2 {
			t.Errorf("configuration %d is in force, want %d", n, i+2)
		}
	}
	if n := strings.Count(s.Log(), reloaded); n != 3 {
		t.Errorf("%d reloads of 3 edits", n)
	}
}

// A bad file ends nothing: the service goes on with what it has, says so, and
// takes the next good one.
func TestBadFileAndSIGHUPEndNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "loginguard.yaml")
	put(t, path, sized(1))
	s := service.Start(t, service.Options{Args: []string{"--config", path}})
	successful := func(want string) {
		t.Helper()
		if page := string(s.Page("/metrics").Body); !strings.Contains(page, "\nloginguard_config_last_reload_successful "+want+"\n") {
			t.Errorf("config_last_reload_successful is not %s", want)
		}
	}
	put(t, path, "limits: {acount: {capacity: 20}}\n")
	if err := syscall.Kill(s.Pid, syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	s.AwaitLog("limits.acount: unknown key")
	successful("0")
	if n, err := times(s.Check(client.Attempt{Account: "alice", IP: address(1)})); n != 1 || err != nil {
		t.Errorf("configuration %d is in force (%v), want the first", n, err)
	}
	put(t, path, sized(2))
	s.AwaitLog(reloaded)
	successful("1")
	if n, err := times(s.Check(client.Attempt{Account: "bob", IP: address(2)})); n != 2 || err != nil {
		t.Errorf("configuration %d is in force (%v), want the second", n, err)
	}
}
