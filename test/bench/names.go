package main

import "strconv"

// accounts is how many accounts and as many networks the cases take in turn,
// unless they say otherwise. Their limits are raised so far that none runs dry.
const accounts = 10_000

// appendName writes the n-th account.
func appendName(b []byte, n uint64) []byte {
	b = append(b, "user"...)
	b = strconv.AppendUint(b, n, 10)
	return append(b, "@example.org"...)
}

func nameOf(n uint64) string { return string(appendName(nil, n)) }

// appendAddress writes an address in the n-th of many /48s: it has the usual
// five buckets, account, host, site, subnet and global.
func appendAddress(b []byte, n uint64) []byte {
	b = append(b, "2001:"...)
	b = strconv.AppendUint(b, 0x1000+n>>16&0x7fff, 16)
	b = append(b, ':')
	b = strconv.AppendUint(b, n&0xffff, 16)
	return append(b, ":1::7"...)
}

func addressOf(n uint64) string { return string(appendAddress(nil, n)) }

// appendIPv4 writes the n-th address, 256 in a row in one /24.
func appendIPv4(b []byte, n uint64) []byte {
	b = strconv.AppendUint(b, 11+n>>24, 10)
	for shift := 16; shift >= 0; shift -= 8 {
		b = append(b, '.')
		b = strconv.AppendUint(b, n>>shift&0xff, 10)
	}
	return b
}
