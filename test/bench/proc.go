package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is one program under test.
type process struct {
	name string
	cmd  *exec.Cmd
	out  *bufio.Scanner
}

// start runs a program on one core, where taskset can pin it. It is killed
// with this process.
func start(core int, name string, args ...string) (*process, error) {
	return startReading(nil, core, name, args...)
}

// startReading is [start] with something to read from.
func startReading(in *os.File, core int, name string, args ...string) (*process, error) {
	if path, err := exec.LookPath("taskset"); err == nil && core >= 0 {
		args = append([]string{"-c", strconv.Itoa(core), name}, args...)
		name = path
	}
	p := &process{name: name, cmd: exec.Command(name, args...)}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	p.cmd.Stderr = os.Stderr
	if in != nil {
		p.cmd.Stdin = in
		defer in.Close()
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	p.out = bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	return p, nil
}

// await reads lines until one begins with prefix, and returns the rest of it.
func (p *process) await(prefix string) (string, error) {
	for p.out.Scan() {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(p.out.Text()), prefix); ok {
			go func() {
				for p.out.Scan() { // or the program would wait for a reader
				}
			}()
			return rest, nil
		}
	}
	return "", fmt.Errorf("%s ended without saying %q", p.name, prefix)
}

// stop ends the program and waits for it.
func (p *process) stop() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // it was killed: the error says just that
}

// tick is the unit of the times in /proc/PID/stat.
const tick = 10 * time.Millisecond

// cpu is the processor time that the program has used, user and system.
func (p *process) cpu() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("reading processor time: %w", err)
	}
	// The second field is the name in parentheses, which may hold blanks.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 13 {
		return 0, fmt.Errorf("reading processor time: %d fields", len(fields))
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	if err1 != nil || err2 != nil {
		return 0, fmt.Errorf("reading processor time: %q", fields[11:13])
	}
	return time.Duration(user+system) * tick, nil
}

// freePort returns a loopback port that nobody listens on.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port), nil
}

// reachable waits until somebody listens on addr.
func reachable(addr string) error {
	var err error
	for began := time.Now(); time.Since(began) < 20*time.Second; {
		var c net.Conn
		if c, err = net.DialTimeout("tcp", addr, time.Second); err == nil {
			return c.Close()
		}
		time.Sleep(5 * time.Millisecond)
	}
	return fmt.Errorf("nobody answers on %s: %w", addr, err)
}
