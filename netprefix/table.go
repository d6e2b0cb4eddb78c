package netprefix

import (
	"net/netip"
	"regexp"
	"slices"
)

// TableConfig says which networks exist. The zero value has the default levels and the pool
// "shared".
type TableConfig struct {
	// Prefix lengths of the levels: from 8 to 32 for IPv4 and 32 to 128 for IPv6, each level with
	// fewer bits than the finer one. All three zero: 32/64, none/56, 24/48.
	Host, Site, Subnet LevelBits

	Exempt, Hosting Blocks
	Pools           []NamedBlocks // each is one network, however many blocks it has
	// Unnamed are pools without names: overlapping and adjacent blocks are merged, and each
	// contiguous range is one pool, named by the CIDR block it is, or begins with when it takes
	// several blocks to write it.
	Unnamed Blocks

	Trusted []string // trusted proxies, never exempt: their failures are those of everybody behind them
}

// NamedBlocks is a pool with a name of 1 to 64 characters, [a-z0-9][a-z0-9_.-]*.
type NamedBlocks struct {
	Name string
	Blocks
}

// sharedPool is the name of the pool that exists without being configured.
const sharedPool = "shared"

// sharedBlock is the address space for carrier-grade NAT (RFC 6598).
var sharedBlock = netip.MustParsePrefix("100.64.0.0/10")

var poolName = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]{0,63}$`)

// Table classifies addresses. It is immutable and safe for concurrent use.
type Table struct {
	index   *index
	v4, v6  ladder
	trusted spans
	files   []string
	pools   map[string]bool
}

// NewTable reads all list files and builds the table: 50,000 blocks take some tenths of a second.
// The error is [Errors] and names every fault: blocks that cannot be read, by configuration key or
// file and line; files that cannot be read or exceed 64 MiB or 2 million lines; one block in two
// classes or two pools; names and levels. A block listed twice in the same class is no fault.
//
// 100.64.0.0/10 becomes the pool "shared" unless that block is listed in any class.
func NewTable(c TableConfig) (*Table, error) {
	var faults collector
	t := &Table{pools: make(map[string]bool)}
	t.v4, t.v6 = newLadders(c, &faults)
	t.trusted = trustedSpans(c.Trusted, &faults)

	b := newBuilder()
	all := newRegistry()
	// add enters the blocks of one class or pool.
	add := func(list []block, label string, m match) {
		meaning := b.meaning(m)
		for _, listed := range list {
			if all.claim(listed, label, &faults) {
				b.insert(listed.prefix, meaning)
			}
		}
	}

	exempt := c.Exempt.read(keysBelow("networks.exempt"), &faults)
	var prefixes []netip.Prefix
	for _, b := range exempt {
		prefixes = append(prefixes, b.prefix)
	}
	for _, s := range mergeBlocks(prefixes) {
		if s.everything() {
			faults.addf("networks.exempt", "the blocks together cover every %s address: no network would have a limit", family(s.first))
		}
	}
	add(exempt, "networks.exempt", match{class: Exempt})
	t.addFiles(c.Exempt.Files)
	for i, p := range c.Pools {
		path := indexed("networks.pools", i)
		list := p.read(keysBelow(path), &faults)
		t.addName(path, p, list, &faults)
		add(list, path, match{InPool, p.Name})
		t.addFiles(p.Files)
	}
	unnamed := c.Unnamed.read(keys{"networks.pool_cidrs", "networks.pool_files"}, &faults)
	for _, pool := range mergePools(unnamed) {
		t.pools[pool.name] = true
		add(pool.blocks, "networks.pool_files", match{InPool, pool.name})
	}
	// The blocks as written have to be nobody else's either, although they were merged.
	for _, listed := range unnamed {
		all.claim(listed, "networks.pool_files", &faults)
	}
	t.addFiles(c.Unnamed.Files)
	add(c.Hosting.read(keysBelow("networks.hosting"), &faults), "networks.hosting", match{class: Hosting})
	t.addFiles(c.Hosting.Files)
	if !all.has(sharedBlock) {
		t.pools[sharedPool] = true
		add([]block{{prefix: sharedBlock, path: "networks.pools"}}, "the pool "+sharedPool, match{InPool, sharedPool})
	}

	if err := faults.err(); err != nil {
		return nil, err
	}
	var err error
	if t.index, err = b.build(); err != nil {
		return nil, Errors{{Path: "networks", Msg: err.Error()}}
	}
	return t, nil
}

// addName checks the name of a pool and that it has somewhere to take blocks from.
func (t *Table) addName(path string, p NamedBlocks, list []block, faults *collector) {
	has := func(b block) bool { return b.prefix == sharedBlock }
	switch {
	case !poolName.MatchString(p.Name):
		faults.addf(path+".name", "%q is no name: want 1 to 64 of a-z 0-9 _ . - and a letter or digit first", clip(p.Name))
	case t.pools[p.Name]:
		faults.addf(path+".name", "%q names two pools", p.Name)
	case p.Name == sharedPool && !slices.ContainsFunc(list, has):
		faults.addf(path+".name", "%q is the pool of %s: list that block here too, or choose another name", p.Name, sharedBlock)
	}
	if len(p.CIDRs) == 0 && len(p.Files) == 0 {
		faults.addf(path, "has neither cidrs nor files")
	}
	t.pools[p.Name] = true
}

func (t *Table) addFiles(names []string) {
	for _, name := range names {
		if !slices.Contains(t.files, name) {
			t.files = append(t.files, name)
		}
	}
}

// mergedPool is one contiguous range of unnamed blocks.
type mergedPool struct {
	name   string
	blocks []block // the fewest, each with the place of a listed block that it grew from
}

// mergePools aggregates unnamed blocks. A range that takes several CIDR blocks to write is still
// one pool; it is named by the first of them, which no other pool can begin with.
func mergePools(list []block) []mergedPool {
	prefixes := make([]netip.Prefix, len(list))
	for i, b := range list {
		prefixes[i] = b.prefix
	}
	ranges := mergeBlocks(prefixes)
	origin := make([]int, len(ranges))
	for i := len(list) - 1; i >= 0; i-- {
		origin[ranges.find(list[i].prefix.Addr())] = i
	}
	pools := make([]mergedPool, len(ranges))
	for i, r := range ranges {
		for _, p := range r.blocks() {
			merged := list[origin[i]]
			merged.prefix = p
			pools[i].blocks = append(pools[i].blocks, merged)
		}
		pools[i].name = pools[i].blocks[0].prefix.String()
	}
	return pools
}

// Classify gives the class of the longest listed block around a, and the networks a counts
// towards, from fine to coarse: host and pool in a pool, otherwise host, site and subnet as far as
// the family has them. a may be IPv4-mapped and may have a zone. The zero Addr has no networks.
//
// A trusted proxy is never exempt: when a header cannot be read the proxy stands for all clients
// behind it, and those must not lose every limit at once.
func (t *Table) Classify(a netip.Addr) (Class, []Network) {
	if !a.IsValid() {
		return None, nil
	}
	a = canonical(a)
	m := t.index.lookup(a)
	if m.class == Exempt && t.trusted.contains(a) {
		m.class = None
	}
	levels := t.v6
	if a.Is4() {
		levels = t.v4
	}
	return m.class, levels.networks(a, m.pool)
}

// Files are the list files that were read, each once, in the order of the configuration.
func (t *Table) Files() []string { return slices.Clone(t.files) }

// Pool reports whether a pool of that name exists, one without a name included (then the name is
// a CIDR block).
func (t *Table) Pool(name string) bool { return t.pools[name] }
