package service

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"loginguard/test/internal/client"
)

// patience is how long the process may take to serve or to end. Builds with
// the race detector are slow, and test machines are busy.
const patience = 30 * time.Second

// Secret is the identity secret of every service here, so that instances on
// one Redis agree on the names of accounts. Nothing else knows it.
const Secret = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// Options set up a process. The zero value is the default configuration on
// the memory store.
type Options struct {
	Config string   // text of the configuration file, "" for none
	Redis  string   // URL of the store, "" for memory
	Env    []string // more variables, "NAME=value"
	Args   []string // more arguments, after the listeners

	// Shipped runs the program as users get it. The race detector, which all
	// others have, takes several times the processor.
	Shipped bool
}

// Service is one process of the program. Its fields are set once it serves.
// The methods of [Caller] ask it without a key.
type Service struct {
	*Caller
	API, Admin string // URLs of the listeners
	Pid        int

	t      testing.TB
	cmd    *exec.Cmd
	out    output
	errs   output
	done   chan struct{} // closed when the process has ended
	exit   error         // of the process, once done
	ending bool          // the test stopped or killed it
}

// serving matches what the program prints when it serves.
var serving = regexp.MustCompile(`(?m)^  api    (\S+)\n  admin  (\S+)\n`)

// Start runs a process and returns when it serves. It is stopped when the test
// ends.
func Start(t testing.TB, o Options) *Service {
	t.Helper()
	s := launch(t, o)
	t.Cleanup(s.end)
	var found []string
	Await(t, patience, "the service to print its addresses", func() bool {
		select {
		case <-s.done:
			t.Fatalf("the service ended: %v\n%s", s.exit, s.errs.String())
		default:
		}
		found = serving.FindStringSubmatch(s.out.String())
		return found != nil
	})
	s.API, s.Admin = found[1], found[2]
	s.Caller = &Caller{t: t, api: client.New(s.API, ""), admin: client.New(s.Admin, "")}
	return s
}

// Refused runs a process that must not start, and returns what it says.
func Refused(t testing.TB, o Options) string {
	t.Helper()
	s := launch(t, o)
	t.Cleanup(s.kill)
	select {
	case <-s.done:
	case <-time.After(patience):
		t.Fatalf("the service runs, but was to be refused\n%s", s.out.String())
	}
	if s.cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("ended with %v, not with status 1\n%s", s.exit, s.errs.String())
	}
	return s.errs.String()
}

// launch starts the process.
func launch(t testing.TB, o Options) *Service {
	t.Helper()
	args := []string{"serve", "--api-listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"}
	// The race detector sleeps a second at the end of a program unless told.
	env := []string{"LOGINGUARD_LOG_LEVEL=debug", "GORACE=atexit_sleep_ms=0"}
	if o.Config != "" {
		path := filepath.Join(t.TempDir(), "loginguard.yaml")
		if err := os.WriteFile(path, []byte(o.Config), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--config", path)
	}
	if o.Redis != "" {
		// Two seconds, since what is counted here must not depend on how busy
		// the machine is. Tests of outages set the real budget again.
		env = append(env, "LOGINGUARD_STORE_URL="+o.Redis, "LOGINGUARD_IDENTITY_SECRET="+Secret, "LOGINGUARD_STORE_TIMEOUT=2s")
	}
	s := &Service{t: t, done: make(chan struct{})}
	path := Program
	if o.Shipped {
		path = func(t testing.TB) string { t.Helper(); return must(t, shipped) }
	}
	s.cmd = exec.Command(path(t), append(args, o.Args...)...)
	s.cmd.Dir = t.TempDir() // without a config.yaml
	s.cmd.Env = append(clean(os.Environ()), merge(env, o.Env)...)
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.errs
	s.cmd.SysProcAttr = withParent()
	if err := s.cmd.Start(); err != nil {
		t.Fatalf("start the service: %v", err)
	}
	s.Pid = s.cmd.Process.Pid
	go func() {
		s.exit = s.cmd.Wait()
		close(s.done)
	}()
	return s
}

// clean drops what would configure the service from outside.
func clean(environ []string) []string {
	var kept []string
	for _, e := range environ {
		if !strings.HasPrefix(e, "LOGINGUARD_") {
			kept = append(kept, e)
		}
	}
	return kept
}

// merge lays variables over others: of two with one name the program would
// read the first.
func merge(env, over []string) []string {
	merged := append([]string(nil), over...)
next:
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		for _, o := range over {
			if strings.HasPrefix(o, name+"=") {
				continue next
			}
		}
		merged = append(merged, e)
	}
	return merged
}

// Terminate sends SIGTERM and returns at once.
func (s *Service) Terminate() {
	s.t.Helper()
	s.ending = true
	s.close()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Errorf("SIGTERM: %v", err)
	}
}

// Wait waits for the end after [Service.Terminate], which must be exit 0.
func (s *Service) Wait() {
	s.t.Helper()
	select {
	case <-s.done:
		if s.exit != nil {
			s.t.Errorf("the service ended with %v", s.exit)
		}
	case <-time.After(patience):
		s.t.Error("the service does not end on SIGTERM")
		s.kill()
	}
}

// Stop ends the process by SIGTERM, and waits for exit 0.
func (s *Service) Stop() {
	s.t.Helper()
	s.Terminate()
	s.Wait()
}

// Kill ends the process as kill -9 does.
func (s *Service) Kill() {
	s.ending = true
	s.kill()
}

func (s *Service) kill() {
	_ = s.cmd.Process.Kill() // it may have ended
	<-s.done
}

// end is the cleanup of every service: it stops one that still runs, judges its
// log, and shows that where the test failed.
func (s *Service) end() {
	s.t.Helper()
	if !s.ending {
		select {
		case <-s.done:
			s.t.Errorf("the service ended by itself: %v", s.exit)
		default:
			s.Stop()
		}
	}
	s.kill()
	log := s.errs.String()
	for _, bad := range []string{"DATA RACE", "panic:", `"stack":`} {
		if strings.Contains(log, bad) {
			s.t.Errorf("the log has %q", bad)
		}
	}
	if s.t.Failed() {
		s.t.Logf("log of the service with pid %d:\n%s", s.Pid, tail(log))
	}
}

// close drops idle connections. A connection that was dialled and never used
// looks like a request that is about to come, and would hold up the drain.
func (s *Service) close() {
	if s.Caller != nil {
		s.api.Close()
		s.admin.Close()
	}
}

// Log returns what the process wrote to standard error so far.
func (s *Service) Log() string { return s.errs.String() }

// Output returns what the process wrote to standard output so far.
func (s *Service) Output() string { return s.out.String() }

// AwaitLog waits until the log contains text.
func (s *Service) AwaitLog(text string) {
	s.t.Helper()
	Await(s.t, patience, "the log to say "+text, func() bool { return strings.Contains(s.errs.String(), text) })
}
