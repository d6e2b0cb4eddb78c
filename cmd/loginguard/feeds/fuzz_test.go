package feeds

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loginguard/netprefix"
)

// fuzz holds a parser to what all promise: it ends, and gives either an error
// that fits on a terminal or blocks that a list file takes and gives back.
func fuzz(f *testing.F, name string, samples ...string) {
	format, _ := Find(name)
	for _, s := range samples {
		data, err := os.ReadFile(filepath.Join("testdata", s))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("\ufeff"))
	f.Add([]byte("192.0.2.1 # \r\n;\n::ffff:192.0.2.0/120"))
	list := filepath.Join(f.TempDir(), "list.txt")
	f.Fuzz(func(t *testing.T, data []byte) {
		feed, err := format.Parse(strings.NewReader(string(data)), Filter{})
		if err != nil {
			if n := strings.Count(err.Error(), "\n"); n > maxFaults {
				t.Fatalf("%d lines of errors", n)
			}
			if strings.ContainsFunc(err.Error(), func(c rune) bool { return c < ' ' && c != '\n' || c == 0x7f }) {
				t.Fatalf("an error with control characters: %q", err)
			}
			return
		}
		if len(feed.Blocks) == 0 {
			t.Fatal("neither a block nor an error")
		}
		var b strings.Builder
		b.WriteString("# " + feed.Published + "\n")
		if err := netprefix.WriteList(&b, feed.Blocks); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(list, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		back, err := netprefix.ReadList(list)
		if err != nil {
			t.Fatalf("the list cannot be read: %v", err)
		}
		if len(back) != len(feed.Blocks) {
			t.Fatalf("%d blocks written, %d read", len(feed.Blocks), len(back))
		}
		for i := range back {
			if back[i] != feed.Blocks[i] {
				t.Fatalf("wrote %s, read %s", feed.Blocks[i], back[i])
			}
		}
	})
}

func FuzzAWS(f *testing.F)    { fuzz(f, "aws", "ip-ranges.json") }
func FuzzGoogle(f *testing.F) { fuzz(f, "gcp", "cloud.json") }
func FuzzAzure(f *testing.F)  { fuzz(f, "azure", "ServiceTags_Public_20260105.json") }
func FuzzOracle(f *testing.F) { fuzz(f, "oracle", "public_ip_ranges.json") }
func FuzzCloudflare(f *testing.F) {
	fuzz(f, "cloudflare", "ips-v4", "ips-v6", "cloudflare.json")
}
func FuzzTor(f *testing.F)   { fuzz(f, "tor", "torbulkexitlist", "exit-addresses") }
func FuzzPlain(f *testing.F) { fuzz(f, "plain", "level1.netset", "drop.txt") }
