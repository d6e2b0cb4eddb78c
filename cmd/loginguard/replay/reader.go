package replay

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"loginguard/guard"
)

// Formats of a log.
const (
	FormatJSON = "json" // one object a line
	FormatSSHD = "sshd" // what an SSH server writes to syslog or the journal
)

// Stdin is the name of standard input.
const Stdin = "-"

// LogOptions says how to read a log. The zero value reads JSON lines and ends
// at the first bad one.
type LogOptions struct {
	Format string // FormatJSON when ""

	// Year is that of the first line, for time stamps that have none; 0 for
	// the latest in which that line does not lie in the future.
	Year int

	// SkipBad passes over lines that cannot be read or decided, and counts them.
	SkipBad bool

	// Now is the time by which a missing year is guessed; the system's when zero.
	Now time.Time
}

// LineError is what is wrong with one line of a log.
type LineError struct {
	File string
	Line int // from 1
	Err  error
}

// Error names the place as compilers do, so that editors jump to it.
func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap returns what is wrong.
func (e *LineError) Unwrap() error { return e.Err }

// Reader reads the events of a log, one line at a time.
type Reader struct {
	name    string
	lines   *lineReader
	closers []io.Closer
	size    int64
	read    *counter
	o       LogOptions

	parse   func(line []byte) (ev Event, times int, err error) // times 0: no attempt
	pending Event
	times   int // how often pending is still to be returned

	skipped, others int64
	firstSkip       error
}

// Open opens a log: a file, or standard input for "-". Compressed ones (gzip)
// are known by how they begin.
func Open(name string, o LogOptions) (*Reader, error) {
	if name == Stdin {
		return NewReader(os.Stdin, "standard input", o)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	r, err := NewReader(f, name, o)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	r.closers = append(r.closers, f)
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		r.size = info.Size()
	}
	return r, nil
}

// NewReader reads a log from in; name stands for it in errors. Closing the
// reader does not close in.
func NewReader(in io.Reader, name string, o LogOptions) (*Reader, error) {
	r := &Reader{name: name, read: &counter{in: in}, o: o}
	switch o.Format {
	case "", FormatJSON:
		r.parse = parseJSON
	case FormatSSHD:
		r.parse = newSSHD(o.Year, o.Now).parse
	default:
		return nil, fmt.Errorf("there is no format %q: it is %s or %s", o.Format, FormatJSON, FormatSSHD)
	}
	plain := bufio.NewReaderSize(r.read, 64<<10)
	// An empty log has no beginning, and is one without events.
	if begin, _ := plain.Peek(2); bytes.Equal(begin, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(plain)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		r.closers = append(r.closers, unzipped)
		plain = bufio.NewReaderSize(unzipped, 64<<10)
	}
	r.lines = newLineReader(plain)
	return r, nil
}

// Next returns the next attempt. The error is io.EOF at the end, a [LineError]
// about a line, or that of reading.
func (r *Reader) Next() (Event, error) {
	for r.times == 0 {
		line, err := r.lines.next()
		var tooLong *tooLongError
		switch {
		case errors.Is(err, io.EOF):
			return Event{}, io.EOF
		case errors.As(err, &tooLong): // is a bad line like others
		case err != nil:
			return Event{}, fmt.Errorf("%s: read after line %d: %w", r.name, r.lines.n, err)
		default:
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			r.pending, r.times, err = r.parse(line)
		}
		if err != nil {
			r.times = 0
			if err = r.Bad(err); err != nil {
				return Event{}, err
			}
			continue
		}
		if r.times == 0 {
			r.others++
		}
	}
	r.times--
	return r.pending, nil
}

// Bad notes that the current line cannot be used. It returns nil when bad lines
// are to be passed over, else the error to end with.
func (r *Reader) Bad(err error) error {
	at := &LineError{File: r.name, Line: r.lines.n, Err: err}
	if !r.o.SkipBad {
		return at
	}
	r.times = 0 // its repetitions are as bad
	if r.skipped++; r.firstSkip == nil {
		r.firstSkip = at
	}
	return nil
}

// Skipped returns how many bad lines were passed over, and what was wrong with
// the first of them, nil when there was none.
func (r *Reader) Skipped() (n int64, first error) { return r.skipped, r.firstSkip }

// Others returns how many lines were about something else than an attempt, as
// most lines of a system's log are.
func (r *Reader) Others() int64 { return r.others }

// Lines returns how many lines were read.
func (r *Reader) Lines() int { return r.lines.n }

// Progress returns how many bytes of the file were read, and how many it has:
// 0 when that is not known. It may be called at any time.
func (r *Reader) Progress() (read, size int64) { return r.read.n.Load(), r.size }

// Close closes what Open opened.
func (r *Reader) Close() error {
	var errs []error
	for _, c := range r.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// counter counts what is read.
type counter struct {
	in io.Reader
	n  atomic.Int64
}

// Read implements io.Reader.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// bad is a fault of one member of a line, like those that the engine finds.
func bad(field, detail string) error {
	return &guard.Error{Kind: guard.KindInvalid, Field: field, Detail: detail}
}
