package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// record is what is kept of one account, one string that a person can read:
// entries name=value, separated by blanks.
//
//	F=3@1790000000000000                  failures since the last success, moment of the last
//	C=1790000000000000@1797776000000000   moment of a credential reset, and until when it counts
//	P=2@1790000000000000                  populations that the account was the first of, since when
//	n:203.0.113.0/24=1790000000000000     a network the account signed in from, last use
//	w:203.0.113.0/24=tag@1790000000000000,...  wrong password tags from there, newest last
//	a=1790000000000000/10x2160000000      a bucket, as in codec.go; also c, d:..., f:..., r:...
//
// Entries keep the order in which they were first written, so that the Go and
// the Lua edition produce the same string.
type record struct {
	names, values []string
	changed       bool
}

const (
	entryFailures = "F"
	entryReset    = "C"
	entryFounded  = "P"
	prefixNetwork = "n:"
	prefixWrong   = "w:"
	prefixRepeat  = "r:" // the bucket of a source under prefixWrong

	// wrongKeep is how long a wrong password tag is remembered, wrongTags
	// how many of one source, wrongSources of how many sources. The oldest
	// goes first; what is lost makes a repeat cost a guess, nothing more.
	wrongKeep    = 24 * 3600 * 1e6
	wrongTags    = 3
	wrongSources = 16

	// foundedMost is how many populations an account may be the first member
	// of in foundedSpan. A population lives for a week or two, so without a
	// bound one account that signs in again and again, from ever new
	// addresses of its own, would fill the store.
	foundedMost = 16
	foundedSpan = 24 * 3600 * 1e6

	// failuresMost bounds the count of failures.
	failuresMost = 1e9
)

// isBucket reports whether an entry is a bucket.
func isBucket(name string) bool {
	return name != entryFailures && name != entryReset && name != entryFounded &&
		!strings.HasPrefix(name, prefixNetwork) && !strings.HasPrefix(name, prefixWrong)
}

// parseRecord reads a record; "" is an empty one.
func parseRecord(v string) (*record, error) {
	r := new(record)
	if strings.HasSuffix(v, " ") {
		return nil, fmt.Errorf("read account record: %w", errCorrupt)
	}
	for v != "" {
		var entry string
		entry, v, _ = strings.Cut(v, " ")
		name, value, ok := strings.Cut(entry, "=")
		if !ok || name == "" || value == "" || slices.Contains(r.names, name) {
			return nil, fmt.Errorf("read account record: %w", errCorrupt)
		}
		r.names, r.values = append(r.names, name), append(r.values, value)
	}
	return r, nil
}

// String writes the record.
func (r *record) String() string {
	var b strings.Builder
	for i, name := range r.names {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(name)
		b.WriteByte('=')
		b.WriteString(r.values[i])
	}
	return b.String()
}

// get returns the value of an entry, "" when there is none.
func (r *record) get(name string) string {
	for i, n := range r.names {
		if n == name {
			return r.values[i]
		}
	}
	return ""
}

// set writes an entry in place or at the end; "" removes it.
func (r *record) set(name, value string) {
	for i, n := range r.names {
		if n != name {
			continue
		}
		if r.values[i] == value {
			return
		}
		r.changed = true
		if value != "" {
			r.values[i] = value
			return
		}
		r.names = append(r.names[:i:i], r.names[i+1:]...)
		r.values = append(r.values[:i:i], r.values[i+1:]...)
		return
	}
	if value != "" {
		r.changed = true
		r.names, r.values = append(r.names, name), append(r.values, value)
	}
}

// pair reads "number@number".
func pair(v string) (a, b int64, err error) {
	left, right, _ := strings.Cut(v, "@")
	if !number(left, &a) || !number(right, &b) {
		return 0, 0, fmt.Errorf("read account record: %w", errCorrupt)
	}
	return a, b, nil
}

// failures returns the count of failures since the last success, forgotten
// after keep microseconds without one.
func (r *record) failures(now, keep int64) (int64, error) {
	v := r.get(entryFailures)
	if v == "" {
		return 0, nil
	}
	n, last, err := pair(v)
	if err != nil || now-last >= keep {
		return 0, err
	}
	return n, nil
}

// reset returns the moment of the last credential reset, 0 for none.
func (r *record) reset(now int64) (int64, error) {
	v := r.get(entryReset)
	if v == "" {
		return 0, nil
	}
	moment, until, err := pair(v)
	if err != nil || now >= until {
		return 0, err
	}
	return moment, nil
}

// familiar reports whether the account signed in from network within keep.
func (r *record) familiar(network string, now, keep int64) (bool, error) {
	v := r.get(prefixNetwork + network)
	if network == "" || v == "" {
		return false, nil
	}
	var last int64
	if !number(v, &last) {
		return false, fmt.Errorf("read account record: %w", errCorrupt)
	}
	return now-last < keep, nil
}

