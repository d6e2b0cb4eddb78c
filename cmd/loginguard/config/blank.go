package config

import (
	"bytes"
	"os"
	"slices"
)

// mostBlank bounds the size of a file that may be blank, in bytes.
const mostBlank = 4 << 10

// blankLists returns the list files in which nothing stands, not even a comment.
// A download that fails, a full disk, or a shell's > leaves such a file: an
// accident, which at a reload must not take a list away. One that is to be empty
// says so by a comment.
func (c *Config) blankLists() []string {
	var blank []string
	for _, name := range c.lists() {
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() || info.Size() > mostBlank {
			continue // what cannot be read is refused by who reads it
		}
		if text, err := os.ReadFile(name); err == nil && len(bytes.TrimSpace(text)) == 0 {
			blank = append(blank, name)
		}
	}
	return blank
}

// refuseEmptied refuses list files that are blank in c, and were not in the
// configuration that runs.
func (r *report) refuseEmptied(c, running *Config) {
	before := running.lists()
	for _, name := range c.blank {
		if slices.Contains(before, name) && !slices.Contains(running.blank, name) {
			r.refuse(place{source: name}, "", "is empty, and the list in force is not: to empty it on purpose, leave a comment in it")
		}
	}
}
