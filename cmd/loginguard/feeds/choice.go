package feeds

import (
	"fmt"
	"slices"
	"strings"
)

// choice keeps what has one of some words, and remembers which of them it has
// met. No words keep everything.
type choice struct {
	name  string
	words []string
	met   map[string]bool // of words
	other map[string]bool // of others, some of them, to suggest
}

// maxSuggested is how many words a message suggests.
const maxSuggested = 12

func newChoice(name string, words []string) *choice {
	return &choice{name: name, words: words, met: make(map[string]bool), other: make(map[string]bool)}
}

// keeps reports whether something with these words is kept. It has to be asked
// about everything, or a word that occurs seems not to.
func (c *choice) keeps(has ...string) bool {
	kept := len(c.words) == 0
	for _, word := range has {
		switch {
		case slices.Contains(c.words, word):
			c.met[word] = true
			kept = true
		case len(c.other) < 10*maxSuggested:
			c.other[word] = true
		}
	}
	return kept
}

// missed says which of the words never occurred, "" for none.
func (c *choice) missed() string {
	for _, word := range c.words {
		if c.met[word] {
			continue
		}
		msg := fmt.Sprintf("nothing has the %s %q", c.name, clip(word))
		if near := c.near(word); near != "" {
			return msg + ", there is " + near
		}
		return msg
	}
	return ""
}

// near lists words that begin like the one that was not found, or just some.
func (c *choice) near(word string) string {
	var all, alike []string
	for other := range c.other {
		if other == "" {
			continue
		}
		all = append(all, other)
		if n := min(3, len(word), len(other)); strings.EqualFold(word[:n], other[:n]) {
			alike = append(alike, other)
		}
	}
	if len(alike) > 0 {
		all = alike
	}
	slices.Sort(all)
	etc := ""
	if len(all) > maxSuggested {
		all, etc = all[:maxSuggested], ", ..."
	}
	for i := range all {
		all[i] = fmt.Sprintf("%q", clip(all[i]))
	}
	return strings.Join(all, ", ") + etc
}

// clip shortens foreign text for a message.
func clip(s string) string {
	const longest = 64
	if len(s) <= longest {
		return s
	}
	return s[:longest] + "..."
}
