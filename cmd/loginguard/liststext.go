package main

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// writeSummaries prints what is in the files that are right, of so many.
func (p *program) writeSummaries(list []summary, files int) error {
	if files == 0 {
		_, err := fmt.Fprintf(p.stdout, "no list files are configured in %s\n", printable(p.file()))
		return err
	}
	if len(list) == 0 {
		return nil
	}
	rows := [][]string{{"FILE", "CLASS", "BLOCKS", "MERGED", "IPV4", "IPV6", "LARGEST"}}
	for _, s := range list {
		class := strings.TrimSpace(s.Class + " " + s.Pool)
		largest := strings.TrimSpace(s.Largest4 + " " + s.Largest6)
		rows = append(rows, []string{s.File, cmp.Or(class, "-"), strconv.Itoa(s.Blocks), strconv.Itoa(s.Aggregated),
			strconv.Itoa(s.IPv4), strconv.Itoa(s.IPv6), cmp.Or(largest, "-")})
	}
	return writeTable(p.stdout, rows)
}
