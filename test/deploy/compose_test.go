package deploy

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"loginguard/test/internal/redisd"
	"loginguard/test/internal/service"
)

func TestComposeFitsTogether(t *testing.T) {
	compose := document(t, "deploy/compose.yaml")
	services := at[object](t, compose, "services")
	config := document(t, "deploy/compose/loginguard.yaml")
	instances := []string{}
	for name := range services {
		s := at[object](t, services, name)
		if networks, ok := s["networks"].([]any); ok {
			for _, n := range networks {
				at[object](t, compose, "networks", n)
			}
		}
		if after, ok := s["depends_on"].(object); ok {
			for other := range after {
				at[object](t, services, other)
			}
		}
		if s["image"] == "loginguard:local" {
			instances = append(instances, name)
		}
		if _, open := s["ports"]; open != (name == "edge") {
			t.Errorf("%s is open to the world: %v", name, open)
		}
	}
	slices.Sort(instances)
	if len(instances) != 2 {
		t.Fatalf("the instances are %v, want two", instances)
	}

	guard := at[object](t, services, instances[0])
	var command []string
	for _, a := range at[[]any](t, guard, "command") {
		command = append(command, a.(string))
	}
	flagsExist(t, command)
	if file := command[len(command)-1]; file != "/etc/loginguard/loginguard.yaml" || at[string](t, guard, "volumes", 0) != "./compose:/etc/loginguard:ro" {
		t.Errorf("it reads %s", file)
	}
	files(t, "deploy", filepath.Base(at[string](t, guard, "build", "dockerfile"))) // is there
	secret := at[string](t, guard, "secrets", 0)
	at[string](t, compose, "secrets", secret, "file")
	if got := at[string](t, guard, "environment", "LOGINGUARD_IDENTITY_SECRET_FILE"); got != "/run/secrets/"+secret {
		t.Errorf("the secret is read from %s", got)
	}

	// The edge finds both, at the port where they listen, and is whom they trust.
	front := at[string](t, config, "server", "front", "listen")
	for _, name := range instances {
		if server := "server " + name + front + " "; !strings.Contains(read(t, "deploy/compose/nginx.conf"), server) {
			t.Errorf("nginx.conf has no %q", server)
		}
	}
	edge := at[string](t, services, "edge", "networks", "inside", "ipv4_address")
	if trusted := at[[]any](t, config, "client_address", "trusted_proxies"); !slices.Equal(trusted, []any{edge}) {
		t.Errorf("the edge is %s, trusted is %v", edge, trusted)
	}
	subnet := netip.MustParsePrefix(at[string](t, compose, "networks", "inside", "ipam", "config", 0, "subnet"))
	if !subnet.Contains(netip.MustParseAddr(edge)) {
		t.Errorf("%s is not in %s", edge, subnet)
	}
	if got := at[string](t, config, "front", "upstream"); got != "http://application:"+at[string](t, services, "application", "expose", 0) {
		t.Errorf("the application is looked for at %s", got)
	}

	// A Redis that keeps what it is given, and that is waited for.
	redis := at[object](t, services, "redis")
	args := at[[]any](t, redis, "command")
	if i := slices.Index(args, any("--maxmemory-policy")); i < 0 || args[i+1] != "noeviction" {
		t.Errorf("redis is started as %v", args)
	}
	at[[]any](t, redis, "healthcheck", "test")
	if at[string](t, guard, "depends_on", "redis", "condition") != "service_healthy" {
		t.Error("redis is not waited for")
	}
	if got := at[string](t, guard, "environment", "LOGINGUARD_STORE_URL"); got != "redis://redis:6379/0" {
		t.Errorf("the store is %s", got)
	}
}

