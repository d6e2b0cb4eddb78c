package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const month = 30 * day

func mustRecord(t *testing.T, v string) *record {
	t.Helper()
	r, err := parseRecord(v)
	if err != nil {
		t.Fatalf("record %q: %v", v, err)
	}
	return r
}

// TestRecordKeepsOrder runs random writes on a record and on a plain list.
func TestRecordKeepsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := new(record)
		var names []string
		values := make(map[string]string)
		for range rapid.IntRange(0, 40).Draw(t, "writes") {
			name := rapid.SampledFrom([]string{"a", "c", "F", "C", "n:x", "n:y", "w:x", "d:1"}).Draw(t, "name")
			value := rapid.SampledFrom([]string{"", "1", "2@3", "4/5x6"}).Draw(t, "value")
			r.set(name, value)
			switch _, there := values[name]; {
			case value == "" && there:
				delete(values, name)
				for i := range names {
					if names[i] == name {
						names = append(names[:i:i], names[i+1:]...)
						break
					}
				}
			case value != "" && !there:
				names = append(names, name)
				fallthrough
			case value != "":
				values[name] = value
			}
			var want []string
			for _, n := range names {
				want = append(want, n+"="+values[n])
			}
			if got := r.String(); got != strings.Join(want, " ") {
				t.Fatalf("record %q, want %q", got, want)
			}
		}
		again, err := parseRecord(r.String())
		if err != nil || again.String() != r.String() || again.changed {
			t.Fatalf("%q reads as %q, %v", r, again, err)
		}
		for _, name := range names {
			if again.get(name) != values[name] {
				t.Fatalf("%s=%q, want %q", name, again.get(name), values[name])
			}
		}
	})
}

func TestRecordNotesChanges(t *testing.T) {
	for _, c := range []struct {
		name, value string
		want        bool
	}{{"F", "1@2", false}, {"F", "2@2", true}, {"F", "", true}, {"x", "", false}, {"x", "1", true}} {
		r := mustRecord(t, "F=1@2")
		if r.set(c.name, c.value); r.changed != c.want {
			t.Errorf("set %s=%q changed the record: %v, want %v", c.name, c.value, r.changed, c.want)
		}
	}
}

// TestRecordPrunes: each entry says nothing any more from one moment on.
func TestRecordPrunes(t *testing.T) {
	for _, c := range []struct {
		entry string
		until int64
	}{
		{fmt.Sprintf("F=3@%d", start), start + month},
		{fmt.Sprintf("C=%d@%d", start, start+90*day), start + 90*day},
		{fmt.Sprintf("n:203.0.113.0/24=%d", start), start + month},
		{fmt.Sprintf("w:203.0.113.0/24=old@%d,tag@%d", start-hour, start), start + wrongKeep},
		{fmt.Sprintf("a=%d/10x2160000000", start+hour), start + hour},
		{fmt.Sprintf("a=%d/10x2160000000/2/%d/%d", start+minute, start+second, start), start + 6*hour},
		{fmt.Sprintf("a=%d/10x2160000000/2/%d/%d", start+7*hour, start+second, start), start + 7*hour},
		{fmt.Sprintf("d:phone=%d/10x90000000/2/%d/%d", start+minute, start+second, start), start + strikeKeep},
	} {
		t.Run(c.entry, func(t *testing.T) {
			forget := map[string]int64{"a": 6 * hour}
			r := mustRecord(t, c.entry)
			if until, err := r.prune(c.until-1, month, forget); err != nil || until != c.until || r.String() != c.entry {
				t.Errorf("before: %q, until %d, %v; want it kept until %d", r, until, err, c.until)
			}
			if until, err := r.prune(c.until, month, forget); err != nil || until != 0 || r.String() != "" {
				t.Errorf("after: %q, until %d, %v; want it gone", r, until, err)
			}
		})
	}
	r := mustRecord(t, fmt.Sprintf("n:a=%d F=1@%d n:b=%d", start-month, start, start-hour))
	until, err := r.prune(start, month, nil)
	if want := fmt.Sprintf("F=1@%d n:b=%d", start, start-hour); err != nil || until != start+month || r.String() != want {
		t.Errorf("%q until %d, %v; want %q until %d", r, until, err, want, start+month)
	}
}

