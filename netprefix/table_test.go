package netprefix

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNetworksByDefault(t *testing.T) {
	table := mustTable(t, TableConfig{})
	for in, want := range map[string]string{
		"203.0.113.9":             "none: host 203.0.113.9/32, subnet 203.0.113.0/24",
		"203.0.113.200":           "none: host 203.0.113.200/32, subnet 203.0.113.0/24",
		"::ffff:192.0.2.1":        "none: host 192.0.2.1/32, subnet 192.0.2.0/24",
		"::ffff:a00:1":            "none: host 10.0.0.1/32, subnet 10.0.0.0/24",
		"::ffff:172.16.0.1":       "none: host 172.16.0.1/32, subnet 172.16.0.0/24",
		"2001:db8:1:2::1":         "none: host 2001:db8:1:2::/64, site 2001:db8:1::/56, subnet 2001:db8:1::/48",
		"2001:db8:1:2:ffff::1":    "none: host 2001:db8:1:2::/64, site 2001:db8:1::/56, subnet 2001:db8:1::/48",
		"2001:db8:1:2::192.0.2.1": "none: host 2001:db8:1:2::/64, site 2001:db8:1::/56, subnet 2001:db8:1::/48",
		"2001:db8:1:1ff::1":       "none: host 2001:db8:1:1ff::/64, site 2001:db8:1:100::/56, subnet 2001:db8:1::/48",
		"2001:db8:1:200::1":       "none: host 2001:db8:1:200::/64, site 2001:db8:1:200::/56, subnet 2001:db8:1::/48",
		"fe80::1%eth0":            "none: host fe80::/64, site fe80::/56, subnet fe80::/48",
		"::1":                     "none: host ::/64, site ::/56, subnet ::/48",
		"255.255.255.255":         "none: host 255.255.255.255/32, subnet 255.255.255.0/24",
		"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff": "none: host ffff:ffff:ffff:ffff::/64, site ffff:ffff:ffff:ff00::/56, subnet ffff:ffff:ffff::/48",
		"100.64.0.0":      "pool: host 100.64.0.0/32, pool shared",
		"100.127.255.255": "pool: host 100.127.255.255/32, pool shared",
		"100.128.0.0":     "none: host 100.128.0.0/32, subnet 100.128.0.0/24",
	} {
		class, networks := table.Classify(addr(in))
		if got := class.String() + ": " + describe(networks); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
	if class, networks := table.Classify(netip.Addr{}); class != None || networks != nil {
		t.Errorf("the zero address is %s with %v", class, networks)
	}
}

// However many addresses of a /48 an attacker uses, they are one subnet and at most 256 sites.
func TestAddressesOfOneSubnetShareItsNetwork(t *testing.T) {
	table := mustTable(t, TableConfig{})
	seen := map[Network]bool{}
	a := addr("2001:db8:1::").As16()
	for i := range 65536 {
		a[6], a[7] = byte(i>>8), byte(i)
		_, networks := table.Classify(netip.AddrFrom16(a))
		for _, n := range networks {
			seen[n] = true
		}
	}
	count := map[Level]int{}
	for n := range seen {
		count[n.Level]++
	}
	if diff := cmp.Diff(map[Level]int{Host: 65536, Site: 256, Subnet: 1}, count); diff != "" {
		t.Error(diff)
	}
}

func TestConfiguredLevels(t *testing.T) {
	table := mustTable(t, TableConfig{
		Host: LevelBits{IPv4: 24, IPv6: 56}, Site: LevelBits{IPv4: 16}, Subnet: LevelBits{IPv6: 32},
		Pools: []NamedBlocks{{"carrier-a", Blocks{CIDRs: []string{"192.0.2.0/24", "2001:db8::/32"}}}},
	})
	for in, want := range map[string]string{
		"203.0.113.9":       "host 203.0.113.0/24, site 203.0.0.0/16",
		"2001:db9:1:1ff::1": "host 2001:db9:1:100::/56, subnet 2001:db9::/32",
		"192.0.2.1":         "host 192.0.2.0/24, pool carrier-a",
		"2001:db8:1:1ff::1": "host 2001:db8:1:100::/56, pool carrier-a",
	} {
		if _, networks := table.Classify(addr(in)); describe(networks) != want {
			t.Errorf("%s: %s, want %s", in, describe(networks), want)
		}
	}
	noHost := mustTable(t, TableConfig{Site: LevelBits{IPv4: 32, IPv6: 56}})
	if _, networks := noHost.Classify(addr("100.64.0.1")); describe(networks) != "pool shared" {
		t.Errorf("a pool without hosts: %s", describe(networks))
	}
}

func TestLongestMatchDecides(t *testing.T) {
	table := mustTable(t, TableConfig{
		Exempt:  Blocks{CIDRs: []string{"10.0.0.0/8", "192.0.2.77", "2001:db8:f::/48"}},
		Hosting: Blocks{CIDRs: []string{"192.0.2.0/24", "10.1.2.0/24", "2001:db8::/32", "2001:db8::/32"}},
		Pools: []NamedBlocks{
			{"carrier-a", Blocks{CIDRs: []string{"10.1.0.0/16", "198.51.100.0/24"}}},
			{"carrier.b_2", Blocks{CIDRs: []string{"198.51.100.128/25", "2001:db8:0:1::/64"}}},
		},
		Trusted: []string{"10.0.0.1", "10.1.0.1", "10.1.2.1"},
	})
	for in, want := range map[string]string{
		"10.2.0.1":            "exempt: host 10.2.0.1/32, subnet 10.2.0.0/24",
		"10.1.0.2":            "pool: host 10.1.0.2/32, pool carrier-a",
		"10.1.2.3":            "hosting: host 10.1.2.3/32, subnet 10.1.2.0/24",
		"10.0.0.1":            "none: host 10.0.0.1/32, subnet 10.0.0.0/24", // trusted, so not exempt
		"::ffff:10.0.0.1":     "none: host 10.0.0.1/32, subnet 10.0.0.0/24",
		"10.1.0.1":            "pool: host 10.1.0.1/32, pool carrier-a",
		"10.1.2.1":            "hosting: host 10.1.2.1/32, subnet 10.1.2.0/24",
		"192.0.2.76":          "hosting: host 192.0.2.76/32, subnet 192.0.2.0/24",
		"192.0.2.77":          "exempt: host 192.0.2.77/32, subnet 192.0.2.0/24",
		"192.0.2.78":          "hosting: host 192.0.2.78/32, subnet 192.0.2.0/24",
		"198.51.100.127":      "pool: host 198.51.100.127/32, pool carrier-a",
		"198.51.100.128":      "pool: host 198.51.100.128/32, pool carrier.b_2",
		"2001:db8:0:1::9":     "pool: host 2001:db8:0:1::/64, pool carrier.b_2",
		"2001:db8:f::9":       "exempt: host 2001:db8:f::/64, site 2001:db8:f::/56, subnet 2001:db8:f::/48",
		"2001:db8:e::9":       "hosting: host 2001:db8:e::/64, site 2001:db8:e::/56, subnet 2001:db8:e::/48",
		"100.64.1.1":          "pool: host 100.64.1.1/32, pool shared",
		"::ffff:100.64.1.1":   "pool: host 100.64.1.1/32, pool shared",
		"64:ff9b::100.64.1.1": "none: host 64:ff9b::/64, site 64:ff9b::/56, subnet 64:ff9b::/48",
	} {
		class, networks := table.Classify(addr(in))
		if got := class.String() + ": " + describe(networks); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
	for name, want := range map[string]bool{"carrier-a": true, "carrier.b_2": true, "shared": true, "other": false, "": false} {
		if table.Pool(name) != want {
			t.Errorf("Pool(%q) = %v", name, !want)
		}
	}
}

func TestUnnamedBlocksAreMerged(t *testing.T) {
	table := mustTable(t, TableConfig{
		Unnamed: Blocks{CIDRs: []string{
			"10.0.1.0/24", "10.0.0.0/24", "10.0.0.77", // one aligned block
			"192.0.2.64/26", "192.0.2.128/25", // one range that no block writes
			"192.0.3.1",              // not adjacent: 192.0.3.0 is missing
			"255.255.255.0/24", "::", // the end of IPv4 and the start of IPv6 are not neighbours
			"2001:db8::/33", "2001:db8:8000::/33",
		}},
		Hosting: Blocks{CIDRs: []string{"10.0.0.128/25"}},
	})
	for in, want := range map[string]string{
		"10.0.0.1": "10.0.0.0/23", "10.0.1.255": "10.0.0.0/23", "10.0.0.77": "10.0.0.0/23",
		"192.0.2.64": "192.0.2.64/26", "192.0.2.255": "192.0.2.64/26",
		"192.0.3.1": "192.0.3.1/32", "255.255.255.255": "255.255.255.0/24", "::": "::/128",
		"2001:db8:ffff::": "2001:db8::/32", "100.64.0.1": "shared",
		"10.0.0.200": "", "192.0.2.63": "", "192.0.3.0": "", "10.0.2.0": "",
	} {
		class, networks := table.Classify(addr(in))
		coarsest := networks[len(networks)-1]
		if want == "" {
			if class == InPool {
				t.Errorf("%s is in pool %s", in, coarsest.Name)
			}
			continue
		}
		if class != InPool || coarsest != (Network{Pool, want}) {
			t.Errorf("%s is %s with %v, want pool %s", in, class, networks, want)
		}
		if !table.Pool(want) {
			t.Errorf("Pool(%q) is false", want)
		}
	}
}

func TestSharedPoolGivesWay(t *testing.T) {
	block := Blocks{CIDRs: []string{"100.64.0.0/10"}}
	for _, tc := range []struct {
		name   string
		config TableConfig
		want   string
	}{
		{"to exempt", TableConfig{Exempt: block}, "exempt: host 100.64.0.1/32, subnet 100.64.0.0/24"},
		{"to hosting", TableConfig{Hosting: block}, "hosting: host 100.64.0.1/32, subnet 100.64.0.0/24"},
		{"to a named pool", TableConfig{Pools: []NamedBlocks{{"mine", block}}}, "pool: host 100.64.0.1/32, pool mine"},
		{"to a pool of its own name", TableConfig{Pools: []NamedBlocks{{"shared", block}}}, "pool: host 100.64.0.1/32, pool shared"},
		{"to an unnamed pool", TableConfig{Unnamed: block}, "pool: host 100.64.0.1/32, pool 100.64.0.0/10"},
		{"to an unnamed pool that merges into it", TableConfig{Unnamed: Blocks{CIDRs: []string{"100.64.0.0/11", "100.96.0.0/11"}}},
			"pool: host 100.64.0.1/32, pool 100.64.0.0/10"},
		{"to an unnamed pool that merges beyond it", TableConfig{Unnamed: Blocks{CIDRs: []string{"100.0.0.0/10", "100.64.0.0/10"}}},
			"pool: host 100.64.0.1/32, pool 100.0.0.0/9"},
		{"but not to a wider block", TableConfig{Hosting: Blocks{CIDRs: []string{"100.0.0.0/8"}}}, "pool: host 100.64.0.1/32, pool shared"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			class, networks := mustTable(t, tc.config).Classify(addr("100.64.0.1"))
			if got := class.String() + ": " + describe(networks); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestTableFaults(t *testing.T) {
	a := Blocks{CIDRs: []string{"192.0.2.0/24"}}
	named := func(name string, cidrs ...string) NamedBlocks { return NamedBlocks{name, Blocks{CIDRs: cidrs}} }
	for _, tc := range []struct {
		name   string
		config TableConfig
		want   []string
	}{
		{"two classes", TableConfig{Exempt: a, Hosting: a}, []string{
			"networks.hosting.cidrs[0]: 192.0.2.0/24 is listed in networks.hosting and, at networks.exempt.cidrs[0], in networks.exempt: one block can have one class and one pool"}},
		{"two pools", TableConfig{Pools: []NamedBlocks{named("a", "192.0.2.0/24"), named("b", "10.0.0.0/8", "192.0.2.0/24", "192.0.2.0/24")}}, []string{
			"networks.pools[1].cidrs[1]: 192.0.2.0/24 is listed in networks.pools[1] and, at networks.pools[0].cidrs[0], in networks.pools[0]: one block can have one class and one pool"}},
		{"a named and an unnamed pool", TableConfig{Pools: []NamedBlocks{named("a", "192.0.2.0/24")}, Unnamed: a}, []string{
			"networks.pool_cidrs[0]: 192.0.2.0/24 is listed in networks.pool_files and, at networks.pools[0].cidrs[0], in networks.pools[0]: one block can have one class and one pool"}},
		{"an unnamed block that was merged away", TableConfig{Unnamed: Blocks{CIDRs: []string{"192.0.2.0/24", "192.0.0.0/16"}}, Hosting: a}, []string{
			"networks.hosting.cidrs[0]: 192.0.2.0/24 is listed in networks.hosting and, at networks.pool_cidrs[0], in networks.pool_files: one block can have one class and one pool"}},
		{"a block that unnamed blocks merge into", TableConfig{Unnamed: Blocks{CIDRs: []string{"192.0.2.0/25", "192.0.2.128/25"}}, Hosting: a}, []string{
			"networks.hosting.cidrs[0]: 192.0.2.0/24 is listed in networks.hosting and, at networks.pool_cidrs[0], in networks.pool_files: one block can have one class and one pool"}},
		{"twice in one class is none", TableConfig{Hosting: Blocks{CIDRs: []string{"192.0.2.0/24", "::ffff:192.0.2.0/120"}}, Unnamed: Blocks{CIDRs: []string{"10.0.0.0/8", "10.0.0.0/8"}}}, nil},
		{"pool names", TableConfig{Pools: []NamedBlocks{named("a", "10.0.0.0/8"), named("a", "10.0.0.0/9"), named("", "10.0.0.0/10"),
			named("Carrier", "10.0.0.0/11"), named("a/b", "10.0.0.0/12"), named(strings.Repeat("x", 65), "10.0.0.0/13"), named("a\n", "10.0.0.0/14"), named(".a", "10.0.0.0/15")}}, []string{
			`networks.pools[1].name: "a" names two pools`,
			`networks.pools[2].name: "" is no name: want 1 to 64 of a-z 0-9 _ . - and a letter or digit first`,
			`networks.pools[3].name: "Carrier" is no name: want 1 to 64 of a-z 0-9 _ . - and a letter or digit first`,
			`networks.pools[4].name: "a/b" is no name: want 1 to 64 of a-z 0-9 _ . - and a letter or digit first`,
			`networks.pools[5].name: "` + strings.Repeat("x", 64) + `..." is no name: want 1 to 64 of a-z 0-9 _ . - and a letter or digit first`,
			`networks.pools[6].name: "a\n" is no name: want 1 to 64 of a-z 0-9 _ . - and a letter or digit first`,
			`networks.pools[7].name: ".a" is no name: want 1 to 64 of a-z 0-9 _ . - and a letter or digit first`}},
		{"the name of the built-in pool", TableConfig{Pools: []NamedBlocks{named("shared", "10.0.0.0/8")}}, []string{
			`networks.pools[0].name: "shared" is the pool of 100.64.0.0/10: list that block here too, or choose another name`}},
		{"a pool of nothing", TableConfig{Pools: []NamedBlocks{named("a")}}, []string{"networks.pools[0]: has neither cidrs nor files"}},
		{"blocks", TableConfig{Exempt: Blocks{CIDRs: []string{"10/8"}}, Hosting: Blocks{CIDRs: []string{" "}}, Trusted: []string{"x"},
			Pools: []NamedBlocks{named("a", "10.0.0.0/8", "10.0.0.1/16")}, Unnamed: Blocks{CIDRs: []string{"::/129"}}}, []string{
			`client_address.trusted_proxies[0]: "x" is no address block: want one such as 203.0.113.0/24 or 2001:db8::/32, or one address`,
			`networks.exempt.cidrs[0]: "10/8" is no address block: want one such as 203.0.113.0/24 or 2001:db8::/32, or one address`,
			`networks.pools[0].cidrs[1]: "10.0.0.1/16" has host bits set: write 10.0.0.0/16 for the block, or the address without a length`,
			`networks.pool_cidrs[0]: "::/129" is no address block: want one such as 203.0.113.0/24 or 2001:db8::/32, or one address`,
			`networks.hosting.cidrs[0]: blank entry: want a block such as 203.0.113.0/24 or 2001:db8::/32`}},
		{"levels out of range", TableConfig{Host: LevelBits{33, 129}, Site: LevelBits{0, 31}, Subnet: LevelBits{7, -1}}, []string{
			"limits.network.host.ipv4: 33 is out of range: want 8 to 32, or 0 for no such level",
			"limits.network.subnet.ipv4: 7 is out of range: want 8 to 32, or 0 for no such level",
			"limits.network.host.ipv6: 129 is out of range: want 32 to 128, or 0 for no such level",
			"limits.network.site.ipv6: 31 is out of range: want 32 to 128, or 0 for no such level",
			"limits.network.subnet.ipv6: -1 is out of range: want 32 to 128, or 0 for no such level"}},
		{"levels out of order", TableConfig{Host: LevelBits{24, 64}, Site: LevelBits{24, 48}, Subnet: LevelBits{16, 56}}, []string{
			"limits.network.site.ipv4: 24 is not coarser than host with 24: a wider network has fewer bits",
			"limits.network.subnet.ipv6: 56 is not coarser than site with 48: a wider network has fewer bits"}},
		{"a family without levels", TableConfig{Host: LevelBits{IPv4: 32}}, []string{
			"limits.network.host.ipv6: no level has a length: ipv6 addresses would have no network limit"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := NewTable(tc.config)
			if diff := cmp.Diff(tc.want, faultsOf(t, err)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestListFiles(t *testing.T) {
	pool := writeList(t, "\ufeff# carrier\r\n\r\n198.51.100.0/24 # east\r\n\t198.51.101.0/24\r\n   \n2001:db8::/32#v6\n192.0.2.1")
	hosting := writeList(t, "")
	table := mustTable(t, TableConfig{
		Unnamed: Blocks{Files: []string{pool}},
		Hosting: Blocks{Files: []string{hosting, pool}[:1]},
		Pools:   []NamedBlocks{{"empty", Blocks{Files: []string{hosting}}}},
	})
	for in, want := range map[string]string{"198.51.101.9": "198.51.100.0/23", "2001:db8::1": "2001:db8::/32", "192.0.2.1": "192.0.2.1/32"} {
		if class, networks := table.Classify(addr(in)); class != InPool || networks[1].Name != want {
			t.Errorf("%s is %s with %v, want pool %s", in, class, networks, want)
		}
	}
	if diff := cmp.Diff([]string{hosting, pool}, table.Files()); diff != "" {
		t.Errorf("Files: %s", diff)
	}
}

func TestListFileFaults(t *testing.T) {
	bad := writeList(t, "10.0.0.0/8\n10/8\n# fine\n10.0.0.5/8 # no\n"+strings.Repeat("x", maxLineBytes+1)+"\n")
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing")
	other := writeList(t, "192.0.2.0/24\n\n10.0.0.0/8\n")
	_, err := NewTable(TableConfig{
		Exempt:  Blocks{Files: []string{bad, missing, dir, " "}},
		Hosting: Blocks{Files: []string{other}},
	})
	want := []string{
		"networks.exempt.files[0]: " + bad + `:2: "10/8" is no address block: want one such as 203.0.113.0/24 or 2001:db8::/32, or one address`,
		"networks.exempt.files[0]: " + bad + `:4: "10.0.0.5/8" has host bits set: write 10.0.0.0/8 for the block, or the address without a length`,
		"networks.exempt.files[0]: " + bad + ":5: line is longer than 65536 bytes",
		"networks.exempt.files[1]: " + missing + ": cannot be read: no such file or directory",
		"networks.exempt.files[2]: " + dir + ": is not a regular file",
		"networks.exempt.files[3]: blank file name",
		"networks.hosting.files[0]: " + other + ":3: 10.0.0.0/8 is listed in networks.hosting and, at " + bad +
			":1, in networks.exempt: one block can have one class and one pool",
	}
	if diff := cmp.Diff(want, faultsOf(t, err)); diff != "" {
		t.Error(diff)
	}
}

func TestListFilesAreBounded(t *testing.T) {
	nothing := func(int, netip.Prefix) {}
	for name, content := range map[string]string{
		"lines": strings.Repeat("\n", maxFileLines+1),
		"bytes": strings.Repeat("#"+strings.Repeat("x", 65000)+"\n", maxFileBytes/65000+1),
	} {
		err := parseList(strings.NewReader(content), nothing, func(int, string) {})
		if err == nil || !strings.Contains(err.Error(), "more than ") || !strings.HasSuffix(err.Error(), name) {
			t.Errorf("too many %s: %v", name, err)
		}
	}
	if err := parseList(strings.NewReader(strings.Repeat("\n", maxFileLines)), nothing, nil); err != nil {
		t.Errorf("as many lines as allowed: %v", err)
	}
}

func TestAllFaultsAtOnceButNotWithoutEnd(t *testing.T) {
	_, err := NewTable(TableConfig{Hosting: Blocks{Files: []string{writeList(t, strings.Repeat("x\n", 1234))}}})
	got := faultsOf(t, err)
	if len(got) != maxErrors+1 || got[maxErrors] != "and 1134 more" {
		t.Errorf("%d faults, the last: %s", len(got), got[len(got)-1])
	}
	if lines := strings.Count(err.Error(), "\n") + 1; lines != len(got) {
		t.Errorf("the error has %d lines", lines)
	}
}

func TestListFileBehindSymlink(t *testing.T) {
	name := writeList(t, "192.0.2.0/24\n")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(name, link); err != nil {
		t.Fatal(err)
	}
	table := mustTable(t, TableConfig{Hosting: Blocks{Files: []string{link, link}}})
	if class, _ := table.Classify(addr("192.0.2.1")); class != Hosting {
		t.Errorf("class = %s", class)
	}
	if diff := cmp.Diff([]string{link}, table.Files()); diff != "" {
		t.Error(diff)
	}
}

func TestWordsOfLevelsAndClasses(t *testing.T) {
	got := fmt.Sprint(Host, Site, Subnet, Pool, Level(0), None, Exempt, InPool, Hosting, Class(9))
	if want := "host site subnet pool unknown none exempt pool hosting unknown"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if !(Host < Site && Site < Subnet && Subnet < Pool) {
		t.Error("levels do not ascend from fine to coarse")
	}
}

func TestExemptCannotCoverAFamily(t *testing.T) {
	for _, cidrs := range [][]string{{"0.0.0.0/0"}, {"0.0.0.0/1", "128.0.0.0/1"}, {"::/0"}} {
		_, err := NewTable(TableConfig{Exempt: Blocks{CIDRs: cidrs}})
		if err == nil || !strings.Contains(err.Error(), "networks.exempt: the blocks together cover every IPv") {
			t.Errorf("%v: %v", cidrs, err)
		}
	}
}
