package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// outputs are files that appear whole or not at all: each is written under
// another name beside its own and renamed when all is done. Only their owner may
// read them: they may name people.
type outputs struct{ open []*output }

type output struct {
	name string
	f    *os.File
	buf  *bufio.Writer
	temp bool // to be renamed; what is no regular file, such as a pipe, is written as it is
}

// create begins a file.
func (o *outputs) create(name string) (io.Writer, error) {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real // the file behind a link is replaced, not the link
	}
	out := &output{name: name}
	var err error
	if info, statErr := os.Stat(name); statErr == nil && !info.Mode().IsRegular() {
		out.f, err = os.OpenFile(name, os.O_WRONLY, 0)
	} else {
		out.temp = true
		out.f, err = os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	}
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	out.buf = bufio.NewWriterSize(out.f, 64<<10)
	o.open = append(o.open, out)
	return out.buf, nil
}

// keep ends all files and gives them their names.
func (o *outputs) keep() error {
	for _, out := range o.open {
		if err := out.buf.Flush(); err != nil {
			return fmt.Errorf("write %s: %w", out.name, err)
		}
		if out.temp {
			if err := out.f.Sync(); err != nil {
				return fmt.Errorf("write %s: %w", out.name, err)
			}
		}
	}
	for len(o.open) > 0 {
		out := o.open[0]
		if err := out.f.Close(); err != nil {
			return fmt.Errorf("write %s: %w", out.name, err)
		}
		if out.temp {
			if err := os.Rename(out.f.Name(), out.name); err != nil {
				return fmt.Errorf("write %s: %w", out.name, err)
			}
		}
		o.open = o.open[1:]
	}
	return nil
}

// discard removes what was begun and not kept.
func (o *outputs) discard() error {
	var errs []error
	for _, out := range o.open {
		_ = out.f.Close() // it may be closed, and is not wanted any more
		if out.temp {
			errs = append(errs, os.Remove(out.f.Name()))
		}
	}
	return errors.Join(errs...)
}
