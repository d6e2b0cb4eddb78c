package feeds

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"

	"loginguard/netprefix"
)

// Bounds of a document. The largest that providers publish are a few megabytes
// and some ten thousand blocks.
const (
	maxBytes  = 64 << 20
	maxBlocks = 1_000_000
	maxFaults = 20 // that are listed; the rest is counted
)

// Filter keeps a part of a feed. Each list keeps what equals one of its words,
// byte for byte; an empty one keeps all. A format knows some of the three, see
// [Format.Filters].
type Filter struct {
	Services []string // aws: EC2; gcp: Google Cloud
	Regions  []string // aws and oracle: us-east-1; gcp: its scope
	Tags     []string // azure: the name of a service tag; oracle: OCI
}

// Feed is what a document says.
type Feed struct {
	// Published is when, or as which version, the provider published it, in
	// its own notation, reduced to letters, digits and a few signs; "" when the
	// document does not say.
	Published string
	// Blocks are those that the filter keeps, in the order of the document,
	// some of them perhaps twice. There is at least one.
	Blocks []netip.Prefix
}

// Format is one kind of document.
type Format struct {
	Name    string
	About   string   // what it is, for the help
	Filters []string // which of service, region and tag it knows
	parse   func(data []byte, k *keeper)
}

// formats are in the order in which help shows them.
var formats = []Format{
	{"aws", "ip-ranges.json of Amazon Web Services", []string{"service", "region"}, parseAWS},
	{"gcp", "cloud.json or goog.json of Google", []string{"service", "region"}, parseGoogle},
	{"azure", "ServiceTags_*.json of Microsoft Azure", []string{"tag"}, parseAzure},
	{"oracle", "public_ip_ranges.json of Oracle Cloud", []string{"region", "tag"}, parseOracle},
	{"cloudflare", "ips-v4, ips-v6, or the JSON of api.cloudflare.com/client/v4/ips", nil, parseCloudflare},
	{"tor", "torbulkexitlist, or exit-addresses with its ExitAddress lines", nil, parseTor},
	{"plain", "one block or address a line, # or ; begins a comment: FireHOL's netsets and most others", nil, parsePlain},
}

// Formats returns all formats.
func Formats() []Format { return slices.Clone(formats) }

// Find returns the format of a name.
func Find(name string) (Format, bool) {
	i := slices.IndexFunc(formats, func(f Format) bool { return f.Name == name })
	if i < 0 {
		return Format{}, false
	}
	return formats[i], true
}

// Knows reports whether the format has something that a filter of that name,
// service, region or tag, can choose by.
func (f Format) Knows(filter string) bool { return slices.Contains(f.Filters, filter) }

// Parse reads one document of at most 64 MiB and a million blocks. The error
// has a line for each fault, at most twenty, each beginning with "line N: " or
// the path of a JSON value, such as "prefixes[3].ip_prefix: ", where there is
// one. A filter that the format does not know is an error.
func (f Format) Parse(r io.Reader, filter Filter) (Feed, error) {
	for name, words := range map[string][]string{"service": filter.Services, "region": filter.Regions, "tag": filter.Tags} {
		if len(words) > 0 && !f.Knows(name) {
			return Feed{}, fmt.Errorf("the format %s has no %s to choose by", f.Name, name)
		}
	}
	data, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	switch {
	case err != nil:
		return Feed{}, fmt.Errorf("cannot be read: %w", err)
	case len(data) > maxBytes:
		return Feed{}, fmt.Errorf("is larger than %d MiB", maxBytes>>20)
	}
	k := &keeper{services: newChoice("service", filter.Services), regions: newChoice("region", filter.Regions), tags: newChoice("tag", filter.Tags)}
	f.parse(data, k)
	return k.feed()
}

// keeper gathers what a parser finds.
type keeper struct {
	services, regions, tags *choice

	published string
	blocks    []netip.Prefix
	faults    []string
	more      int // faults beyond maxFaults
}

// fault notes that something is wrong at a place, "" for the whole document.
func (k *keeper) fault(at, format string, args ...any) {
	if len(k.faults) == maxFaults {
		k.more++
		return
	}
	msg := fmt.Sprintf(format, args...)
	if at != "" {
		msg = at + ": " + msg
	}
	k.faults = append(k.faults, msg)
}

// block notes a block. A million of them fill some 50 MB here; what is beyond
// is no feed, and is not kept.
func (k *keeper) block(at, text string) {
	p, err := netprefix.ParsePrefix(text)
	switch {
	case err != nil:
		k.fault(at, "%v", err)
	case len(k.blocks) == maxBlocks:
		k.fault(at, "is one of more than %d blocks", maxBlocks)
	default:
		k.blocks = append(k.blocks, p)
	}
}

// feed returns what was found, or all that is wrong.
func (k *keeper) feed() (Feed, error) {
	if len(k.faults) == 0 {
		for _, c := range []*choice{k.services, k.regions, k.tags} {
			if msg := c.missed(); msg != "" {
				k.fault("", "%s", msg)
			}
		}
	}
	if len(k.faults) == 0 && len(k.blocks) == 0 {
		k.fault("", "has no block to keep")
	}
	if k.more > 0 {
		k.faults = append(k.faults, fmt.Sprintf("and %d more", k.more))
	}
	if len(k.faults) > 0 {
		return Feed{}, errors.New(strings.Join(k.faults, "\n"))
	}
	return Feed{Published: k.published, Blocks: k.blocks}, nil
}

// publishedAs notes the provider's date or version. It comes to stand in a
// comment of a list file, where a line break would begin a block.
func (k *keeper) publishedAs(text string) {
	const most = 64
	text = strings.Map(func(c rune) rune {
		if c < 0x80 && (c == '.' || c == ':' || c == '-' || c == '+' || c == ' ' ||
			'0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z') {
			return c
		}
		return -1
	}, text)
	k.published = strings.TrimSpace(text[:min(len(text), most)])
}
