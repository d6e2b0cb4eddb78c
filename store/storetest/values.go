package storetest

import (
	"context"
	"fmt"
	"testing"

	"loginguard/store"
)

// damagedBuckets are values that no bucket has; each must be refused, as a full
// bucket is what an attacker wants them to be taken for.
var damagedBuckets = []string{
	"0", "x", "abc", "1/2", "1/2x", "1/x3", "/2x3", "1/2x0", "-1/2x3", "1/2x-3", "1/2x3/", "1/2x3/1", "1/2x3/1/2", "1/2x3/1/2/",
	"1/2x3/1/2/3/", "1/2x3/1/2/3/4", "1/2x3/a/2/3", "1/2x3 ", " 1/2x3", "1/2x3\n", "1.5/2x3", "1e3/2x3", "0x1/2x3", "+1/2x3",
	"9007199254740992/2x3", "99999999999999999999/2x3", "1/9007199254740992x1", "1/1x4294967297", "1/4194304x2147483648",
	"212163200000000", "030212163200000000", "9001212163200000000", "9223372036854775808", "-30212163200000000", "+30212163200000000",
	"30212163200000000 ", "3.0212163200000e16", "30_212163200000000", "8020212163200000000", "00000000000000001/2x3", "1/2x3/1/2/9007199254740992", "１/2x3",
}

// damagedRecords are texts that no account record has.
var damagedRecords = []string{
	"a", "=", "a=", "=1", "F=1", "F=x@1", "F=1@", "F=@1", "F=1@1@1", "F=1@9007199254740992", "C=1", "C=1@x", " F=1@1", "F=1@1 ",
	"F=1@1  C=1@1", "F=1@1 F=1@1", "F=1@1 rest",
}

// damaged: an attempt on a value that cannot be read is an error, and the
// value stays for somebody to look at.
func damaged(t *testing.T, h Harness) {
	ctx := context.Background()
	refused := func(k store.Take, what string) {
		t.Helper()
		before := h.Values()
		for _, peek := range []bool{false, true} {
			k.Peek = peek
			out, err := h.Stores[0].Take(ctx, k)
			if err == nil || store.Class(err) != "corrupt" || out.Outcome != store.Denied {
				t.Errorf("%s: outcome %s, class %q, %v; want an error of class corrupt", what, outcome(out.Outcome), store.Class(err), err)
			}
		}
		h.same(t, before, what)
	}
	for i, value := range damagedBuckets {
		key := network(fmt.Sprintf("bad%d", i))
		h.Put(key, value)
		refused(single(key, plainLimit(10, second), 1, start), "bucket "+value)
	}
	for i, value := range damagedRecords {
		account := fmt.Sprintf("bad%d", i)
		h.Put(record(account), value)
		k := guess(account, "net", start)
		refused(k, "record "+value)
	}
	for i, c := range []struct{ entry string }{
		{"n:net=x"}, {"n:net=9007199254740992"}, {"w:net=tag"}, {"w:net=tag@"}, {"w:net=t@1,,t@2"}, {"w:net=,t@2"}, {"a=1/2"}, {"a=1/2x3/1"},
	} {
		account := fmt.Sprintf("entry%d", i)
		h.Put(record(account), c.entry)
		k := guess(account, "net", start)
		k.RepeatNetwork = store.Remembering{Source: "w:net", Tag: "other"}
		refused(k, "entry "+c.entry)
	}
	for i, value := range []string{"1", "1/2", "1/2/", "1/2/3/4", "a/2/3", "1/2/9007199254740992"} {
		// A population shares the hash tag of the bucket that it sizes.
		key := network("net") + fmt.Sprintf("n%d", i)
		h.Put(key, value)
		k := single(network("net"), store.Limit{Capacity: 1, Interval: second, PerUser: 1e6, MaxCapacity: 1e6}, 1, start)
		k.Charges[0].Population = key
		refused(k, "population "+value)
	}
	for i, value := range []string{
		"b", "b 1 a 1 9000000000000000 4 0 m", "b x a 1 9000000000000000 4 0 m n", "b 1 a 1 9000000000000000 17 0 m n", " 1 a 1 9000000000000000 4 0 m n",
		"b 1 a 1 9007199254740992 4 0 m n", "b 1 a 1 9000000000000000 4 0 m n n", "b 1 a 1 9000000000000000 4 0 m ",
	} {
		k := named("C", "net", "b", start)
		k.Idempotence = fmt.Sprintf("lg:{i:bad%d}", i)
		h.Put(k.Idempotence, value)
		before := h.Values()
		if out, err := h.Stores[0].Take(ctx, k); store.Class(err) != "corrupt" || out.Outcome != store.Denied {
			t.Errorf("remembered %q: %s, %v", value, outcome(out.Outcome), err)
		}
		h.same(t, before, "remembered "+value)
		if _, err := h.Stores[0].Lookup(ctx, k.Idempotence); store.Class(err) != "corrupt" {
			t.Errorf("lookup of %q: %v", value, err)
		}
	}
}

// everyKeyExpires: after everything that writes; Values checks it.
func everyKeyExpires(t *testing.T, h Harness) {
	attacked(t, h)
	k := named("B", "net", "b1", start)
	taken := h.want(t, k, store.Admitted)
	s := success(k, taken, start)
	s.Member, s.Populations = "B", []string{crowd}
	h.settle(t, s)
	k.Debit = true
	h.want(t, k, store.Admitted)
	h.forget(t, store.Forget{Record: record("A"), Credentials: true, Keep: day, Remember: remember, Now: start})
	want := []string{record("A"), record("B"), s.Marker, k.Idempotence, crowd, network("net"), network("far")}
	v := h.Values()
	for _, key := range want {
		if v[key] == "" {
			t.Errorf("key %s was not written", key)
		}
	}
	const others = 3 // one weekly log, and two markers of attacked
	if len(v) != len(want)+others {
		t.Errorf("%d keys, want %d: %v", len(v), len(want)+others, v)
	}
}

// lostExpiry: a dry bucket without an expiry, as after a restore, would deny
// for ever; the next denial sets it again and changes nothing else.
func lostExpiry(t *testing.T, h Harness) {
	full := fmt.Sprintf("%d/10x2160000000", start+10*2160*second)
	h.PutForever(network("net"), full)
	k := single(network("net"), plainLimit(10, 2160*second), 1, start)
	h.want(t, k, store.Denied)
	if got := h.Values()[network("net")]; got != full {
		t.Errorf("bucket %q, want %q", got, full)
	}
	record := fmt.Sprintf("a=%s/1/%d/%d", full, start+hour, start)
	h.PutForever("lg:{A}", record)
	h.want(t, guess("A", "net2", start), store.Denied)
	if got := h.Values()["lg:{A}"]; got != record {
		t.Errorf("record %q, want %q", got, record)
	}
}
