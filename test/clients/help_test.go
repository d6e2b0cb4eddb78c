package clients

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"loginguard/test/internal/redisd"
	"loginguard/test/internal/service"
)

func TestMain(m *testing.M) {
	status := service.Main(m)
	if buildDir != "" {
		if err := os.RemoveAll(buildDir); err != nil {
			fmt.Fprintln(os.Stderr, "removing Caddy:", err)
			status = max(status, 1)
		}
	}
	os.Exit(status)
}

const (
	key      = "key-of-the-proxy-1" // what the examples call REPLACE-WITH-THE-CALLER-KEY
	patience = 20 * time.Second     // for a program to start or to end
)

// installed returns the path of a program and fails the test without it.
func installed(t *testing.T, name, packages string) string {
	t.Helper()
	for _, dir := range []string{"/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"} {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path
		}
	}
	t.Fatalf("%s is not installed: apt-get install -y --no-install-recommends %s", name, packages)
	return ""
}

// example returns a file of deploy with texts put in: pairs of old and new.
// Every old one must be there, or the example is not what the test thinks.
func example(t *testing.T, file string, pairs ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../deploy", file))
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("%s has no %q", file, pairs[i])
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}

// write writes a file of a program's own folder.
func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// guarded starts loginguard with the configuration of an example.
func guarded(t *testing.T, file string, o service.Options) *service.Service {
	t.Helper()
	sum := sha256.Sum256([]byte(key))
	o.Config = example(t, file, "REPLACE-WITH-THE-SHA256-OF-THE-CALLER-KEY", hex.EncodeToString(sum[:]))
	return service.Start(t, o)
}

// addressOf is the host and port of a URL.
func addressOf(url string) string { return strings.TrimPrefix(url, "http://") }

// fewer lets a host make five attempts an hour, so that a test runs into the
// limit before it looks like a flood.
var fewer = []string{"LOGINGUARD_LIMITS_NETWORK_HOST_CAPACITY=5", "LOGINGUARD_LIMITS_NETWORK_HOST_REFILL=5/1h"}

// process is a program in the foreground.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
	out  lockedText
}

// lockedText collects output.
type lockedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// run starts a program and returns when it accepts connections at address. It
// is ended with the test, by SIGTERM and, should that not do, SIGKILL.
func run(t *testing.T, address string, env []string, name string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(name, args...), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // how it ended does not matter, that it ended does
		close(p.done)
	}()
	t.Cleanup(func() {
		p.stop()
		if t.Failed() {
			t.Logf("%s said:\n%s", filepath.Base(name), p.out.String())
		}
	})
	service.Await(t, patience, name+" to listen", func() bool {
		select {
		case <-p.done:
			t.Fatalf("%s ended at once", name)
		default:
		}
		c, err := net.Dial("tcp", address)
		if err != nil {
			return false
		}
		return c.Close() == nil
	})
	return p
}

func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-p.done:
	case <-time.After(patience):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// free returns an address on which nobody listens.
func free(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("127.0.0.1:%d", redisd.FreePort(t))
}

// silent returns an address where connections are accepted and nothing is
// ever said.
func silent(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() }) // the connections wait in its queue till then
	return l.Addr().String()
}

// application is a login that knows nothing of loginguard: "secret" is
// everybody's password. It keeps what it was sent.
type application struct {
	address string
	posts   atomic.Int64 // attempts that reached it

	mu   sync.Mutex
	last http.Header
}

func startApplication(t *testing.T) *application {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a := &application{address: l.Addr().String()}
	s := &http.Server{Handler: a, ReadHeaderTimeout: patience}
	go func() { _ = s.Serve(l) }() // ends with Close
	t.Cleanup(func() { _ = s.Close() })
	return a
}

func (a *application) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	a.last = r.Header.Clone()
	a.mu.Unlock()
	if r.Method == http.MethodGet {
		_, _ = io.WriteString(w, "<form>") // the client may have gone
		return
	}
	a.posts.Add(1)
	if r.PostFormValue("password") == "secret" {
		w.Header().Set("Location", "/home")
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	w.WriteHeader(http.StatusUnauthorized)
}

// got returns a header of the last request that reached the application.
func (a *application) got(name string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last.Get(name)
}

// answer is what a client of a proxy got.
type answer struct {
	status int
	header http.Header
	body   string
}

// send posts a login form to a proxy from an address of this machine.
func send(t *testing.T, proxy, from, form string, headers ...string) answer {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, "http://"+proxy+"/login", strings.NewReader(form))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return do(t, r, from)
}

// do sends a request from an address of this machine.
func do(t *testing.T, r *http.Request, from string) answer {
	t.Helper()
	a, err := try(r, from)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// try does the same, and returns what went wrong.
func try(r *http.Request, from string) (answer, error) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c := http.Client{
		Timeout:       patience,
		Transport:     &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	p, err := c.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer p.Body.Close()
	b, err := io.ReadAll(p.Body)
	return answer{p.StatusCode, p.Header, string(b)}, err
}

// want checks the status of an answer.
func (a answer) want(t *testing.T, status int) {
	t.Helper()
	if a.status != status {
		t.Fatalf("answered %d, want %d: %v %s", a.status, status, a.header, a.body)
	}
}
