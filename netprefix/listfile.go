package netprefix

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"
)

// Bounds of a list file. The largest public lists have some hundred thousand blocks.
const (
	maxFileBytes = 64 << 20
	maxFileLines = 2_000_000
	maxLineBytes = 64 << 10
)

// readListFile reads the file at name. It gives each block with its line, and each fault with
// its line, or line 0 when the file as a whole cannot be read.
func readListFile(name string, block func(line int, p netip.Prefix), fault func(line int, msg string)) {
	info, err := os.Stat(name)
	if err != nil {
		fault(0, reason(err))
		return
	}
	// Opening a pipe would block, and a directory reads as an error nobody understands.
	if !info.Mode().IsRegular() {
		fault(0, "is not a regular file")
		return
	}
	f, err := os.Open(name)
	if err != nil {
		fault(0, reason(err))
		return
	}
	defer f.Close()
	if err := parseList(f, block, fault); err != nil {
		fault(0, reason(err))
	}
}

// reason is the cause of a file error without the path, which the fault carries already.
func reason(err error) string {
	var pathErr *os.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return "cannot be read: " + err.Error()
}

// parseList reads one block or address a line. "#" begins a comment, on a line of its own or
// behind a block; blank lines, CRLF and a byte order mark are fine, and so is a list without any
// block.
func parseList(r io.Reader, block func(line int, p netip.Prefix), fault func(line int, msg string)) error {
	limited := &io.LimitedReader{R: r, N: maxFileBytes + 1}
	scanner := bufio.NewScanner(limited)
	scanner.Buffer(make([]byte, 0, 4096), maxLineBytes)
	line := 0
	for scanner.Scan() {
		if line++; line > maxFileLines {
			return fmt.Errorf("more than %d lines", maxFileLines)
		}
		text := scanner.Text()
		if line == 1 {
			text = strings.TrimPrefix(text, "\ufeff")
		}
		text, _, _ = strings.Cut(text, "#")
		if text = strings.Trim(text, blanks+"\r"); text == "" {
			continue
		}
		p, err := ParsePrefix(text)
		if err != nil {
			fault(line, err.Error())
			continue
		}
		block(line, p)
	}
	if limited.N == 0 {
		return fmt.Errorf("more than %d bytes", maxFileBytes)
	}
	if errors.Is(scanner.Err(), bufio.ErrTooLong) {
		fault(line+1, fmt.Sprintf("line is longer than %d bytes", maxLineBytes))
		return nil
	}
	return scanner.Err()
}
