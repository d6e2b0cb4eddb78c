package netprefix

import "net/netip"

// Level says how wide a network is. The numbers ascend from fine to coarse.
type Level uint8

// The levels. A site exists for IPv6 only by default: it is what providers give to one customer.
const (
	Host   Level = iota + 1 // one machine, or for IPv6 one link (/64)
	Site                    // one customer's network (/56)
	Subnet                  // a neighbourhood of customers (/24, /48)
	Pool                    // the blocks a carrier puts many customers behind, in place of site and subnet
)

// String is the word used in configuration, metrics and answers.
func (l Level) String() string {
	switch l {
	case Host:
		return "host"
	case Site:
		return "site"
	case Subnet:
		return "subnet"
	case Pool:
		return "pool"
	}
	return "unknown"
}

// Class is what kind of block an address is in.
type Class uint8

// The classes. The zero value is an ordinary address.
const (
	None    Class = iota
	Exempt        // health checks and internal callers: no network limits
	InPool        // carrier-grade NAT: many people behind few addresses
	Hosting       // data centres and VPN exits: few people
)

// String is the word used in configuration, metrics and answers.
func (c Class) String() string {
	switch c {
	case None:
		return "none"
	case Exempt:
		return "exempt"
	case InPool:
		return "pool"
	case Hosting:
		return "hosting"
	}
	return "unknown"
}

// Network is an aggregate of addresses that share limits.
type Network struct {
	Level Level
	// Name is unique within its level: the name of a named pool, otherwise a CIDR block in
	// canonical form (203.0.113.9/32, 2001:db8:1:2::/64). It contains no braces and no blanks.
	Name string
}

// LevelBits are the prefix lengths of one level. 0 means that the family has no such level.
type LevelBits struct{ IPv4, IPv6 int }

// The default lengths. /64 is one link, the least that IPv6 hands out, and a host picks freely
// within it (RFC 4291, 2.5.1; RFC 8981). Customers get a /56 to a /48 (RFC 6177; RIPE-690).
var (
	defaultHost   = LevelBits{IPv4: 32, IPv6: 64}
	defaultSite   = LevelBits{IPv6: 56}
	defaultSubnet = LevelBits{IPv4: 24, IPv6: 48}
)

// The bounds of a level: wider than these, a network is no longer one party's.
const (
	minBits4, maxBits4 = 8, 32
	minBits6, maxBits6 = 32, 128
)

// levelLength is one level of one family.
type levelLength struct {
	level Level
	bits  int
}

// ladder are the levels of one family, from fine to coarse.
type ladder []levelLength

// newLadders checks the lengths and gives the levels of each family.
func newLadders(c TableConfig, faults *collector) (v4, v6 ladder) {
	host, site, subnet := c.Host, c.Site, c.Subnet
	if (host == LevelBits{}) && (site == LevelBits{}) && (subnet == LevelBits{}) {
		host, site, subnet = defaultHost, defaultSite, defaultSubnet
	}
	v4 = newLadder("ipv4", [3]int{host.IPv4, site.IPv4, subnet.IPv4}, minBits4, maxBits4, faults)
	v6 = newLadder("ipv6", [3]int{host.IPv6, site.IPv6, subnet.IPv6}, minBits6, maxBits6, faults)
	return v4, v6
}

func newLadder(family string, bits [3]int, least, most int, faults *collector) ladder {
	var l ladder
	for i, level := range []Level{Host, Site, Subnet} {
		n := bits[i]
		path := "limits.network." + level.String() + "." + family
		switch {
		case n == 0:
			continue
		case n < least || n > most:
			faults.addf(path, "%d is out of range: want %d to %d, or 0 for no such level", n, least, most)
		case len(l) > 0 && n >= l[len(l)-1].bits:
			finer := l[len(l)-1]
			faults.addf(path, "%d is not coarser than %s with %d: a wider network has fewer bits", n, finer.level, finer.bits)
		default:
			l = append(l, levelLength{level, n})
		}
	}
	if bits == [3]int{} {
		faults.addf("limits.network.host."+family, "no level has a length: %s addresses would have no network limit", family)
	}
	return l
}

// networks gives the networks of an address: all levels, or with a pool the host and the pool.
// All names share one string, since this runs on every attempt: two allocations in total.
func (l ladder) networks(a netip.Addr, pool string) []Network {
	var (
		buf  [3 * 48]byte // an IPv6 block has at most 43 characters
		text = buf[:0]
		ends [3]int
		used ladder
	)
	for _, step := range l {
		if pool != "" && step.level != Host {
			break
		}
		block, err := a.Prefix(step.bits)
		if err != nil {
			break // lengths were checked for this family; never reached
		}
		text = block.AppendTo(text)
		ends[len(used)] = len(text)
		used = l[:len(used)+1]
	}
	names := string(text)
	list := make([]Network, 0, len(used)+1)
	begin := 0
	for i, step := range used {
		list = append(list, Network{step.level, names[begin:ends[i]]})
		begin = ends[i]
	}
	if pool != "" {
		list = append(list, Network{Pool, pool})
	}
	return list
}