// wrong reports whether tag is one of the last wrong ones from a source.
func (r *record) wrong(at Remembering, now int64) (bool, error) {
	if at.Source == "" || at.Tag == "" {
		return false, nil
	}
	value := r.get(at.Source)
	if value == "" {
		return false, nil
	}
	found := false
	for item := range strings.SplitSeq(value, ",") {
		tag, t, err := wrongItem(item)
		if err != nil {
			return false, err
		}
		if tag == at.Tag && now-t < wrongKeep {
			found = true
		}
	}
	return found, nil
}

// wrongItem reads "tag@moment".
func wrongItem(item string) (tag string, moment int64, err error) {
	tag, text, _ := strings.Cut(item, "@")
	if !number(text, &moment) {
		return "", 0, fmt.Errorf("read account record: %w", errCorrupt)
	}
	return tag, moment, nil
}

// addWrong remembers a wrong tag of a source, which becomes the newest.
func (r *record) addWrong(at Remembering, now int64) {
	var items []string
	for item := range strings.SplitSeq(r.get(at.Source), ",") {
		if tag, _, _ := strings.Cut(item, "@"); item != "" && tag != at.Tag {
			items = append(items, item)
		}
	}
	items = append(items, at.Tag+"@"+strconv.FormatInt(now, 10))
	if len(items) > wrongTags {
		items = items[len(items)-wrongTags:]
	}
	// To the end of the record, so that the first is the longest unused.
	r.set(at.Source, "")
	r.set(at.Source, strings.Join(items, ","))
	for _, gone := range r.trim(prefixWrong, wrongSources) {
		// Nothing can be charged on its bucket until a tag fails there again.
		r.set(prefixRepeat+strings.TrimPrefix(gone, prefixWrong), "")
	}
}

// found counts a population that the account is the first member of, and
// reports whether it may be.
func (r *record) found(now int64) (bool, error) {
	n, since := int64(0), now
	if v := r.get(entryFounded); v != "" {
		count, begin, err := pair(v)
		if err != nil {
			return false, err
		}
		if now-begin < foundedSpan {
			n, since = count, begin
		}
	}
	if n >= foundedMost {
		return false, nil
	}
	r.set(entryFounded, fmt.Sprintf("%d@%d", n+1, since))
	return true, nil
}

// addNetwork notes the use of a network now.
func (r *record) addNetwork(network string, now, sources int64) {
	r.set(prefixNetwork+network, "")
	r.set(prefixNetwork+network, strconv.FormatInt(now, 10))
	r.trim(prefixNetwork, sources)
}

// sources lists the entries that put an attempt on another lane; never nil.
func (r *record) sources() []string {
	list := []string{}
	for _, name := range r.names {
		if strings.HasPrefix(name, prefixNetwork) || strings.HasPrefix(name, prefixWrong) {
			list = append(list, name)
		}
	}
	return list
}

// trim removes the first entries with a prefix until at most n are left, and
// returns their names.
func (r *record) trim(prefix string, n int64) (gone []string) {
	for {
		count, first := int64(0), ""
		for _, name := range r.names {
			if strings.HasPrefix(name, prefix) {
				if count == 0 {
					first = name
				}
				count++
			}
		}
		if count <= n {
			return gone
		}
		r.set(first, "")
		gone = append(gone, first)
	}
}

// prune drops entries that say nothing any more and returns the moment from
// which the rest does not either. forget gives the memory of strikes of the
// buckets whose limit is at hand.
func (r *record) prune(now, keep int64, forget map[string]int64) (int64, error) {
	var expires int64
	names, values := r.names[:0:0], r.values[:0:0]
	for i, name := range r.names {
		until, err := entryExpires(name, r.values[i], keep, forget)
		if err != nil {
			return 0, err
		}
		if until > now {
			names, values = append(names, name), append(values, r.values[i])
			expires = max(expires, until)
		}
	}
	r.names, r.values = names, values
	return expires, nil
}

// check reports the first entry that cannot be read.
func (r *record) check() error {
	for i, name := range r.names {
		if _, err := entryExpires(name, r.values[i], 0, nil); err != nil {
			return err
		}
	}
	return nil
}

// entryExpires returns the moment from which one entry says nothing.
func entryExpires(name, value string, keep int64, forget map[string]int64) (int64, error) {
	switch {
	case name == entryReset:
		_, until, err := pair(value)
		return until, err
	case name == entryFounded:
		_, since, err := pair(value)
		return since + foundedSpan, err
	case name == entryFailures:
		_, last, err := pair(value)
		return last + keep, err
	case strings.HasPrefix(name, prefixNetwork):
		var last int64
		if !number(value, &last) {
			return 0, fmt.Errorf("read account record: %w", errCorrupt)
		}
		return last + keep, nil
	case strings.HasPrefix(name, prefixWrong):
		var newest int64
		for item := range strings.SplitSeq(value, ",") {
			_, t, err := wrongItem(item)
			if err != nil {
				return 0, err
			}
			newest = t
		}
		return newest + wrongKeep, nil
	}
	s, err := parseState(value)
	if err != nil {
		return 0, err
	}
	f, ok := forget[name]
	if !ok {
		f = strikeKeep
	}
	return s.expires(f), nil
}
