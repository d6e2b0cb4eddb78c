package guard

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"loginguard/keys"
	"loginguard/netprefix"
	"loginguard/policy"
	"loginguard/store"
)

// same compares receipts in all their parts.
var same = cmp.Options{cmp.AllowUnexported(receipt{}, mark{}), cmpopts.EquateEmpty()}

// drawText returns a base64url value that stands for size bytes, or none.
func drawText(t *rapid.T, name string, size int) string {
	if rapid.Bool().Draw(t, name+" given") {
		return ""
	}
	return encode(rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, name))
}

// drawNetworks returns the networks of any address at any sensible bits.
func drawNetworks(t *rapid.T) []netprefix.Network {
	size := rapid.SampledFrom([]int{4, 16}).Draw(t, "family")
	addr, _ := netip.AddrFromSlice(rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "address"))
	at := func(level netprefix.Level, bits int) netprefix.Network {
		p, err := addr.Prefix(bits)
		if err != nil {
			t.Fatal(err)
		}
		return netprefix.Network{Level: level, Name: p.String()}
	}
	bits := func(name string) int { return rapid.IntRange(1, size*8).Draw(t, name) }
	list := []netprefix.Network{at(netprefix.Host, bits("host"))}
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		name := rapid.StringMatching(`[a-z0-9][a-z0-9_.-]{0,63}`).Draw(t, "pool")
		return append(list, netprefix.Network{Level: netprefix.Pool, Name: name})
	case 1: // an unnamed pool
		return append(list, at(netprefix.Pool, bits("pool")))
	case 2:
		return nil
	}
	return append(list, at(netprefix.Site, bits("site")), at(netprefix.Subnet, bits("subnet")))
}

func drawReceipt(t *rapid.T) *receipt {
	r := &receipt{
		name: drawText(t, "name", 12), caller: drawText(t, "caller", 8), place: drawText(t, "place", 8),
		idempotence: drawText(t, "idempotence", 16),
		success:     rapid.SampledFrom(successes).Draw(t, "success"), local: rapid.Bool().Draw(t, "local"),
	}
	r.Account, r.RepeatTag = drawText(t, "account", 16), drawText(t, "tag", 8)
	r.Shard = rapid.Uint32().Draw(t, "shard")
	r.Class = netprefix.Class(rapid.IntRange(0, 3).Draw(t, "class"))
	r.Networks = drawNetworks(t)
	if id := drawText(t, "device", 12); id != "" {
		r.Device = &policy.Device{ID: id}
	}
	return r
}

func TestReceiptComesBackFromItsToken(t *testing.T) {
	g := &Guard{ring: keys.RandomRing()}
	rapid.Check(t, func(t *rapid.T) {
		r := drawReceipt(t)
		r.Realm = rapid.StringMatching(`[a-z0-9][a-z0-9_.-]{0,63}`).Draw(t, "realm")
		r.issued = rapid.Int64Range(1, 1<<53).Draw(t, "issued")
		r.expires = r.issued + rapid.Int64Range(1, 3600*second).Draw(t, "ttl")
		r.lane = store.Lane(1 << rapid.IntRange(0, 4).Draw(t, "lane"))
		for range rapid.IntRange(0, 8).Draw(t, "marks") {
			r.marks = append(r.marks, mark{policy.ID(rapid.IntRange(1, 16).Draw(t, "id")), rapid.Int64Range(1, 1000).Draw(t, "cost")})
		}
		r.would = buckets(rapid.Uint32().Draw(t, "would deny"))
		token, err := g.seal(r)
		if err != nil {
			t.Fatalf("seal: %v", err)
		}
		got, err := g.open(token)
		if err != nil {
			t.Fatalf("open: %v", err)
		}
		if d := cmp.Diff(r, got, same); d != "" {
			t.Errorf("(-sealed +opened):\n%s", d)
		}
	})
}

func TestReceiptComesBackFromItsNote(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawReceipt(t)
		r.ttl = rapid.Int64Range(second, 3600*second).Draw(t, "ttl")
		r.logOnly = buckets(rapid.Uint32().Draw(t, "log-only"))
		note, err := r.note()
		if err != nil {
			t.Fatalf("note: %v", err)
		}
		got := new(receipt)
		if err := got.readNote(note); err != nil {
			t.Fatalf("read: %v", err)
		}
		if d := cmp.Diff(r, got, same); d != "" {
			t.Errorf("(-noted +read):\n%s", d)
		}
	})
}

