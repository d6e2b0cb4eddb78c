package deploy

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// instructions are those of a Dockerfile, with continued lines joined.
func instructions(t *testing.T) []string {
	t.Helper()
	var all []string
	joined := strings.ReplaceAll(read(t, "deploy/Dockerfile"), "\\\n", " ")
	for line := range strings.Lines(joined) {
		if line = strings.Join(strings.Fields(line), " "); line != "" && line[0] != '#' {
			all = append(all, line)
		}
	}
	return all
}

// The line that builds the program in the image is one that the go command
// takes, for a program without C. It is not run: with its flags every package of
// the standard library would be compiled anew.
func TestTheImageHoldsAStaticProgram(t *testing.T) {
	var build []string
	for _, line := range instructions(t) {
		if _, after, found := strings.Cut(line, " go build "); found && strings.HasPrefix(line, "RUN ") {
			if !strings.Contains(line, "CGO_ENABLED=0 ") {
				t.Errorf("it is built with C: %s", line)
			}
			build = strings.Fields(strings.ReplaceAll(after, `"-s -w"`, "-s"))
		}
	}
	out := slices.Index(build, "-o")
	if out < 0 || !slices.Contains(build, "-trimpath") {
		t.Fatalf("it is built by %q", build)
	}
	run := func(args ...string) string {
		t.Helper()
		c := exec.Command("go", args...)
		c.Dir, c.Env = root, append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOFLAGS=")
		b, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("go %v: %v: %s", args, err, b)
		}
		return string(b)
	}
	run(append([]string{"build", "-n"}, build...)...)
	if name := strings.TrimSpace(run("list", "-f", "{{.Name}}", build[len(build)-1])); name != "main" {
		t.Errorf("%s is no program but the package %s", build[len(build)-1], name)
	}
	if copied := "COPY --from=build " + build[out+1] + " "; !slices.ContainsFunc(instructions(t), func(s string) bool { return strings.HasPrefix(s, copied) }) {
		t.Errorf("nothing copies %s into the image", build[out+1])
	}
}

func TestTheImageHasNoShellAndNoRoot(t *testing.T) {
	all := instructions(t)
	last := 0
	for i, line := range all {
		if strings.HasPrefix(line, "FROM ") {
			last = i
		}
	}
	final := all[last:]
	if base := strings.Fields(final[0])[1]; base != "scratch" && !strings.HasPrefix(base, "gcr.io/distroless/static") {
		t.Errorf("the image is made of %s", base)
	}
	user, entry := "", ""
	for _, line := range final {
		switch {
		case strings.HasPrefix(line, "RUN "):
			t.Errorf("there is nothing in the image to run %s", line)
		case strings.HasPrefix(line, "USER "):
			user = line
		case strings.HasPrefix(line, "ENTRYPOINT "):
			entry = line
		}
	}
	if user == "" || strings.HasPrefix(user, "USER 0") || strings.HasPrefix(user, "USER root") {
		t.Errorf("it runs as %q", user)
	}
	if entry != `ENTRYPOINT ["/usr/local/bin/loginguard"]` || !slices.Contains(final, "COPY --from=build /out/loginguard /usr/local/bin/loginguard") {
		t.Errorf("it starts %q of %q", entry, final)
	}
}
