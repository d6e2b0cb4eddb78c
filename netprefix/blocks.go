package netprefix

import (
	"fmt"
	"net/netip"
	"strings"
)

// Blocks are address blocks from the configuration and from list files.
type Blocks struct {
	CIDRs []string // as [ParsePrefix] reads them
	Files []string // paths; see [Table.Files] for reloading
}

// block is one block and where it was written.
type block struct {
	prefix netip.Prefix
	path   string // configuration key
	file   string // empty for a block in the configuration
	line   int
}

// where is the block's place in a message.
func (b block) where() string {
	if b.file == "" {
		return b.path
	}
	return fmt.Sprintf("%s:%d", b.file, b.line)
}

// fault is an error at the place of the block.
func (b block) fault(format string, args ...any) FieldError {
	return FieldError{Path: b.path, File: b.file, Line: b.line, Msg: fmt.Sprintf(format, args...)}
}

// keys are the configuration keys of the two lists of a [Blocks].
type keys struct{ cidrs, files string }

// keysBelow are the keys of a map with the members cidrs and files.
func keysBelow(path string) keys { return keys{path + ".cidrs", path + ".files"} }

// read gives all blocks, in order, and adds what cannot be read to faults. A block that is listed
// twice is given twice.
func (b Blocks) read(at keys, faults *collector) []block {
	var list []block
	for i, s := range b.CIDRs {
		path := indexed(at.cidrs, i)
		p, err := ParsePrefix(s)
		if err != nil {
			faults.addf(path, "%v", err)
			continue
		}
		list = append(list, block{prefix: p, path: path})
	}
	for i, name := range b.Files {
		path := indexed(at.files, i)
		if strings.TrimSpace(name) == "" {
			faults.addf(path, "blank file name")
			continue
		}
		readListFile(name,
			func(line int, p netip.Prefix) {
				list = append(list, block{prefix: p, path: path, file: name, line: line})
			},
			func(line int, msg string) {
				faults.add(FieldError{Path: path, File: name, Line: line, Msg: msg})
			})
	}
	return list
}

// owner is a block in its class.
type owner struct {
	block
	label string // class or pool, for messages
}

// registry finds blocks that are listed in two classes or two pools. Which of the two was meant
// nobody can tell, and the trie would silently take the last.
type registry struct {
	owners map[netip.Prefix]owner
	told   map[clash]bool
}

// clash is a fault that was reported: once is enough for a block and a class.
type clash struct {
	prefix netip.Prefix
	label  string
}

func newRegistry() *registry {
	return &registry{owners: make(map[netip.Prefix]owner), told: make(map[clash]bool)}
}

// claim enters a block for a class or pool. It reports false when the block is taken: by the same
// class, which is harmless, or by another one, which is a fault.
func (r *registry) claim(b block, label string, faults *collector) bool {
	first, taken := r.owners[b.prefix]
	if !taken {
		r.owners[b.prefix] = owner{b, label}
		return true
	}
	if at := (clash{b.prefix, label}); first.label != label && !r.told[at] {
		r.told[at] = true
		faults.add(b.fault("%s is listed in %s and, at %s, in %s: one block can have one class and one pool",
			b.prefix, label, first.where(), first.label))
	}
	return false
}

// has reports whether some class has exactly this block.
func (r *registry) has(p netip.Prefix) bool {
	_, taken := r.owners[p]
	return taken
}