// edge runs the nginx of compose.yaml before two instances.
func edge(t *testing.T, instances ...string) string {
	t.Helper()
	program := ""
	for _, path := range []string{"/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/sbin/nginx", "/usr/local/bin/nginx", "/opt/homebrew/bin/nginx"} {
		if found, err := exec.LookPath(path); err == nil {
			program = found
		}
	}
	if program == "" {
		t.Fatal("nginx is not installed: apt-get install -y --no-install-recommends nginx")
	}
	dir, address := t.TempDir(), fmt.Sprintf("127.0.0.1:%d", redisd.FreePort(t))
	config := read(t, "deploy/compose/nginx.conf")
	for _, r := range []struct{ old, put string }{
		{"loginguard-1:8000", instances[0]}, {"loginguard-2:8000", instances[1]}, {"listen 80;", "listen " + address + ";"},
		// The test comes from many addresses at once, which only this lets it do.
		{"$remote_addr", "$http_x_test_client"},
		{"http {\n", "http {\naccess_log off;\n"},
	} {
		if !strings.Contains(config, r.old) {
			t.Fatalf("nginx.conf has no %q", r.old)
		}
		config = strings.ReplaceAll(config, r.old, r.put)
	}
	c := exec.Command(program, "-p", dir, "-c", text(t, "nginx.conf", config), "-e", filepath.Join(dir, "error.log"),
		"-g", "daemon off; pid "+filepath.Join(dir, "pid")+";")
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	var out strings.Builder
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM) // it may have ended
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			_ = c.Process.Kill()
			<-done
		}
	})
	service.Await(t, 20*time.Second, "nginx to listen", func() bool {
		select {
		case err := <-done:
			done <- err
			t.Fatalf("nginx ended: %v %s", err, out.String())
		default:
		}
		conn, err := net.Dial("tcp", address)
		return err == nil && conn.Close() == nil
	})
	return "http://" + address
}

var decisions = regexp.MustCompile(`(?m)^loginguard_decisions_total\{`)

// The setup of compose.yaml, without containers: nginx, two instances, Redis and
// an application that knows nothing of them.
func TestComposeRefusesTheEleventhOverBothInstances(t *testing.T) {
	redis := redisd.Start(t, "--maxmemory-policy", "noeviction")
	app := newStandIn(t, func(s *standIn, w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && s.right(r.FormValue("password")) {
			w.Header().Set("Location", "/home")
			w.WriteHeader(http.StatusSeeOther)
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
	})
	store := "redis://" + redis.Addr + "/0"
	first, one := frontOf(t, "deploy/compose/loginguard.yaml", app.URL, store)
	second, two := frontOf(t, "deploy/compose/loginguard.yaml", app.URL, store)
	web := edge(t, strings.TrimPrefix(first, "http://"), strings.TrimPrefix(second, "http://"))

	try := func(from, password string) int {
		t.Helper()
		r, err := http.NewRequest(http.MethodPost, web+"/login", strings.NewReader("username=alice&password="+password))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("X-Test-Client", from)
		r.Header.Set("X-Forwarded-For", "9.9.9.9")
		p, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Body.Close()
		return p.StatusCode
	}
	for i := range 10 {
		if got := try(fmt.Sprintf("20.%d.0.7", i), "wrong"); got != http.StatusUnauthorized {
			t.Fatalf("wrong password %d: %d", i+1, got)
		}
	}
	if got := try("20.99.0.7", "right"); got != http.StatusTooManyRequests {
		t.Errorf("the eleventh: %d", got)
	}
	if n := app.tried.Load(); n != 10 {
		t.Errorf("the application verified %d passwords, want 10", n)
	}
	for i, s := range []*service.Service{one, two} {
		if page := s.Page("/metrics").Body; !decisions.Match(page) {
			t.Errorf("instance %d was never asked", i+1)
		}
	}

	// One instance goes away: the other knows all.
	one.Stop()
	for range 4 {
		if got := try("20.98.0.7", "right"); got != http.StatusTooManyRequests {
			t.Errorf("with one instance: %d", got)
		}
	}
}
