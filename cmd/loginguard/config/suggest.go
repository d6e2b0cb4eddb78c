package config

import "strings"

// nearest returns the candidate that a mistyped word most likely stands for,
// or "" when none is near: different case or - for _, one or two slips of a
// key (a third of its letters at most), or a word begun the same.
func nearest(word string, candidates []string) string {
	const longest = 64 // the comparison takes quadratic time
	word = strings.ReplaceAll(strings.ToLower(word), "-", "_")
	if len(word) > longest || len(word) < 2 {
		return ""
	}
	best, found := 3, ""
	for _, c := range candidates {
		if c == "" {
			continue
		}
		plain := strings.ReplaceAll(strings.ToLower(c), "-", "_")
		d := slips(word, plain)
		if d > max(1, len(plain)/3) {
			continue
		}
		if d < best {
			best, found = d, c
		}
	}
	return found
}

// slips is the least number of letters to insert, drop, change or swap with
// their neighbour that makes b of a (the optimal string alignment distance).
func slips(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next := make([]int, len(b)+1)
		next[0] = i
		for j := 1; j <= len(b); j++ {
			change := row[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			next[j] = min(row[j]+1, next[j-1]+1, change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