// TestRecordBounds: what is kept of networks, tags and sources, oldest out.
func TestRecordBounds(t *testing.T) {
	r := new(record)
	for i := range int64(20) {
		r.addNetwork(fmt.Sprintf("net%d", i), start+i, 3)
	}
	r.addNetwork("net17", start+30, 3)
	if got, want := r.String(), fmt.Sprintf("n:net18=%d n:net19=%d n:net17=%d", start+18, start+19, start+30); got != want {
		t.Errorf("networks %q, want %q", got, want)
	}

	r = new(record)
	for i, tag := range []string{"t1", "t2", "t1", "t3", "t4"} {
		r.addWrong(Remembering{"w:net", tag}, start+int64(i))
	}
	if got, want := r.String(), fmt.Sprintf("w:net=t1@%d,t3@%d,t4@%d", start+2, start+3, start+4); got != want {
		t.Errorf("tags %q, want %q", got, want)
	}
	for i := range int64(wrongSources) {
		r.addWrong(Remembering{fmt.Sprintf("w:%d", i), "t"}, start+10+i)
	}
	if len(r.names) != wrongSources || r.get("w:net") != "" || r.names[0] != "w:0" {
		t.Errorf("%d sources, first %s; want the oldest gone", len(r.names), r.names[0])
	}
	r.addWrong(Remembering{"w:0", "u"}, start+50)
	r.addWrong(Remembering{"w:new", "t"}, start+51)
	if r.get("w:0") == "" || r.get("w:1") != "" {
		t.Error("a source that was used again went before one that was not")
	}
}

// FuzzParseRecord: a record that is read is written as it was, and nothing in
// it can stop an attempt but by an error.
func FuzzParseRecord(f *testing.F) {
	for _, v := range []string{
		"", "F=3@1790000000000000", "F=1@1 C=1@2 n:203.0.113.0/24=1 w:x=t@1,u@2 a=1/10x2160000000 d:x=1/2x3/1/2/3",
		"F=1@1 F=1@1", " ", "a= b=1", "w:x=,", "n:=1", "C=9007199254740991@9007199254740991", "a=1/2x3 ",
	} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v string) {
		r, err := parseRecord(v)
		if err != nil {
			if !errors.Is(err, errCorrupt) {
				t.Fatalf("error %v", err)
			}
			return
		}
		if got := r.String(); got != v {
			t.Fatalf("%q is written as %q", v, got)
		}
		_, _ = r.failures(start, month)
		_, _ = r.reset(start)
		_, _ = r.familiar("203.0.113.0/24", start, month)
		_, _ = r.wrong(Remembering{"w:x", "t"}, start)
		readable := r.check() == nil
		until, err := r.prune(start, month, nil)
		if readable != (err == nil) {
			t.Fatalf("%q: readable %v, but %v", v, readable, err)
		}
		if err == nil && (until <= start) != (r.String() == "") {
			t.Fatalf("%q: %q is kept until %d", v, r, until)
		}
	})
}

func TestRecordAnswers(t *testing.T) {
	r := mustRecord(t, fmt.Sprintf("F=7@%d C=%d@%d n:home=%d", start, start, start+day, start))
	type answers struct {
		Failures, Reset int64
		Familiar        bool
	}
	for _, c := range []struct {
		now  int64
		want answers
	}{
		{start, answers{7, start, true}},
		{start + day - 1, answers{7, start, true}},
		{start + day, answers{7, 0, true}},
		{start + month - 1, answers{7, 0, true}},
		{start + month, answers{0, 0, false}},
		{start - hour, answers{7, start, true}},
	} {
		var got answers
		var err [3]error
		got.Failures, err[0] = r.failures(c.now, month)
		got.Reset, err[1] = r.reset(c.now)
		got.Familiar, err[2] = r.familiar("home", c.now, month)
		if e := errors.Join(err[:]...); e != nil {
			t.Fatal(e)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("at %d (-want +got):\n%s", c.now, diff)
		}
	}
	if known, err := r.familiar("", start, month); known || err != nil {
		t.Errorf("no network is familiar: %v, %v", known, err)
	}
}
