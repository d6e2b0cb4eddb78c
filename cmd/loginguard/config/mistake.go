package config

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Mistake is one thing that is wrong in the configuration.
type Mistake struct {
	Source string // the file, LOGINGUARD_STORE_URL or --store-url; "" when a default is at fault
	Line   int    // in the file, from 1; 0 when there is none
	Path   string // limits.account.capacity, callers[2].name; "" for the file as a whole
	Msg    string // what is wrong and what to write instead; never contains a secret
}

// Error returns "source:line: path: message" without the parts that are empty.
func (m Mistake) Error() string {
	var b strings.Builder
	if m.Source != "" {
		b.WriteString(m.Source)
		if m.Line > 0 {
			b.WriteString(":" + strconv.Itoa(m.Line))
		}
		b.WriteString(": ")
	}
	if m.Path != "" {
		b.WriteString(m.Path + ": ")
	}
	return b.String() + m.Msg
}

// Mistakes is everything that is wrong, in the order of the file.
type Mistakes []Mistake

// Error returns one line per mistake.
func (m Mistakes) Error() string {
	lines := make([]string, len(m))
	for i := range m {
		lines[i] = m[i].Error()
	}
	return strings.Join(lines, "\n")
}

// place is where a value was written.
type place struct {
	source string
	line   int
}

// report gathers mistakes and warnings, and knows where each value stands, so
// that a check made on the merged values can still name the line.
type report struct {
	file     string
	places   map[string]place // by dotted path
	refused  map[string]bool  // paths of values that were not understood
	around   map[string]bool  // paths that have such a value inside
	seen     map[Mistake]bool // two packages may complain of the same thing
	mistakes Mistakes
	warnings []string

	badSecret bool // a secret was given, and is refused
	badHook   bool // the file with the secret of the webhook cannot be read
}

func newReport(file string) *report {
	return &report{file: file, places: make(map[string]place), refused: make(map[string]bool),
		around: make(map[string]bool), seen: make(map[Mistake]bool)}
}

// at notes where the value of path is written. A later layer replaces what an
// earlier one said, elements of a list included.
func (r *report) at(path string, p place) {
	if p.source != r.file {
		for known := range r.places {
			if below(known, path) {
				delete(r.places, known)
			}
		}
	}
	r.places[path] = p
}

// refuse records that the text of a value cannot be used at all. What is
// concluded later from its absence is not reported a second time.
func (r *report) refuse(p place, path, format string, args ...any) {
	r.refused[path] = true
	for up := parent(path); up != ""; up = parent(up) {
		r.around[up] = true
	}
	r.add(p, path, fmt.Sprintf(format, args...))
}

// wrong records a mistake found in the merged values.
func (r *report) wrong(path, format string, args ...any) {
	if r.around[path] {
		return
	}
	for up := path; up != ""; up = parent(up) {
		if r.refused[up] {
			return
		}
	}
	msg := fmt.Sprintf(format, args...)
	r.add(r.find(path, msg), path, msg)
}

func (r *report) add(p place, path, msg string) {
	m := Mistake{Source: p.source, Line: p.line, Path: path, Msg: msg}
	if !r.seen[m] {
		r.seen[m] = true
		r.mistakes = append(r.mistakes, m)
	}
}

// somePath matches the dotted paths that a message mentions.
var somePath = regexp.MustCompile(`[a-z0-9_]+(\.[a-z0-9_-]+|\[[0-9]+\])+`)

// find returns where path is written; or, when it has its default, where the
// key is written that the message blames; or the nearest thing around it.
func (r *report) find(path, msg string) place {
	if p, ok := r.places[path]; ok {
		return p
	}
	for _, other := range somePath.FindAllString(msg, -1) {
		if p, ok := r.places[other]; ok {
			return p
		}
	}
	for path = parent(path); path != ""; path = parent(path) {
		if p, ok := r.places[path]; ok {
			return p
		}
	}
	return place{}
}

// parent returns the path around path, "" at the top.
func parent(path string) string {
	return path[:max(0, strings.LastIndexAny(path, ".["))]
}

// result returns the mistakes in the order of the file, those of the
// environment and the command line last, or nil.
func (r *report) result() error {
	if len(r.mistakes) == 0 {
		return nil
	}
	slices.SortStableFunc(r.mistakes, func(a, b Mistake) int {
		return cmp.Or(r.rank(a)-r.rank(b), cmp.Compare(a.Line, b.Line))
	})
	return r.mistakes
}

// rank orders the sources of mistakes.
func (r *report) rank(m Mistake) int {
	switch m.Source {
	case r.file:
		return 0
	case "":
		return 2
	default:
		return 1
	}
}

// below reports whether path is that of top or of something inside it.
func below(path, top string) bool {
	rest, ok := strings.CutPrefix(path, top)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// quote shows a value of the configuration in a message, shortened: it may be
// anything.
func quote(s string) string {
	const limit = 60
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "..."
	}
	return strconv.Quote(s)
}

// keyName shows a key of the file in a path: as it is when it is a short plain
// word, else quoted.
func keyName(s string) string {
	const limit = 64
	plain := func(c rune) bool { return c > ' ' && c < 0x7f && c != '"' }
	if len(s) > 0 && len(s) <= limit && strings.IndexFunc(s, func(c rune) bool { return !plain(c) }) < 0 {
		return s
	}
	return quote(s)
}
