package policy

import (
	"net/netip"
	"strconv"
	"strings"

	"loginguard/netprefix"
	"loginguard/store"
)

// ID names one of the buckets that an attempt may be charged on. The numbers
// travel in attempt tokens: they are never given another meaning.
type ID uint8

// The buckets, in the order in which they are charged.
const (
	IDAccount        ID = 1
	IDDevice         ID = 2
	IDFamiliar       ID = 3
	IDHost           ID = 4
	IDHostFamiliar   ID = 5
	IDSite           ID = 6
	IDSiteFamiliar   ID = 7
	IDSubnet         ID = 8
	IDSubnetFamiliar ID = 9
	IDPool           ID = 10
	IDPoolFamiliar   ID = 11
	IDGlobal         ID = 12
	IDPassword       ID = 13
	IDRepeatDevice   ID = 14
	IDRepeatNetwork  ID = 15
	IDChallenged     ID = 16
	idCount          ID = 17
)

const (
	lanesOfNobody = store.LaneStranger
	lanesOfAll    = store.LaneDevice | store.LaneFamiliar | store.LaneStranger |
		store.LaneRepeatDevice | store.LaneRepeatNetwork
)

// bucket is what is fixed about an ID.
type bucket struct {
	limit limit
	when  store.Lane
	level netprefix.Level // of a network's bucket, else 0
	grown bool            // sized by the population
	mark  string          // in the key of a network's bucket
}

var buckets = [idCount]bucket{
	IDAccount:        {limit: limAccount, when: lanesOfNobody},
	IDDevice:         {limit: limDevice, when: store.LaneDevice},
	IDFamiliar:       {limit: limFamiliar, when: store.LaneFamiliar},
	IDHost:           {limit: limHost, when: lanesOfNobody, level: netprefix.Host, mark: "}:h"},
	IDHostFamiliar:   {limit: limHost, when: store.LaneFamiliar, level: netprefix.Host, grown: true, mark: "}:hf"},
	IDSite:           {limit: limSite, when: lanesOfNobody, level: netprefix.Site, mark: "}:i"},
	IDSiteFamiliar:   {limit: limSite, when: store.LaneFamiliar, level: netprefix.Site, grown: true, mark: "}:if"},
	IDSubnet:         {limit: limSubnet, when: lanesOfNobody, level: netprefix.Subnet, mark: "}:s"},
	IDSubnetFamiliar: {limit: limSubnet, when: store.LaneFamiliar, level: netprefix.Subnet, grown: true, mark: "}:sf"},
	IDPool:           {limit: limPool, when: lanesOfNobody, level: netprefix.Pool, mark: "}:p"},
	IDPoolFamiliar:   {limit: limPool, when: store.LaneFamiliar, level: netprefix.Pool, grown: true, mark: "}:pf"},
	IDGlobal:         {limit: limGlobal, when: lanesOfNobody, grown: true},
	IDPassword:       {limit: limPassword, when: lanesOfNobody},
	IDRepeatDevice:   {limit: limRepeat, when: store.LaneRepeatDevice},
	IDRepeatNetwork:  {limit: limRepeat, when: store.LaneRepeatNetwork},
	IDChallenged:     {limit: limChallenged, when: lanesOfAll},
}

// people is the mark in the key of a network's population, by level.
var people = [...]string{
	netprefix.Host: "}:nh", netprefix.Site: "}:ni", netprefix.Subnet: "}:ns", netprefix.Pool: "}:np",
}

// network returns the attempt's network at a level, "" when it has none.
func (v *view) network(level netprefix.Level) string {
	for _, n := range v.Networks {
		if n.Level == level {
			return n.Name
		}
	}
	return ""
}

