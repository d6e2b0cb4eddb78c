package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// replaceFile gives a file this content, in one step: who reads it at that
// moment reads the old content or the new, and a full disk leaves the old. A
// file that has the content already is left alone, so that nobody who watches it
// reads it again. A new file may be read by everybody, as the service runs under
// a name of its own; an old one keeps its mode.
func replaceFile(name string, content []byte) (changed bool, err error) {
	mode := fs.FileMode(0o644)
	// A link is followed, not replaced.
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	switch info, err := os.Stat(name); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return false, err
	case !info.Mode().IsRegular():
		return false, fmt.Errorf("%s is not a regular file", name)
	default:
		mode = info.Mode().Perm()
		if info.Size() == int64(len(content)) {
			if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, content) {
				return false, nil
			}
		}
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return false, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return false, err
	}
	if err = os.Rename(f.Name(), name); err != nil {
		return false, err
	}
	return true, nil
}
