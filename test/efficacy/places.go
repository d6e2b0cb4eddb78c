package efficacy

import (
	"math/rand/v2"
	"net/netip"
)

// The addresses of a trace. Homes of one provider lie close together, as in
// reality; hosted servers, hotels and the carrier have blocks of their own. All
// of them are ordinary addresses, for which nothing is configured. Carrier 0 is
// the one whose customers come from 100.64.0.0/10, a pool by default; the others
// have public addresses in four /24s each.
type places struct {
	*rand.Rand
	neighbourhoods int // /24s and /48s in which homes lie
}

// gateways is how many addresses a carrier has.
const gateways = 32

// home returns the connection of a household: in seven of ten an IPv4 address
// of its own, else an IPv6 /56 of which the device uses a /64.
func (p places) home() *Place {
	n := p.IntN(p.neighbourhoods)
	if p.Float64() < 0.7 {
		return placeOf(netip.AddrFrom4([4]byte{81, byte(n >> 8), byte(n), byte(1 + p.IntN(254))}))
	}
	return placeOf(netip.AddrFrom16([16]byte{0x2a, 0x02, 0x08, 1, byte(n >> 8), byte(n), byte(p.IntN(256)), 1, 15: byte(1 + p.IntN(250))}))
}

// carrier returns one of the addresses of carrier k: its customers have another
// one with every connection.
func (p places) carrier(k int) *Place { return carrierAddresses[k][p.IntN(gateways)] }

var carrierAddresses = func() (all [4][gateways]*Place) {
	for i := range gateways {
		all[0][i] = placeOf(netip.AddrFrom4([4]byte{100, 64, byte(i), 1}))
		all[0][i].Block = "100.64.0.0/10"
		for k := 1; k < len(all); k++ {
			all[k][i] = placeOf(netip.AddrFrom4([4]byte{37, byte(k), byte(i % 4), byte(1 + i)}))
		}
	}
	return all
}()

// hotel returns a network in which nobody else of the trace has been.
func (p places) hotel() *Place {
	return placeOf(netip.AddrFrom4([4]byte{92, byte(p.IntN(256)), byte(p.IntN(256)), byte(1 + p.IntN(254))}))
}

// servers returns n rented addresses, a few of them in each /24.
func (p places) servers(n, each int) []*Place {
	all := make([]*Place, n)
	for i := range all {
		block := i / each
		all[i] = placeOf(netip.AddrFrom4([4]byte{45, byte(block >> 8), byte(block), byte(1 + i%each*7)}))
	}
	return all
}

// bots returns n infected households, among those of the owners.
func (p places) bots(n int) []*Place {
	all := make([]*Place, n)
	for i := range all {
		all[i] = p.home()
	}
	return all
}

// rotate returns a new /64 of an IPv6 block of so many bits, 48 or 56.
func (p places) rotate(bits int) *Place {
	a := [16]byte{0x2a, 0x0b, 0x0a, 0x0a, 0, 1, 7, byte(p.IntN(256)), 15: byte(1 + p.IntN(250))}
	if bits == 48 {
		a[6] = byte(p.IntN(256))
	}
	return placeOf(netip.AddrFrom16(a))
}
