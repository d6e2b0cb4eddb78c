package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestConfiguredListsAreCheckedWithTheirClass(t *testing.T) {
	mine := write(t, "mine.txt", "10.0.0.1\n")
	carrier := write(t, "carrier.txt", "198.51.0.0/16\n2001:db8::/48\n2001:db8:1::/48\n")
	ranges := write(t, "ranges.txt", "# nothing yet\n")
	cloud := write(t, "cloud.txt", "192.0.2.0/25\n192.0.2.128/25\n192.0.2.7\n")
	file := write(t, "config.yaml", "networks: {exempt: {files: ["+mine+"]}, pools: [{name: carrier-a, files: ["+carrier+"]}], pool_files: ["+
		ranges+"], hosting: {files: ["+cloud+"]}}\n")
	code, out, errs := once(t, nil, "lists", "check", "--json", "--config", file)
	var got checked
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 || errs != "" {
		t.Fatalf("%d, %v in %s%s", code, err, out, errs)
	}
	want := checked{Errors: []listFault{}, Files: []summary{
		{listFile{mine, "exempt", ""}, 1, 1, 1, 0, "10.0.0.1/32", ""},
		{listFile{carrier, "pool", "carrier-a"}, 3, 2, 1, 2, "198.51.0.0/16", "2001:db8::/48"},
		{listFile{ranges, "pool", ""}, 0, 0, 0, 0, "", ""},
		{listFile{cloud, "hosting", ""}, 3, 1, 3, 0, "192.0.2.0/25", ""},
	}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(summary{})); diff != "" {
		t.Errorf("checked (-want +got):\n%s", diff)
	}
	code, out, _ = once(t, nil, "lists", "check", "--config", file)
	for _, line := range []string{"FILE CLASS BLOCKS MERGED IPV4 IPV6 LARGEST", mine + " exempt 1 1 1 0 10.0.0.1/32",
		carrier + " pool carrier-a 3 2 1 2 198.51.0.0/16 2001:db8::/48", ranges + " pool 0 0 0 0 -"} {
		if !strings.Contains(squeezed(out), line+"\n") {
			t.Errorf("the table lacks %q:\n%s", line, out)
		}
	}
	if code != 0 {
		t.Errorf("exit status %d", code)
	}
	none := write(t, "config.yaml", "mode: enforce\n")
	if code, out, _ = once(t, nil, "lists", "check", "--config", none); code != 0 || out != "no list files are configured in "+none+"\n" {
		t.Errorf("without any: %d, %s", code, out)
	}
}

// Who asks in the wrong directory is not told that all is right.
func TestListsOfNoConfigurationAreNotRight(t *testing.T) {
	t.Chdir(t.TempDir())
	code, out, errs := once(t, nil, "lists", "check")
	if code != exitFailure || out != "" || !strings.Contains(errs, "config.yaml is missing or has no keys") || !strings.Contains(errs, "--config FILE") {
		t.Errorf("%d, %s%s", code, out, errs)
	}
	code, out, errs = once(t, nil, "lists", "check", "--json")
	var got checked
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != exitFailure || len(got.Errors) != 1 || got.Errors[0].File != "config.yaml" {
		t.Errorf("as JSON: %d, %v in %s%s", code, err, out, errs)
	}
	// A list that a variable names is a configuration.
	if code, out, errs = once(t, []string{"LOGINGUARD_NETWORKS_HOSTING_FILES=" + write(t, "x.txt", "192.0.2.0/24\n")}, "lists", "check"); code != 0 || !strings.Contains(out, "x.txt") {
		t.Errorf("by a variable: %d, %s%s", code, out, errs)
	}
}

// squeezed is a table with single blanks.
func squeezed(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.Join(strings.Fields(l), " ")
	}
	return strings.Join(lines, "\n")
}