// key names bucket id of the attempt: a key, or a field of the account's
// record. Both are empty when the attempt has no such bucket. No part contains
// the separator that follows it (names and hashes have none of / : { }, and a
// network's name stands last), so no two buckets share a name. Keys of an
// account share one hash tag, those of a network's levels another: braces
// decide which node of a cluster keeps them.
func (v *view) key(id ID) (key, field string) {
	switch id {
	case IDAccount:
		return "", v.own("a", "")
	case IDChallenged:
		return "", v.own("c", "")
	case IDFamiliar:
		if v.coarse != "" {
			return "", v.own("f:", v.coarse)
		}
	case IDRepeatNetwork:
		if v.coarse != "" {
			return "", v.own("r:", v.coarse)
		}
	case IDDevice:
		if v.Device != nil {
			return "", v.own("d:", v.Device.ID)
		}
	case IDRepeatDevice:
		if v.Device != nil {
			return "", v.own("r:", v.Device.ID)
		}
	case IDGlobal:
		return v.realm.global[v.Shard%uint32(len(v.realm.global))], ""
	case IDPassword:
		if v.PasswordTag != "" {
			return "lg:{" + v.Realm + ":p:" + v.PasswordTag + "}", ""
		}
	default:
		if name := v.network(buckets[id].level); name != "" {
			return v.realm.prefix + v.coarse + buckets[id].mark + below(v.coarse, name), ""
		}
	}
	return "", ""
}

// own returns the field of a bucket that belongs to the account.
func (v *view) own(mark, name string) string {
	if v.Account == "" {
		return ""
	}
	return mark + name
}

// population returns the base key of what sizes bucket id, "" for nothing.
func (v *view) population(id ID) string {
	b := &buckets[id]
	if !b.grown || !v.policy.limits[b.limit].grows {
		return ""
	}
	if b.level == 0 {
		// In each shard of global the accounts that are charged there, under
		// its hash tag, so that one script reaches both.
		key, _ := v.key(IDGlobal)
		return strings.TrimSuffix(key, "g") + "n"
	}
	return v.realm.prefix + v.coarse + people[b.level] + below(v.coarse, v.network(b.level))
}

// below names a network within the coarsest one of the address, which stands
// before it in the key: memory is paid by the byte. Nothing is left of the
// coarsest network itself; of a block inside a block the octets or groups that
// may differ, as many as its length says, so that no two share a name:
// 2001:db8:1:2::/64 in 2001:db8:1::/48 is :2/64. The length of a single IPv4
// address is left out, so that its key takes eight bytes less of Redis:
// 203.0.113.9/32 in 203.0.113.0/24 is :9.
func below(coarse, name string) string {
	if name == coarse {
		return ""
	}
	outer, err1 := netip.ParsePrefix(coarse)
	inner, err2 := netip.ParsePrefix(name)
	if err1 != nil || err2 != nil || !outer.Contains(inner.Addr()) {
		// In a pool: it has a name of its own, or that of the first of its
		// blocks, and this is in another one.
		return ":" + name
	}
	b := make([]byte, 0, 48)
	addr := inner.Addr().As16()
	if inner.Addr().Is4() {
		for i := outer.Bits() / 8; i*8 < inner.Bits(); i++ {
			b = strconv.AppendUint(append(b, separator(b, '.')), uint64(addr[12+i]), 10)
		}
	} else {
		for i := outer.Bits() / 16; i*16 < inner.Bits(); i++ {
			b = strconv.AppendUint(append(b, separator(b, ':')), uint64(addr[2*i])<<8|uint64(addr[2*i+1]), 16)
		}
	}
	if inner.Addr().Is4() && inner.IsSingleIP() {
		return string(b)
	}
	return string(strconv.AppendInt(append(b, '/'), int64(inner.Bits()), 10))
}

// separator is what stands before the next part of a name: the first one
// follows the mark of the key.
func separator(b []byte, between byte) byte {
	if len(b) == 0 {
		return ':'
	}
	return between
}

// RecordKey returns the key of an account's record, which also holds the
// buckets that are the account's own. account is its keyed hash.
func RecordKey(account string) string { return "lg:{" + account + "}" }

// NetworkKeys returns the keys of both buckets of one network, that of
// strangers and that of the accounts which live there, to clear them. networks
// are all of the address, fine to coarse, since the coarsest one is in the key
// of each.
func (p *Policy) NetworkKeys(realm string, networks []netprefix.Network, which netprefix.Network) []string {
	if len(networks) == 0 {
		return nil
	}
	coarse := networks[len(networks)-1].Name
	stem := "lg:{" + realm + "/" + coarse
	var keys []string
	for id := IDAccount; id < idCount; id++ {
		if b := &buckets[id]; b.level != 0 && b.level == which.Level {
			keys = append(keys, stem+b.mark+below(coarse, which.Name))
		}
	}
	return keys
}
