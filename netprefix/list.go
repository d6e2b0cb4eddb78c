package netprefix

import (
	"io"
	"net/netip"
	"slices"
)

// ReadList reads one list file as [NewTable] does and gives its blocks in the order of the file,
// those that are listed twice included. The error is [Errors] and names every bad line, or the
// file when it cannot be read or exceeds 64 MiB or 2 million lines.
func ReadList(name string) ([]netip.Prefix, error) {
	var list []netip.Prefix
	var faults collector
	readListFile(name,
		func(_ int, p netip.Prefix) { list = append(list, p) },
		func(line int, msg string) { faults.add(FieldError{File: name, Line: line, Msg: msg}) })
	if err := faults.err(); err != nil {
		return nil, err
	}
	return list, nil
}

// WriteList writes blocks in the form that [ReadList] reads, one a line. A block of one address is
// written with its length: 203.0.113.9/32.
func WriteList(w io.Writer, blocks []netip.Prefix) error {
	line := make([]byte, 0, 64)
	for _, p := range blocks {
		line = append(p.AppendTo(line[:0]), '\n')
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// Aggregate gives the fewest blocks that contain the same addresses, in ascending order, IPv4
// before IPv6. Blocks have to be in the form of [ParsePrefix].
func Aggregate(blocks []netip.Prefix) []netip.Prefix {
	var list []netip.Prefix
	for _, s := range mergeBlocks(blocks) {
		list = append(list, s.blocks()...)
	}
	return list
}

// SortBlocks gives every block once, in the order of [Aggregate]; of two blocks that begin at the
// same address the wider one is first.
func SortBlocks(blocks []netip.Prefix) []netip.Prefix {
	list := slices.Clone(blocks)
	slices.SortFunc(list, comparePrefixes)
	return slices.Compact(list)
}