func TestBadListsAreRefusedWithFileAndLine(t *testing.T) {
	good, bad := write(t, "good.txt", "192.0.2.0/24\n"), write(t, "bad.txt", "192.0.2.0/24\n10/8\n")
	missing := filepath.Join(t.TempDir(), "none.txt")
	code, out, errs := once(t, nil, "lists", "check", good, bad, missing)
	if code != exitFailure || !strings.Contains(out, good) || strings.Contains(out, bad) ||
		!strings.Contains(errs, "\n"+bad+`:2: "10/8" is no address block`) || !strings.Contains(errs, "\n"+missing+": cannot be read: no such file or directory\n") {
		t.Errorf("%d, %s%s", code, out, errs)
	}
	code, out, errs = once(t, nil, "lists", "check", "--json", good, bad)
	var got checked
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if code != exitFailure || errs != "" || len(got.Files) != 1 || len(got.Errors) != 1 || got.Errors[0].File != bad || got.Errors[0].Line != 2 {
		t.Errorf("%d, %s%s", code, out, errs)
	}
	// A block in two classes is wrong in no file alone.
	file := write(t, "config.yaml", "networks: {exempt: {files: ["+good+"]}, hosting: {cidrs: [192.0.2.0/24]}}\n")
	if code, _, errs := once(t, nil, "lists", "check", "--config", file); code != exitFailure || !strings.Contains(errs, good+":1, in networks.exempt") {
		t.Errorf("in two classes: %d, %s", code, errs)
	}
	if code, out, _ := once(t, nil, "lists", "check", "--json", "--config", file); code != exitFailure || !strings.Contains(out, `"message": "networks.hosting.cidrs[0]: 192.0.2.0/24 is listed in`) {
		t.Errorf("in two classes, as JSON: %d, %s", code, out)
	}
	if code, _, errs := once(t, nil, "lists", "check", "--config", file, good); code != exitUsage || !strings.Contains(errs, "--config is for the files") {
		t.Errorf("both: %d, %s", code, errs)
	}
}

// feed is a sample of what a provider publishes.
func feed(name string) string { return filepath.Join("feeds", "testdata", name) }

func TestImportsAreListFiles(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"aws " + feed("ip-ranges.json"), "# aws: 7 blocks from ip-ranges.json, published as 2026-01-01-00-00-00\n# 4 blocks, merged\n" +
			"192.0.2.0/24\n198.51.100.0/24\n203.0.113.0/26\n2001:db8:a::/47\n"},
		{"aws --no-aggregate --service AMAZON --service EC2 --region us-east-1 " + feed("ip-ranges.json"),
			"# aws, service AMAZON or EC2, region us-east-1: 4 blocks from ip-ranges.json, published as 2026-01-01-00-00-00\n" +
				"# 3 blocks, without doubles\n192.0.2.0/25\n192.0.2.128/25\n2001:db8:b::/48\n"},
		{"azure --tag AzureCloud.westeurope " + feed("ServiceTags_Public_20260105.json"),
			"# azure, tag AzureCloud.westeurope: 1 block from ServiceTags_Public_20260105.json, published as change 384\n# 1 block, merged\n198.51.100.0/26\n"},
		{"cloudflare " + feed("ips-v6") + " " + feed("ips-v4"), "# cloudflare: 2 blocks from ips-v6\n# cloudflare: 2 blocks from ips-v4\n" +
			"# 3 blocks, merged\n192.0.2.0/24\n198.51.100.0/24\n2001:db8:e::/47\n"},
	} {
		code, out, errs := once(t, nil, append([]string{"lists", "import", "--format"}, strings.Fields(tt.args)...)...)
		if diff := cmp.Diff(tt.want, out); code != 0 || errs != "" || diff != "" {
			t.Errorf("%s: %d, %s (-want +got):\n%s", tt.args, code, errs, diff)
		}
		if code, out, errs := once(t, nil, "lists", "check", write(t, "list.txt", out)); code != 0 {
			t.Errorf("%s: the list is refused: %s%s", tt.args, out, errs)
		}
	}
	code, out, _ := once(t, nil, "lists", "import", "--json", "--format", "tor", feed("exit-addresses"))
	var v struct {
		Format string
		Read   int
		Blocks []string
	}
	if err := json.Unmarshal([]byte(out), &v); err != nil || code != 0 || v.Format != "tor" || v.Read != 3 || len(v.Blocks) != 2 || v.Blocks[0] != "192.0.2.4/31" {
		t.Errorf("as JSON: %d, %v in %s", code, err, out)
	}
}

// A file name in the comment must not begin a block.
func TestNamesOfInputsStayInTheirComment(t *testing.T) {
	code, out, _ := once(t, nil, "lists", "import", "--format", "plain", write(t, "a\n0.0.0.0", "192.0.2.0/24\n"))
	if code != 0 || out != "# plain: 1 block from \"a\\n0.0.0.0\"\n# 1 block, merged\n192.0.2.0/24\n" {
		t.Errorf("%d, %q", code, out)
	}
}

