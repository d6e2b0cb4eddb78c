package guard

import (
	"encoding/binary"
	"math"
	"net/netip"

	"loginguard/netprefix"
)

// writer packs the values of a receipt; err is set by one that has no form.
type writer struct {
	b   []byte
	err error
}

func (w *writer) byte(b byte) { w.b = append(w.b, b) }

func (w *writer) bool(b bool) {
	if b {
		w.byte(1)
		return
	}
	w.byte(0)
}

func (w *writer) uint32(v uint32) { w.b = binary.BigEndian.AppendUint32(w.b, v) }

func (w *writer) uvarint(v int64) { w.b = binary.AppendUvarint(w.b, uint64(v)) }

// text packs a base64url value (every hash and name is one) by the bytes that
// it stands for, which is a quarter shorter.
func (w *writer) text(s string) {
	b, err := decode(s)
	if err != nil || encode(b) != s {
		w.err = errReceipt
		return
	}
	w.bytes(b)
}

// bytes packs up to 255 bytes behind their number.
func (w *writer) bytes(b []byte) {
	if len(b) > math.MaxUint8 {
		w.err = errReceipt
		return
	}
	w.byte(byte(len(b)))
	w.b = append(w.b, b...)
}

// network packs a pool by its name, any other network by the bits and bytes
// of its prefix.
func (w *writer) network(n netprefix.Network) {
	w.byte(byte(n.Level))
	if n.Level == netprefix.Pool {
		w.bytes([]byte(n.Name))
		return
	}
	p, err := netip.ParsePrefix(n.Name)
	if err != nil {
		w.err = errReceipt
		return
	}
	a := p.Addr().AsSlice()
	w.byte(byte(len(a)))
	w.byte(byte(p.Bits()))
	w.b = append(w.b, a[:(p.Bits()+7)/8]...)
}

// reader unpacks what writer packs; bad is set by what it cannot have packed.
// What it returns from then on means nothing.
type reader struct {
	b   []byte
	bad bool
}

// end reports whether everything was read, and nothing was bad.
func (d *reader) end() error {
	if d.bad || len(d.b) > 0 {
		return errReceipt
	}
	return nil
}

// take returns the next n bytes, nil when there are fewer.
func (d *reader) take(n int) []byte {
	if n > len(d.b) {
		d.bad, d.b = true, nil
		return nil
	}
	s := d.b[:n]
	d.b = d.b[n:]
	return s
}

func (d *reader) byte() byte {
	if s := d.take(1); len(s) == 1 {
		return s[0]
	}
	return 0
}

func (d *reader) uint32() uint32 {
	if s := d.take(4); len(s) == 4 {
		return binary.BigEndian.Uint32(s)
	}
	return 0
}

func (d *reader) uvarint() int64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 || v > math.MaxInt64 {
		d.bad = true
		return 0
	}
	d.b = d.b[n:]
	return int64(v)
}

func (d *reader) buckets() buckets {
	v := d.uvarint()
	if v > math.MaxUint32 {
		d.bad = true
		return 0
	}
	return buckets(v)
}

func (d *reader) text() string { return encode(d.bytes()) }

func (d *reader) bytes() []byte { return d.take(int(d.byte())) }

func (d *reader) network() netprefix.Network {
	level := netprefix.Level(d.byte())
	if level == netprefix.Pool {
		return netprefix.Network{Level: level, Name: string(d.bytes())}
	}
	var a [16]byte
	size, bits := int(d.byte()), int(d.byte())
	if level > netprefix.Pool || size != 4 && size != 16 || bits > size*8 {
		d.bad = true
		return netprefix.Network{}
	}
	copy(a[:], d.take((bits+7)/8))
	addr, _ := netip.AddrFromSlice(a[:size]) // of a size that it takes
	return netprefix.Network{Level: level, Name: netip.PrefixFrom(addr, bits).String()}
}
