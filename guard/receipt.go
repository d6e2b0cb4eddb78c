package guard

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"loginguard/keys"
	"loginguard/netprefix"
	"loginguard/policy"
	"loginguard/store"
)

// receipt is what an attempt's token carries to its report: what was charged,
// and what its outcome may teach. With it a report needs neither the memory
// of an instance nor the policy of the time.
type receipt struct {
	policy.Attempt // without Route, Caller, PasswordTag, ChallengePassed; Device only by its ID

	name        string // of the attempt
	caller      string // fingerprint of the caller, whose attempt it is
	place       string // fingerprint of realm, account and address
	idempotence string // digest of caller and id, "" for none
	success     string // what the route does on success
	local       bool   // charged on the buckets of one process
	ttl         int64  // lifetime in microseconds; of notes only, a token says when it ends

	lane    store.Lane
	marks   []mark  // the charges made
	logOnly buckets // that decided nothing; of notes and new receipts only
	would   buckets // log-only ones that would have denied; of tokens only

	issued, expires int64 // microseconds since 1970
}

// mark is one charge that was made.
type mark struct {
	id   policy.ID
	cost int64
}

// String is how a mark is remembered by the store.
func (m mark) String() string {
	return strconv.Itoa(int(m.id)) + "x" + strconv.FormatInt(m.cost, 10)
}

func parseMark(s string) (mark, error) {
	id, cost, _ := strings.Cut(s, "x")
	a, err1 := strconv.ParseUint(id, 10, 8)
	b, err2 := strconv.ParseInt(cost, 10, 64)
	if err := errors.Join(err1, err2); err != nil {
		return mark{}, fmt.Errorf("read mark: %w", err)
	}
	return mark{policy.ID(a), b}, nil
}

// successes are the words of a route for a success, by their numbers in a receipt.
var successes = []string{policy.SuccessFull, policy.SuccessRefund, policy.SuccessNone}

// receiptVersion is the first byte of a receipt. Another layout takes another
// number; attempts live minutes, so nothing needs to read an old one.
const receiptVersion = 2

// errReceipt is returned for a body that is not one written here. Only a
// holder of the secret can cause it.
var errReceipt = errors.New("receipt is malformed")

// note packs what is known before the store has answered, for the store to
// keep of an attempt with an id.
func (r *receipt) note() ([]byte, error) {
	w := r.pack()
	w.uvarint(r.ttl)
	w.uvarint(int64(r.logOnly))
	return w.b, w.err
}

// body packs the whole receipt for its token.
func (r *receipt) body() ([]byte, error) {
	w := r.pack()
	w.byte(byte(r.lane))
	w.byte(byte(len(r.marks)))
	for _, m := range r.marks {
		w.byte(byte(m.id))
		w.uvarint(m.cost)
	}
	w.uvarint(int64(r.would))
	return w.b, w.err
}

// pack writes what note and body have in common.
func (r *receipt) pack() *writer {
	w := &writer{b: make([]byte, 0, 192)}
	w.byte(receiptVersion)
	device := ""
	if r.Device != nil {
		device = r.Device.ID
	}
	for _, s := range [...]string{r.name, r.caller, r.place, r.Account, r.idempotence, device, r.RepeatTag} {
		w.text(s)
	}
	w.uint32(r.Shard)
	w.byte(byte(slices.Index(successes, r.success)))
	w.bool(r.local)
	w.byte(byte(r.Class))
	w.byte(byte(len(r.Networks)))
	for _, n := range r.Networks {
		w.network(n)
	}
	return w
}

// readNote unpacks note.
func (r *receipt) readNote(b []byte) error {
	d := r.unpack(b)
	r.ttl = d.uvarint()
	r.logOnly = d.buckets()
	return d.end()
}

// readBody unpacks body.
func (r *receipt) readBody(b []byte) error {
	d := r.unpack(b)
	r.lane = store.Lane(d.byte())
	for n := d.byte(); n > 0 && !d.bad; n-- {
		r.marks = append(r.marks, mark{policy.ID(d.byte()), d.uvarint()})
	}
	r.would = d.buckets()
	return d.end()
}

// unpack reads what pack wrote and returns the reader of the rest.
func (r *receipt) unpack(b []byte) *reader {
	d := &reader{b: b}
	d.bad = d.byte() != receiptVersion
	var device string
	for _, s := range [...]*string{&r.name, &r.caller, &r.place, &r.Account, &r.idempotence, &device, &r.RepeatTag} {
		*s = d.text()
	}
	if device != "" {
		r.Device = &policy.Device{ID: device}
	}
	r.Shard = d.uint32()
	if i := int(d.byte()); i < len(successes) {
		r.success = successes[i]
	} else {
		d.bad = true
	}
	r.local = d.byte() == 1
	r.Class = netprefix.Class(d.byte())
	for n := d.byte(); n > 0 && !d.bad; n-- {
		r.Networks = append(r.Networks, d.network())
	}
	return d
}

// seal signs the receipt as the attempt's token.
func (g *Guard) seal(r *receipt) (string, error) {
	b, err := r.body()
	if err != nil {
		return "", err
	}
	return g.ring.Seal(keys.KindAttempt, keys.Token{Realm: r.Realm, Issued: r.issued, Expires: r.expires, Body: b})
}

// open verifies an attempt's token.
func (g *Guard) open(token string) (*receipt, error) {
	t, err := g.ring.Open(keys.KindAttempt, token)
	if err != nil {
		return nil, err
	}
	r := &receipt{issued: t.Issued, expires: t.Expires}
	r.Realm = t.Realm
	return r, r.readBody(t.Body)
}

// settled records the store's decision in the receipt. A device token that
// the record called dead is none.
func (r *receipt) settled(lane store.Lane, issued int64, marks []mark) {
	r.lane, r.marks, r.issued, r.expires = lane, marks, issued, issued+r.ttl
	r.would = r.logOnly.dry(lane, marks)
	if lane&(store.LaneDevice|store.LaneRepeatDevice) == 0 {
		r.Device = nil
	}
}

// marker is the key under which the attempt's settlement is remembered.
func (r *receipt) marker() string {
	if r.Account == "" {
		return "lg:{t:" + r.name + "}"
	}
	return policy.RecordKey(r.Account) + ":t:" + r.name
}