func TestLargestTokenFits(t *testing.T) {
	id := func(size int) string { return encode([]byte(strings.Repeat("\xff", size))) }
	r := &receipt{
		name: id(12), caller: id(8), place: id(8), idempotence: id(16), success: policy.SuccessNone, local: true,
		lane: store.LaneRepeatNetwork, issued: 1 << 60, expires: 1 << 61, would: 1<<32 - 1,
	}
	r.Realm, r.Account, r.RepeatTag, r.Device = strings.Repeat("r", 64), id(16), id(8), &policy.Device{ID: id(12)}
	for range 12 { // more than any lane has
		r.marks = append(r.marks, mark{policy.IDChallenged, 1000})
	}
	addr := netip.MustParseAddr("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")
	at := func(level netprefix.Level, bits int) netprefix.Network {
		return netprefix.Network{Level: level, Name: netip.PrefixFrom(addr, bits).String()}
	}
	g := &Guard{ring: keys.RandomRing()}
	for name, networks := range map[string][]netprefix.Network{
		"pool":   {at(netprefix.Host, 128), {Level: netprefix.Pool, Name: strings.Repeat("p", 64)}},
		"levels": {at(netprefix.Host, 128), at(netprefix.Site, 127), at(netprefix.Subnet, 126)},
	} {
		r.Networks = networks
		token, err := g.seal(r)
		if err != nil || len(token) > 512 {
			t.Errorf("%s: the token has %d bytes, %v, want at most 512", name, len(token), err)
		}
	}
}

func TestReceiptRefusesWhatHasNoForm(t *testing.T) {
	for name, change := range map[string]func(*receipt){
		"text that is not base64url": func(r *receipt) { r.Account = "a b" },
		"text with trailing bits":    func(r *receipt) { r.name = "AB" },
		"text that is too long":      func(r *receipt) { r.name = strings.Repeat("A", 400) },
		"network that is no prefix":  func(r *receipt) { r.Networks = []netprefix.Network{{Level: netprefix.Host, Name: "x"}} },
		"pool that is too long": func(r *receipt) {
			r.Networks = []netprefix.Network{{Level: netprefix.Pool, Name: strings.Repeat("p", 256)}}
		},
	} {
		r := &receipt{success: policy.SuccessFull}
		change(r)
		if _, err := r.body(); err == nil {
			t.Errorf("%s is packed", name)
		}
		if _, err := r.note(); err == nil {
			t.Errorf("%s is noted", name)
		}
	}
}

func TestReceiptRefusesWhatItDoesNotWrite(t *testing.T) {
	r := &receipt{success: policy.SuccessFull, lane: store.LaneStranger}
	good, err := r.body() // version, 7 texts, shard, success, local, class, networks, lane, marks, would deny
	if err != nil {
		t.Fatal(err)
	}
	const successAt, networksAt, marksAt = 12, 15, 17
	changed := func(at int, b ...byte) []byte {
		return append(append(append([]byte(nil), good[:at]...), b...), good[at+1:]...)
	}
	cost := strings.Repeat("\xff", 9) // of a number that goes on
	for name, b := range map[string][]byte{
		"nothing":           nil,
		"version":           changed(0, receiptVersion+1),
		"success":           changed(successAt, 3),
		"level":             changed(networksAt, 1, 5, 4, 8, 1),
		"size of address":   changed(networksAt, 1, 1, 5, 8, 1),
		"bits of address":   changed(networksAt, 1, 1, 4, 33, 1, 2, 3, 4, 5),
		"missing network":   changed(networksAt, 1),
		"negative cost":     changed(marksAt, append([]byte{1, 1}, cost+"\x01"...)...),
		"cost without end":  changed(marksAt, append([]byte{1, 1}, cost+"\x7f"...)...),
		"missing mark":      changed(marksAt, 1),
		"set too large":     append(append([]byte(nil), good[:len(good)-1]...), 0xff, 0xff, 0xff, 0xff, 0x10),
		"one byte too many": append(append([]byte(nil), good...), 0),
	} {
		if err := new(receipt).readBody(b); err == nil {
			t.Errorf("%s is read", name)
		}
	}
	if err := new(receipt).readBody(good); err != nil {
		t.Errorf("the good one is not read: %v", err)
	}
}

func FuzzReceipt(f *testing.F) {
	r := &receipt{name: encode(make([]byte, 12)), success: policy.SuccessFull, lane: store.LaneStranger, marks: []mark{{policy.IDHost, 5}}}
	r.Networks = []netprefix.Network{
		{Level: netprefix.Host, Name: "203.0.113.9/32"}, {Level: netprefix.Subnet, Name: "2001:db8:1::/47"}, {Level: netprefix.Pool, Name: "carrier-a"},
	}
	b, err := r.body()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:len(b)-1])
	f.Add([]byte{receiptVersion})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		_ = new(receipt).readNote(b)
		r := new(receipt)
		if r.readBody(b) != nil {
			return
		}
		again, err := r.body()
		if err != nil {
			t.Fatalf("what was read cannot be packed: %v", err)
		}
		got := new(receipt)
		if err := got.readBody(again); err != nil {
			t.Fatalf("what was packed cannot be read: %v", err)
		}
		if d := cmp.Diff(r, got, same); d != "" {
			t.Errorf("(-read +read again):\n%s", d)
		}
	})
}
