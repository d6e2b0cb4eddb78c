package clients

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"loginguard/test/internal/service"
)

// caddyModule is the module of the example's Caddy, from here.
const caddyModule = "../../deploy/caddy/edge"

// edgeCaddy builds Caddy with edge_limit, once for all tests, in a folder that
// TestMain removes. The first build on a machine compiles all of Caddy, which
// takes minutes; test/run does it before the tests.
var edgeCaddy = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "loginguard-caddy-")
	if err != nil {
		return "", err
	}
	buildDir = dir
	path := filepath.Join(dir, "caddy")
	// Without symbols it is linked in half the time.
	build := exec.Command("go", "build", "-mod=readonly", "-buildvcs=false", "-ldflags=-s -w", "-o", path, "./cmd/caddy")
	build.Dir = caddyModule
	build.Env = append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building Caddy: %w\n%s", err, out)
	}
	return path, nil
})

// buildDir holds what edgeCaddy built, "" when it did not.
var buildDir string

// caddies are the two that the example is for.
var caddies = []struct {
	name  string
	start func(t *testing.T, guard, app string) string
}{
	{"with edge_limit", func(t *testing.T, guard, app string) string {
		t.Helper()
		return startCaddy(t, limited(t), caddyfile(t), guard, app)
	}},
	{"of the system", func(t *testing.T, guard, app string) string {
		t.Helper()
		return startCaddy(t, installed(t, "caddy", "caddy"), withoutLimit(t, caddyfile(t)), guard, app)
	}},
}