func TestWrongImports(t *testing.T) {
	bad := write(t, "bad.txt", "192.0.2.0/24\nx\n")
	all4, all6 := write(t, "4.txt", "0.0.0.0/1\n128.0.0.0/2\n192.0.0.0/2\n"), write(t, "6.txt", "192.0.2.0/24\n::/0\n")
	for _, tt := range []struct {
		args, want string
		code       int
	}{
		{"", "lists import needs --format: aws, gcp, azure, oracle, cloudflare, tor or plain", exitUsage},
		{"--format csv", `not "csv"`, exitUsage},
		{"--format tor --service x", "the format tor has no --service", exitUsage},
		{"--format tor --json --output x", "choose one", exitUsage},
		{"--format plain " + bad, "the input is refused as plain\n" + bad + `: line 2: "x" is no address block`, exitFailure},
		{"--format aws " + bad, bad + ": line 1: is not JSON", exitFailure},
		{"--format aws --service EC9 " + feed("ip-ranges.json"), `nothing has the service "EC9", there is "AMAZON", "CLOUDFRONT", "EC2"`, exitFailure},
		{"--format plain " + all4, "its blocks together are all of 0.0.0.0/0", exitFailure},
		{"--format plain --no-aggregate " + all6, "its blocks together are all of ::/0", exitFailure},
		{"--format plain " + filepath.Join(t.TempDir(), "none"), "no such file or directory", exitFailure},
	} {
		code, out, errs := once(t, nil, append([]string{"lists", "import"}, strings.Fields(tt.args)...)...)
		if code != tt.code || out != "" || !strings.Contains(errs, tt.want) {
			t.Errorf("%s: %d, %s%s\nwant %d, %s", tt.args, code, out, errs, tt.code, tt.want)
		}
	}
}

// A list that is in use is replaced in one step, or not at all.
func TestOutputIsReplacedOnlyWhenAllWentWell(t *testing.T) {
	dir := t.TempDir()
	list, alias := filepath.Join(dir, "hosting.txt"), filepath.Join(dir, "alias.txt")
	into := func(output, input string) (int, string, string) {
		return once(t, nil, "lists", "import", "--format", "plain", "--output", output, write(t, "in.txt", input))
	}
	content := func() string {
		data, err := os.ReadFile(list)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	code, out, errs := into(list, "192.0.2.0/24\n")
	if want := "# plain: 1 block from in.txt\n# 1 block, merged\n192.0.2.0/24\n"; code != 0 || content() != want || out != list+" is written, with 1 block\n" {
		t.Fatalf("%d, %s%s: %q", code, out, errs, content())
	}
	if info, err := os.Stat(list); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("a new list has the mode %v, %v", info.Mode(), err)
	}
	old := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := os.Chtimes(list, old, old); err != nil {
		t.Fatal(err)
	}
	if code, out, _ = into(list, "192.0.2.0/24\n"); code != 0 || out != list+" is as it was, with 1 block\n" {
		t.Errorf("the same again: %d, %s", code, out)
	}
	if info, err := os.Stat(list); err != nil || !info.ModTime().Equal(old) {
		t.Errorf("the same again is written again: %v, %v", info.ModTime(), err)
	}
	before := content()
	for _, input := range []string{"", "# empty\n", "192.0.2.0/24\n<html>\n"} {
		if code, _, _ := into(list, input); code != exitFailure || content() != before {
			t.Errorf("%q: %d, the list is now %q", input, code, content())
		}
	}
	if err := os.Chmod(list, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("hosting.txt", alias); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := into(alias, "198.51.100.0/24\n"); code != 0 || !strings.HasSuffix(content(), "\n198.51.100.0/24\n") {
		t.Errorf("through a link: %d, %s: %q", code, errs, content())
	}
	if info, err := os.Lstat(alias); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(list); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is now %v, %v", info.Mode(), err)
	}
	if code, _, errs := into(dir, "192.0.2.0/24\n"); code != exitFailure || !strings.Contains(errs, "is not a regular file") {
		t.Errorf("a folder: %d, %s", code, errs)
	}
	if code, _, errs := into(filepath.Join(dir, "none", "x"), "192.0.2.0/24\n"); code != exitFailure || !strings.Contains(errs, "--output: ") {
		t.Errorf("no folder: %d, %s", code, errs)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// The imports that the manual shows run on the samples, under the names that
// the downloads beside them have.
func TestImportsOfTheManualRun(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "networks.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("feeds", "testdata"))); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	ran := map[string]bool{}
	for _, line := range strings.Split(string(page), "\n") {
		_, command, ok := strings.Cut(line, "loginguard lists import --format ")
		if !ok {
			continue
		}
		command, _, _ = strings.Cut(command, "`")
		words := strings.Fields(command)
		code, out, errs := once(t, nil, append([]string{"lists", "import", "--format"}, words...)...)
		if code != 0 || errs != "" {
			t.Errorf("%s: %d, %s%s", command, code, out, errs)
		}
		ran[words[0]] = true
	}
	if len(ran) != 7 {
		t.Errorf("the page imports %v, want all seven formats", ran)
	}
}
