package main

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"loginguard/cmd/loginguard/config"
)

// A new user copies the line that is printed: it works as it stands.
func TestPrintedLineWorksAndLimitsAreInForce(t *testing.T) {
	s := start(t, "")
	m := regexp.MustCompile(`^curl --json '([^']+)' (\S+)$`).FindStringSubmatch(s.curl)
	if m == nil || m[2] != s.api+"/v1/check" {
		t.Fatalf("the line is %q", s.curl)
	}
	for i := range 11 {
		status, header, body := post(t, http.DefaultClient, m[2], "", m[1])
		if i < 10 && (status != 200 || !strings.Contains(body, `"allow"`)) {
			t.Fatalf("attempt %d: %d %s", i+1, status, body)
		}
		if wait, err := strconv.Atoi(header.Get("Retry-After")); i == 10 && (status != 429 || err != nil || wait < 30 || wait > 33) {
			t.Errorf("attempt 11: %d, Retry-After %q", status, header.Get("Retry-After"))
		}
	}
	for _, path := range []string{"/livez", "/readyz", "/metrics"} {
		res, err := http.Get(s.admin + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != 200 {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
	s.stop()
	if code := s.wait(t); code != 0 {
		t.Errorf("exit status %d: %s", code, s.log)
	}
	refused(t, s.api)
	refused(t, s.admin)
	for _, want := range []string{`"api":"` + strings.TrimPrefix(s.api, "http://"), "no identity secret is set", `"message":"stopped"`} {
		if !strings.Contains(s.log.String(), want) {
			t.Errorf("the log lacks %s: %s", want, s.log)
		}
	}
}

func TestCallersAndOverridesOfTheFileAreInForce(t *testing.T) {
	c, key, err := config.NewCaller("idp", []string{"shop"}, "")
	if err != nil {
		t.Fatal(err)
	}
	line, err := c.Line()
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, "callers:\n  "+line+"\noverrides: [{limit: account, match: {account: Alice}, capacity: 2, reason: test}]\nsupport_url: https://help.example.com\n")
	if !strings.Contains(s.curl, "-H 'Authorization: Bearer KEY'") {
		t.Errorf("the line to try is %q", s.curl)
	}
	const shop = `{"account":"alice","ip":"203.0.113.7","realm":"shop"}`
	for i, tt := range []struct {
		key, body string
		want      int
	}{{"", shop, 401}, {"wrong", shop, 401}, {key, check, 403}, {key, shop, 200}, {key, shop, 200}, {key, shop, 429}} {
		status, _, body := post(t, http.DefaultClient, s.api+"/v1/check", tt.key, tt.body)
		if status != tt.want {
			t.Errorf("request %d: %d, want %d: %s", i, status, tt.want, body)
		}
		if status == 429 && !strings.Contains(body, "https://help.example.com") {
			t.Errorf("the denial names no support: %s", body)
		}
	}
}

// halfSent opens a request whose handler is waiting for the body.
func halfSent(t *testing.T, api string) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(api, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	head := "POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: " +
		strconv.Itoa(len(check)) + "\r\n\r\n"
	if _, err := io.WriteString(conn, head); err != nil {
		t.Fatal(err)
	}
	answer := bufio.NewReader(conn)
	// The server says 100 when the handler begins to read.
	if line, err := answer.ReadString('\n'); err != nil || !strings.Contains(line, " 100 ") {
		t.Fatalf("%q, %v", line, err)
	}
	if _, err := answer.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return conn, answer
}

// refused waits until nobody listens at the address any more.
func refused(t *testing.T, api string) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		conn, err := net.Dial("tcp", strings.TrimPrefix(api, "http://"))
		if err != nil {
			return
		}
		conn.Close()
	}
	t.Fatal("the listener stays open")
}

func TestDrainFinishesWhatWasBegun(t *testing.T) {
	s := start(t, "server: {shutdown_grace: 1m}\n")
	conn, answer := halfSent(t, s.api)
	s.stop()
	refused(t, s.api)
	if res, err := http.Get(s.admin + "/readyz"); err != nil || res.StatusCode != 503 {
		t.Errorf("readyz while draining: %v, %v", res, err)
	}
	if _, err := io.WriteString(conn, check); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(answer, nil)
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("the request in progress got %v, %v", res, err)
	}
	if code := s.wait(t); code != 0 {
		t.Errorf("exit status %d: %s", code, s.log)
	}
}

