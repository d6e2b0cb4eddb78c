package clients

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// dovecotBase is a whole Dovecot around the example: everything in one folder,
// mail users alice and bob with the password "secret", and no delays of its
// own. Clients on this machine may say which address they stand for.
const dovecotBase = `
base_dir = DIR/run
state_dir = DIR/state
log_path = DIR/log
auth_verbose = yes
protocols = imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
mail_location = maildir:DIR/mail/%u
auth_failure_delay = 0
auth_mechanisms = plain login
login_trusted_networks = 127.0.0.0/8
service imap-login {
  inet_listener imap {
    address = 127.0.0.1
    port = PORT
  }
  inet_listener imaps {
    port = 0
  }
}
service anvil {
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
passdb {
  driver = passwd-file
  args = scheme=PLAIN username_format=%u DIR/users
}
userdb {
  driver = static
  args = uid=mail gid=mail home=DIR/mail/%u
}
first_valid_uid = 1
first_valid_gid = 1
!include DIR/99-loginguard.conf
`

// dovecot is a running server.
type dovecot struct {
	address, log string
}

// startDovecot runs the example for Dovecot against a guard at an address.
func startDovecot(t *testing.T, guard string) *dovecot {
	t.Helper()
	program := installed(t, "dovecot", "dovecot-core dovecot-imapd")
	if os.Geteuid() != 0 {
		t.Fatal("Dovecot can be started by root only: run these tests as root")
	}
	// Its processes have users of their own, who must get to the folder, and
	// names of sockets are short.
	dir, err := os.MkdirTemp("", "dc")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // a leftover is only a leftover
	for _, d := range []string{dir, filepath.Join(dir, "mail")} {
		if err := os.MkdirAll(d, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	users := write(t, filepath.Join(dir, "users"), "alice:{PLAIN}secret\nbob:{PLAIN}secret\n")
	if err := os.Chmod(users, 0o644); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "99-loginguard.conf"), example(t, "dovecot/99-loginguard.conf",
		"REPLACE-WITH-THE-CALLER-KEY", key, "REPLACE-WITH-A-SECRET", "a-secret-of-this-test", "127.0.0.1:8080", guard))
	d := &dovecot{address: free(t), log: filepath.Join(dir, "log")}
	_, port, _ := net.SplitHostPort(d.address)
	file := write(t, filepath.Join(dir, "dovecot.conf"), strings.NewReplacer("DIR", dir, "PORT", port).Replace(dovecotBase))
	t.Cleanup(func() {
		if log, err := os.ReadFile(d.log); t.Failed() && err == nil {
			t.Logf("Dovecot's log:\n%s", log)
		}
	})
	run(t, d.address, nil, program, "-F", "-c", file)
	return d
}

// signIn tries a password over IMAP from any address and returns the server's
// answer without its tag.
func (d *dovecot) signIn(t *testing.T, from, user, password string) string {
	t.Helper()
	c, err := net.Dial("tcp", d.address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(c)
	say := func(tag, format string, args ...any) string {
		t.Helper()
		if _, err := fmt.Fprintf(c, tag+" "+format+"\r\n", args...); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			if rest, ok := strings.CutPrefix(lines.Text(), tag+" "); ok {
				return rest
			}
		}
		t.Fatalf("the connection ended: %v", lines.Err())
		return ""
	}
	if a := say("a", `ID ("name" "test" "x-originating-ip" "%s" "x-originating-port" "4444")`, from); !strings.HasPrefix(a, "OK") {
		t.Fatalf("ID is answered %q", a)
	}
	return say("b", `LOGIN {%d+}`+"\r\n%s "+`"%s"`, len(user), user, password)
}

// in, wrongPassword and refused check how a sign-in was answered.
func (d *dovecot) in(t *testing.T, from, user string) {
	t.Helper()
	if a := d.signIn(t, from, user, "secret"); !strings.HasPrefix(a, "OK ") {
		t.Fatalf("%s from %s is not let in: %s", user, from, a)
	}
}

func (d *dovecot) wrongPassword(t *testing.T, from, user, password string) {
	t.Helper()
	if a := d.signIn(t, from, user, password); !strings.HasPrefix(a, "NO [AUTHENTICATIONFAILED]") {
		t.Fatalf("a wrong password of %s from %s is answered: %s", user, from, a)
	}
}

func (d *dovecot) refused(t *testing.T, from, user, text string) {
	t.Helper()
	if a := d.signIn(t, from, user, "secret"); !strings.HasPrefix(a, "NO ") || !strings.Contains(a, text) {
		t.Fatalf("the right password of %s from %s is answered %q, want NO and %q", user, from, a, text)
	}
}