// limited returns the path of Caddy with edge_limit.
func limited(t *testing.T) string {
	t.Helper()
	path, err := edgeCaddy()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// caddyfile returns the example with its key.
func caddyfile(t *testing.T) string {
	t.Helper()
	return example(t, "caddy/Caddyfile", "REPLACE-WITH-THE-CALLER-KEY", key)
}

// withoutLimit removes the block edge_limit, as the example says for Caddy as
// it comes.
func withoutLimit(t *testing.T, config string) string {
	t.Helper()
	before, rest, found := strings.Cut(config, "\t\tedge_limit @attempt {\n")
	_, after, closed := strings.Cut(rest, "\n\t\t}\n")
	if !found || !closed {
		t.Fatal("the example has no block edge_limit")
	}
	return before + after
}

// startCaddy runs a Caddy with the example.
func startCaddy(t *testing.T, program, config, guard, app string) string {
	t.Helper()
	dir, address := t.TempDir(), free(t)
	config = strings.NewReplacer("127.0.0.1:8080", guard, "127.0.0.1:3000", app, "http://127.0.0.1:8000", "http://"+address).Replace(config)
	file := write(t, filepath.Join(dir, "Caddyfile"), config)
	run(t, address, []string{"HOME=" + dir, "XDG_DATA_HOME=" + dir, "XDG_CONFIG_HOME=" + dir}, program,
		"run", "--config", file, "--adapter", "caddyfile")
	return address
}

func TestCaddyAsksBeforeTheLogin(t *testing.T) {
	for _, c := range caddies {
		t.Run(c.name, func(t *testing.T) { asksBeforeTheLogin(t, "caddy/loginguard.yaml", c.start) })
	}
}

func TestCaddyStopsAFloodByItself(t *testing.T) {
	p := proxy{app: startApplication(t), guard: guarded(t, "caddy/loginguard.yaml", service.Options{})}
	p.address = startCaddy(t, limited(t), caddyfile(t), addressOf(p.guard.API), p.app.address)
	const requests, burst, rate = 200, 20, 5
	refused, began := 0, time.Now()
	for i := range requests {
		// An address that a client claims is no bucket of its own.
		a := send(t, p.address, "127.0.1.1", wrong, "X-Forwarded-For", "203.0.113."+strconv.Itoa(i))
		if a.status != http.StatusTooManyRequests || !strings.Contains(a.body, `"too_many_requests"`) {
			continue // loginguard or the login answered
		}
		refused++
		if a.header.Get("Retry-After") != "1" || a.header.Get("Content-Type") != "application/problem+json" {
			t.Fatalf("refused with %v", a.header)
		}
	}
	took := time.Since(began)
	most := burst + int(rate*took.Seconds()) + 1
	asked := decisions(t, p.guard)
	if asked < burst || asked > most || asked+refused != requests {
		t.Errorf("of %d requests in %s %d were refused at the edge and loginguard was asked about %d, want %d to %d",
			requests, took, refused, asked, burst, most)
	}
	if refused == 0 {
		t.Errorf("nothing was refused in %s", took)
	}
	// The page with the form, and another client, are not affected.
	r, err := http.NewRequest(http.MethodGet, "http://"+p.address+"/login", nil)
	if err != nil {
		t.Fatal(err)
	}
	do(t, r, "127.0.1.1").want(t, http.StatusOK)
	send(t, p.address, "127.0.1.2", right).want(t, http.StatusSeeOther)
}

// The lines for a load balancer before Caddy, as the example has them.
func TestCaddyLimitsClientsBehindALoadBalancer(t *testing.T) {
	config := caddyfile(t)
	for _, pair := range [][2]string{
		{"# servers {", "servers {"}, {"# \ttrusted_proxies static 10.0.0.5", "trusted_proxies static 127.0.1.9"},
		{"# \ttrusted_proxies_strict", "trusted_proxies_strict"}, {"# }", "}"}, {"burst 20", "burst 2"}, {"rate 5/s", "rate 1/h"},
	} {
		if strings.Count(config, pair[0]) != 1 {
			t.Fatalf("the example has %q %d times", pair[0], strings.Count(config, pair[0]))
		}
		config = strings.Replace(config, pair[0], pair[1], 1)
	}
	app := startApplication(t)
	guard := guarded(t, "caddy/loginguard.yaml", service.Options{})
	address := startCaddy(t, limited(t), config, addressOf(guard.API), app.address)
	for i := range 2 {
		send(t, address, "127.0.1.9", wrong, "X-Forwarded-For", fmt.Sprintf("192.0.2.%d, 203.0.113.1", i)).want(t, http.StatusUnauthorized)
	}
	// What the client wrote stands further left.
	send(t, address, "127.0.1.9", wrong, "X-Forwarded-For", "192.0.2.9, 203.0.113.1").want(t, http.StatusTooManyRequests)
	send(t, address, "127.0.1.9", wrong, "X-Forwarded-For", "203.0.113.2").want(t, http.StatusUnauthorized)
	// From elsewhere nobody is believed.
	for i := range 3 {
		want := http.StatusUnauthorized
		if i == 2 {
			want = http.StatusTooManyRequests
		}
		send(t, address, "127.0.1.3", wrong, "X-Forwarded-For", fmt.Sprintf("203.0.113.%d", 10+i)).want(t, want)
	}
}

// Caddy as it comes must not start with a limit that it does not know, and
// Caddy with it names the line of a mistake.
func TestCaddyRefusesALimitThatItCannotKeep(t *testing.T) {
	for _, c := range []struct{ program, config, want string }{
		{installed(t, "caddy", "caddy"), caddyfile(t), "edge_limit"},
		{limited(t), strings.Replace(caddyfile(t), "burst 20", "burst 0", 1), "is no whole number above 0"},
		{limited(t), strings.Replace(caddyfile(t), "rate 5/s", "rate 5", 1), "rate: must be written as requests/span"},
		{limited(t), strings.Replace(caddyfile(t), "burst 20", "burst 2000000", 1), "burst: 2000000 must be from 1 to 1000000"},
	} {
		dir := t.TempDir()
		command := exec.Command(c.program, "validate", "--config", write(t, filepath.Join(dir, "Caddyfile"), c.config), "--adapter", "caddyfile")
		command.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
		if out, err := command.CombinedOutput(); err == nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%v, and it says\n%s\nwant %s", err, out, c.want)
		}
	}
}
