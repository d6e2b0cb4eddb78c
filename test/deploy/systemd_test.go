package deploy

import (
	"path/filepath"
	"strings"
	"testing"

	"loginguard/test/internal/service"
)

// unit is a unit of systemd: the values of each key, by "Section.Key".
func unit(t *testing.T, path string) map[string][]string {
	t.Helper()
	u, section := map[string][]string{}, ""
	for line := range strings.Lines(read(t, path)) {
		line = strings.TrimSpace(line)
		key, value, found := strings.Cut(line, "=")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[' && line[len(line)-1] == ']':
			section = line[1 : len(line)-1]
		case !found || section == "":
			t.Fatalf("%s: %q is no setting", path, line)
		default:
			u[section+"."+key] = append(u[section+"."+key], value)
		}
	}
	return u
}

func TestTheUnitStartsTheProgram(t *testing.T) {
	u := unit(t, "deploy/systemd/loginguard.service")
	start := u["Service.ExecStart"]
	if len(start) != 1 {
		t.Fatalf("ExecStart is %q", start)
	}
	args := strings.Fields(start[0])
	if filepath.Base(args[0]) != "loginguard" || !filepath.IsAbs(args[0]) {
		t.Errorf("it starts %s", args[0])
	}
	flagsExist(t, args[1:])

	if got := u["Service.ExecReload"]; len(got) != 1 || !strings.HasSuffix(got[0], "/kill -HUP $MAINPID") {
		t.Errorf("ExecReload is %q, want what sends SIGHUP", got)
	}

	// The variable is one that the program reads, and names the credential.
	name, credential, _ := strings.Cut(u["Service.LoadCredential"][0], ":")
	variable, file, _ := strings.Cut(u["Service.Environment"][0], "=")
	if file != "%d/"+name || credential == "" {
		t.Errorf("the credential is %s, the secret is read from %s", name, file)
	}
	loads(t, "store: {url: \"redis://127.0.0.1:6379/0\"}", variable+"="+text(t, "secret", service.Secret+"\n"))
}

func TestTheUnitMayDoNothingElse(t *testing.T) {
	u := unit(t, "deploy/systemd/loginguard.service")
	for key, want := range map[string]string{
		"Type": "exec", "Restart": "on-failure", "DynamicUser": "yes", "ProtectSystem": "strict", "ProtectHome": "yes",
		"NoNewPrivileges": "yes", "PrivateTmp": "yes", "PrivateDevices": "yes", "CapabilityBoundingSet": "",
		"MemoryDenyWriteExecute": "yes", "RestrictAddressFamilies": "AF_INET AF_INET6 AF_UNIX",
	} {
		if got := u["Service."+key]; len(got) != 1 || got[0] != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
}
