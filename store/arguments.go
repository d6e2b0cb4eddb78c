package store

import (
	"crypto/sha1" // names a script as Redis does; protects nothing
	"encoding/hex"
	"strconv"
)

// script is one of lua/, with the shared functions before it. It is sent by
// its hash where the server knows it, and whole where it does not.
type script struct{ source, hash string }

func newScript(source string) script {
	sum := sha1.Sum([]byte(source))
	return script{source, hex.EncodeToString(sum[:])}
}

// arguments builds KEYS and ARGV of a script. Every key that a script touches
// is in KEYS; ARGV names it by its index, 0 for none.
//
// All of ARGV is one piece of text, whose parts are handed to the client by
// pointer: each string or number of its own would be an allocation, and a
// check has sixty of them.
type arguments struct {
	keys []string
	text []byte
	ends []int // of each argument in text
}

// argumentSize is what an argument has room for at first. One that is longer
// only costs another allocation.
const argumentSize = 20

// newArguments makes room for so many keys and arguments.
func newArguments(keys, args int) arguments {
	return arguments{make([]string, 0, keys), make([]byte, 0, args*argumentSize), make([]int, 0, args)}
}

// end ends an argument.
func (a *arguments) end() { a.ends = append(a.ends, len(a.text)) }

func (a *arguments) str(values ...string) {
	for _, v := range values {
		a.text = append(a.text, v...)
		a.end()
	}
}

func (a *arguments) num(values ...int64) {
	for _, v := range values {
		a.text = strconv.AppendInt(a.text, v, 10)
		a.end()
	}
}

func (a *arguments) bit(values ...bool) {
	for _, v := range values {
		a.num(bit(v, 1))
	}
}

// words is one argument of several numbers with a blank between each two.
func (a *arguments) words(values ...int64) {
	for i, v := range values {
		if i > 0 {
			a.text = append(a.text, ' ')
		}
		a.text = strconv.AppendInt(a.text, v, 10)
	}
	a.end()
}

func (a *arguments) key(name string) { a.num(a.index(name)) }

// index adds a key and returns its index.
func (a *arguments) index(name string) int64 {
	if name == "" {
		return 0
	}
	a.keys = append(a.keys, name)
	return int64(len(a.keys))
}

// clock is the moment that a test gives, and nothing where the server's counts.
func (a *arguments) clock(now int64) {
	if now == 0 {
		a.str("")
		return
	}
	a.num(now)
}

func bit(on bool, value int64) int64 {
	if on {
		return value
	}
	return 0
}

// commandHead is where the keys of a command begin.
const commandHead = 3

// command lays a call of a script out as the client sends it.
func (a *arguments) command(s script, whole bool) []any {
	n := len(a.keys) + len(a.ends)
	parts, out := make([]string, 2+n), make([]any, commandHead+n)
	out[0], parts[0] = "evalsha", s.hash
	if whole {
		out[0], parts[0] = "eval", s.source
	}
	parts[1] = strconv.Itoa(len(a.keys))
	copy(parts[2:], a.keys)
	text, begin := string(a.text), 0
	for i, end := range a.ends {
		parts[2+len(a.keys)+i], begin = text[begin:end], end
	}
	for i := range parts {
		out[1+i] = &parts[i]
	}
	return out
}
