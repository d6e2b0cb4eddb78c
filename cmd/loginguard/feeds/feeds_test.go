package feeds

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// parse reads a document and gives its blocks as text.
func parse(t testing.TB, format, document string, filter Filter) (Feed, string, error) {
	t.Helper()
	f, ok := Find(format)
	if !ok {
		t.Fatalf("there is no format %q", format)
	}
	feed, err := f.Parse(strings.NewReader(document), filter)
	texts := make([]string, len(feed.Blocks))
	for i, p := range feed.Blocks {
		texts[i] = p.String()
	}
	return feed, strings.Join(texts, " "), err
}

func sample(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// One document of each kind, as its provider documents it.
func TestEveryFormatIsRead(t *testing.T) {
	for _, tt := range []struct {
		format, file    string
		filter          Filter
		want, published string
	}{
		{"aws", "ip-ranges.json", Filter{},
			"192.0.2.0/25 192.0.2.128/25 198.51.100.0/24 192.0.2.0/25 203.0.113.0/26 2001:db8:a::/48 2001:db8:b::/48", "2026-01-01-00-00-00"},
		{"aws", "ip-ranges.json", Filter{Services: []string{"EC2"}}, "192.0.2.0/25 203.0.113.0/26 2001:db8:a::/48", "2026-01-01-00-00-00"},
		{"aws", "ip-ranges.json", Filter{Services: []string{"EC2", "CLOUDFRONT"}, Regions: []string{"eu-west-1", "GLOBAL"}},
			"198.51.100.0/24 203.0.113.0/26 2001:db8:a::/48", "2026-01-01-00-00-00"},
		{"gcp", "cloud.json", Filter{}, "192.0.2.0/24 198.51.100.0/25 2001:db8:c::/48", "2026-01-01T00:00:00.000000"},
		{"gcp", "cloud.json", Filter{Services: []string{"Google Cloud"}, Regions: []string{"us-central1"}},
			"198.51.100.0/25 2001:db8:c::/48", "2026-01-01T00:00:00.000000"},
		{"azure", "ServiceTags_Public_20260105.json", Filter{}, "192.0.2.0/24 198.51.100.0/26 2001:db8:d::/48 198.51.100.0/26 203.0.113.64/28", "change 384"},
		{"azure", "ServiceTags_Public_20260105.json", Filter{Tags: []string{"AzureCloud"}}, "192.0.2.0/24 198.51.100.0/26 2001:db8:d::/48", "change 384"},
		{"oracle", "public_ip_ranges.json", Filter{}, "192.0.2.0/25 198.51.100.0/27 203.0.113.0/25", "2026-01-01T00:00:00.000000"},
		{"oracle", "public_ip_ranges.json", Filter{Regions: []string{"eu-frankfurt-1"}, Tags: []string{"OCI"}}, "192.0.2.0/25", "2026-01-01T00:00:00.000000"},
		{"cloudflare", "ips-v4", Filter{}, "192.0.2.0/24 198.51.100.0/24", ""},
		{"cloudflare", "ips-v6", Filter{}, "2001:db8:e::/48 2001:db8:f::/48", ""},
		{"cloudflare", "cloudflare.json", Filter{}, "192.0.2.0/24 198.51.100.0/24 2001:db8:e::/48", ""},
		{"tor", "torbulkexitlist", Filter{}, "192.0.2.4/32 192.0.2.5/32 203.0.113.77/32", ""},
		{"tor", "exit-addresses", Filter{}, "192.0.2.4/32 192.0.2.5/32 203.0.113.77/32", ""},
		{"plain", "level1.netset", Filter{}, "192.0.2.0/24 203.0.113.77/32", ""},
		{"plain", "drop.txt", Filter{}, "192.0.2.0/24 198.51.100.0/24", ""},
	} {
		feed, got, err := parse(t, tt.format, sample(t, tt.file), tt.filter)
		if err != nil || got != tt.want || feed.Published != tt.published {
			t.Errorf("%s %s %v: %q of %q, %v\nwant %q of %q", tt.format, tt.file, tt.filter, got, feed.Published, err, tt.want, tt.published)
		}
	}
}

func TestEveryFaultHasItsPlace(t *testing.T) {
	for _, tt := range []struct{ format, document, want string }{
		{"aws", "{\n\"prefixes\": [\n", "line 3: is not JSON: unexpected end of JSON input"},
		{"aws", "{\"prefixes\": [],\n\"ipv6_prefixes\": []} x", "line 2: is not JSON: invalid character 'x' after top-level value"},
		{"aws", "", "line 1: is not JSON: unexpected end of JSON input"},
		{"aws", `[]`, "line 1: the document must be an object, and is array"},
		{"aws", "{\"prefixes\":\n[{\"ip_prefix\": 1}]}", "line 2: prefixes.ip_prefix must be a string, and is number"},
		{"aws", `{"prefixes": {}, "ipv6_prefixes": []}`, "line 1: prefixes must be a list, and is object"},
		{"aws", `{"prefixes": []}`, `has no list "ipv6_prefixes": it is not ip-ranges.json of Amazon Web Services`},
		{"aws", `{"prefixes": [], "ipv6_prefixes": null}`, `has no list "ipv6_prefixes": it is not ip-ranges.json of Amazon Web Services`},
		{"aws", `{"prefixes": [], "ipv6_prefixes": []}`, "has no block to keep"},
		{"aws", `{"prefixes": [{"ip_prefix": "192.0.2.1/24"}], "ipv6_prefixes": []}`,
			`prefixes[0].ip_prefix: "192.0.2.1/24" has host bits set: write 192.0.2.0/24 for the block, or the address without a length`},
		{"aws", `{"prefixes": [{"ip_prefix": "192.0.2.0/24"}, {"ipv6_prefix": "2001:db8::/32"}], "ipv6_prefixes": []}`, "prefixes[1]: has no ip_prefix"},
		{"aws", "{\"prefixes\": [],\n \"ipv6_prefixes\": [], \"a\": {\"b\": [0, {\"c\": 1,\n\"c\": 2}]}}", "line 3: a.b[1].c is there twice"},
		{"aws", "{\"prefixes\": [],\n \"prefixes\": [], \"ipv6_prefixes\": []}", "line 2: prefixes is there twice"},
		{"gcp", `{"prefixes": [{"scope": "x"}]}`, "prefixes[0]: has neither ipv4Prefix nor ipv6Prefix"},
		{"gcp", `{}`, `has no list "prefixes": it is not cloud.json of Google`},
		{"azure", `{}`, `has no list "values": it is not the ServiceTags file of Microsoft Azure`},
		{"azure", `{"values": [{"name": "AzureCloud"}]}`, "values[0].properties.addressPrefixes: is missing"},
		{"azure", `{"values": [{"name": "A", "properties": {"addressPrefixes": ["192.0.2.0/24", "nope"]}}]}`,
			`values[0].properties.addressPrefixes[1]: "nope" is no address block: want one such as 203.0.113.0/24 or 2001:db8::/32, or one address`},
		{"oracle", `{}`, `has no list "regions": it is not public_ip_ranges.json of Oracle Cloud`},
		{"oracle", `{"regions": [{"region": "a"}]}`, "regions[0].cidrs: is missing"},
		{"oracle", `{"regions": [{"region": "a", "cidrs": [{}]}]}`, "regions[0].cidrs[0]: has no cidr"},
		{"cloudflare", `{"success": false, "errors": []}`, "success: is false: this is an error, not a list"},
		{"cloudflare", `{"result": {"ipv4_cidrs": ["192.0.2.0/24"]}}`, `has no list "result.ipv6_cidrs": it is not the answer of Cloudflare's API`},
		// Two downloads put together without a line end between them.
		{"cloudflare", "192.0.2.0/24\n198.51.100.0/242001:db8::/32",
			`line 2: "198.51.100.0/242001:db8::/32" is no address block: want one such as 203.0.113.0/24 or 2001:db8::/32, or one address`},
		{"tor", "192.0.2.4\n192.0.2.0/24\n", `line 2: "192.0.2.0/24" is neither an address nor a line of an exit list`},
		{"tor", "ExitAddress 192.0.2.4\n", "line 1: want ExitAddress, an address, a date and a time"},
		{"tor", "<html>\n", `line 1: "<html>" is neither an address nor a line of an exit list`},
		{"tor", "ExitNode 0011BD2485AD45D984EC4159C88FC066E5E3300E\n", "has no block to keep"},
		{"plain", "# nothing\n\n", "has no block to keep"},
		{"plain", "192.0.2.0/24\n" + strings.Repeat("x", maxLine+1), "line 2: is longer than 65536 bytes"},
	} {
		if _, _, err := parse(t, tt.format, tt.document, Filter{}); err == nil || err.Error() != tt.want {
			t.Errorf("%s %.80q: %v\nwant %s", tt.format, tt.document, err, tt.want)
		}
	}
}

func TestFiltersThatMeetNothingAreRefused(t *testing.T) {
	for _, tt := range []struct {
		format, file string
		filter       Filter
		want         string
	}{
		{"aws", "ip-ranges.json", Filter{Services: []string{"EC2", "EC3"}}, `nothing has the service "EC3", there is "AMAZON", "CLOUDFRONT"`},
		{"aws", "ip-ranges.json", Filter{Services: []string{"cloudfront"}}, `nothing has the service "cloudfront", there is "CLOUDFRONT"`},
		{"aws", "ip-ranges.json", Filter{Regions: []string{"eu-west-9"}}, `nothing has the region "eu-west-9", there is "eu-west-1"`},
		{"aws", "ip-ranges.json", Filter{Services: []string{"CLOUDFRONT"}, Regions: []string{"eu-west-1"}}, "has no block to keep"},
		{"aws", "ip-ranges.json", Filter{Tags: []string{"x"}}, "the format aws has no tag to choose by"},
		{"azure", "ServiceTags_Public_20260105.json", Filter{Tags: []string{"AzureClod"}}, `nothing has the tag "AzureClod", there is "AzureCloud", "AzureCloud.westeurope", "AzureFrontDoor.Backend"`},
		{"oracle", "public_ip_ranges.json", Filter{Tags: []string{"oci"}}, `nothing has the tag "oci", there is "OCI"`},
		{"plain", "level1.netset", Filter{Regions: []string{"x"}}, "the format plain has no region to choose by"},
	} {
		if _, _, err := parse(t, tt.format, sample(t, tt.file), tt.filter); err == nil || err.Error() != tt.want {
			t.Errorf("%s %v: %v\nwant %s", tt.format, tt.filter, err, tt.want)
		}
	}
}

func TestFaultsAreCountedBeyondTwenty(t *testing.T) {
	_, _, err := parse(t, "plain", strings.Repeat("x\n", 50), Filter{})
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != maxFaults+1 || lines[maxFaults] != "and 30 more" {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}

// What a provider calls its version comes to stand in a comment: a line break in
// it would list blocks of anybody's choice.
func TestPublishedCannotEndAComment(t *testing.T) {
	document := `{"createDate": "2026\n0.0.0.0/0\r\u2028#", "prefixes": [{"ip_prefix": "192.0.2.0/24"}], "ipv6_prefixes": []}`
	feed, _, err := parse(t, "aws", document, Filter{})
	if err != nil || feed.Published != "20260.0.0.00" {
		t.Errorf("published %q, %v", feed.Published, err)
	}
	document = strings.Replace(document, "2026", strings.Repeat("2026", 100), 1)
	if feed, _, err = parse(t, "aws", document, Filter{}); err != nil || len(feed.Published) != 64 {
		t.Errorf("published has %d bytes, %v", len(feed.Published), err)
	}
}

func TestDocumentsAreBounded(t *testing.T) {
	f, _ := Find("plain")
	endless := iotest.DataErrReader(repeater{})
	if _, err := f.Parse(endless, Filter{}); err == nil || err.Error() != "is larger than 64 MiB" {
		t.Errorf("an endless document: %v", err)
	}
	broken := errors.New("unplugged")
	if _, err := f.Parse(iotest.ErrReader(broken), Filter{}); !errors.Is(err, broken) {
		t.Errorf("a broken one: %v", err)
	}
	if _, _, err := parse(t, "plain", strings.Repeat("192.0.2.1\n", maxBlocks+1), Filter{}); err == nil ||
		err.Error() != "line 1000001: is one of more than 1000000 blocks" {
		t.Errorf("a block too many: %v", err)
	}
}

// repeater is a document without an end.
type repeater struct{}

func (repeater) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '#'
	}
	return len(p), nil
}

func TestFormatsAreListed(t *testing.T) {
	var names []string
	for _, f := range Formats() {
		names = append(names, f.Name)
		if f.About == "" {
			t.Errorf("%s says nothing about itself", f.Name)
		}
	}
	if diff := cmp.Diff([]string{"aws", "gcp", "azure", "oracle", "cloudflare", "tor", "plain"}, names); diff != "" {
		t.Errorf("formats (-want +got):\n%s", diff)
	}
	if _, ok := Find("csv"); ok {
		t.Error("there is a format csv")
	}
	if aws, _ := Find("aws"); !aws.Knows("service") || aws.Knows("tag") || !slices.Contains(aws.Filters, "region") {
		t.Error("aws has other filters than service and region")
	}
}
