package replay

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// longestLine bounds a line of a log, in bytes. An attempt has members of some
// 3 KB at most, escaped perhaps six times as much.
const longestLine = 64 << 10

// tooLongError is a line beyond that bound. What follows it can be read.
type tooLongError struct{}

// Error implements error.
func (*tooLongError) Error() string {
	return fmt.Sprintf("the line is longer than %d bytes", longestLine)
}

// lineReader splits a stream into lines in bounded memory.
type lineReader struct {
	in  *bufio.Reader
	buf []byte
	n   int // of the line that was read last, from 1
}

func newLineReader(in *bufio.Reader) *lineReader { return &lineReader{in: in} }

// next returns the next line without its end, valid until the next call. Of one
// that is too long nothing is kept, and the next call returns the line after it.
func (l *lineReader) next() ([]byte, error) {
	l.buf = l.buf[:0]
	long := false
	for {
		part, err := l.in.ReadSlice('\n')
		if len(l.buf)+len(part) > longestLine+len("\r\n") {
			long, l.buf = true, l.buf[:0]
		} else if !long {
			l.buf = append(l.buf, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(l.buf) == 0 && !long:
			return nil, io.EOF
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		}
		break
	}
	l.n++
	line := bytes.TrimSuffix(bytes.TrimSuffix(l.buf, []byte("\n")), []byte("\r"))
	if l.n == 1 {
		// Editors of one platform mark a file as UTF-8 so.
		line = bytes.TrimPrefix(line, []byte("\uFEFF"))
	}
	if long || len(line) > longestLine {
		return nil, &tooLongError{}
	}
	return line, nil
}