// TestDrainOfTheFrontIsSeenByProbes: as long as any request is in progress.
func TestDrainOfTheFrontIsSeenByProbes(t *testing.T) {
	reached, release := make(chan struct{}), make(chan struct{})
	app := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(reached)
		<-release
	}))
	defer app.Close()
	s := start(t, "server: {shutdown_grace: 1m, front: {listen: '127.0.0.1:0'}}\nfront: {upstream: '"+app.URL+"'}\n")
	status := make(chan int, 1)
	go func() {
		res, err := http.Get(s.front + "/page")
		if err != nil {
			t.Error(err)
			status <- 0
			return
		}
		res.Body.Close()
		status <- res.StatusCode
	}()
	<-reached
	s.stop()
	refused(t, s.front)
	refused(t, s.api)
	for range 20 {
		res, err := http.Get(s.admin + "/readyz")
		if err != nil || res.StatusCode != 503 {
			t.Errorf("readyz while the front drains: %v, %v", res, err)
			break
		}
		res.Body.Close()
	}
	close(release)
	if got := <-status; got != 200 {
		t.Errorf("the request in progress got %d", got)
	}
	if code := s.wait(t); code != 0 {
		t.Errorf("exit status %d: %s", code, s.log)
	}
}

func TestDrainEndsWithTheGrace(t *testing.T) {
	s := start(t, "server: {shutdown_grace: 0s}\n")
	_, answer := halfSent(t, s.api)
	s.stop()
	if code := s.wait(t); code != 0 {
		t.Errorf("exit status %d: %s", code, s.log)
	}
	if _, err := answer.ReadByte(); err == nil {
		t.Error("the request was answered")
	}
	if !strings.Contains(s.log.String(), "were cut off") {
		t.Errorf("the log is silent about it: %s", s.log)
	}
}

// One signal drains; a second one does not wait.
func TestSecondSignalExitsAtOnce(t *testing.T) {
	cmd := exec.Command(os.Args[0], "--config", write(t, "c.yaml", "server: {shutdown_grace: 10m}\n"),
		"--api-listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), asProgram+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	var api string
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "  curl") {
		if url, ok := strings.CutPrefix(lines.Text(), "  api    "); ok {
			api = url
		}
	}
	halfSent(t, api)
	for range 2 {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		refused(t, api) // the first signal has arrived
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != exitFailure {
		t.Errorf("ended with %v", cmd.ProcessState)
	}
}

func TestPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	file := write(t, "c.yaml", "# empty\n")
	for key, args := range map[string][]string{
		"server.api.listen":   {"--api-listen", l.Addr().String(), "--admin-listen", "127.0.0.1:0"},
		"server.admin.listen": {"--admin-listen", l.Addr().String(), "--api-listen", "127.0.0.1:0"},
	} {
		code, out, errs := once(t, nil, append(args, "--config", file)...)
		if code != 1 || out != "" || !strings.Contains(errs, key) || !strings.Contains(errs, "address already in use") {
			t.Errorf("%s: status %d\n%s%s", key, code, out, errs)
		}
	}
}

func TestExitStatus(t *testing.T) {
	good, bad := write(t, "good.yaml", "mode: enforce\n"), write(t, "bad.yaml", "mod: enforce\n")
	for _, tt := range []struct {
		args []string
		want int
	}{
		{[]string{"version"}, 0},
		{[]string{"--help"}, 0},
		{[]string{"config", "check", "--config", good}, 0},
		{[]string{"config", "check", "--config", bad}, 1},
		{[]string{"config", "print", "--config", bad}, 1},
		{[]string{"serve", "--config", bad}, 1},
		{[]string{"--config", bad}, 1},
		{[]string{"serv"}, 2},
		{[]string{"serve", "x"}, 2},
		{[]string{"--nope"}, 2},
		{[]string{"serve", "--config"}, 2},
		{[]string{"config"}, 2},
		{[]string{"callers", "add"}, 2},
		{[]string{"callers", "add", "--name", "A"}, 2},
	} {
		if code, _, errs := once(t, nil, tt.args...); code != tt.want {
			t.Errorf("%v: status %d, want %d: %s", tt.args, code, tt.want, errs)
		}
	}
}
