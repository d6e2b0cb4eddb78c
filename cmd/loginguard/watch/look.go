package watch

import (
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	// maxLinks is how many symbolic links a path may go through, as on Linux.
	maxLinks = 40

	// maxRead bounds how much of a file is compared, in bytes. Beyond it, only
	// the size is: no reader here takes a file as large as that.
	maxRead = 64<<20 + 1
)

// step is a name in a directory: what it stands for decides which file a path
// leads to.
type step struct{ dir, name string }

// seen is what a look at one path found.
type seen struct {
	way  []step // to the file: each symbolic link, and the file itself or the first that is missing
	info os.FileInfo
	sum  [sha256.Size]byte // of the contents
	err  string            // why they cannot be read, "" when they can
}

// same reports whether a reader of the file would find the same.
func (s seen) same(o seen) bool { return s.err == o.err && s.sum == o.sum }

// unfinished reports whether the file looks as if it was about to be written.
func (s seen) unfinished() bool { return s.info == nil || s.info.Size() == 0 }

// look looks at a path, which must be absolute. The contents are read again
// unless before is of the very same file, of the same size and time, and
// reread is false.
func look(path string, before seen, reread bool) seen {
	now := seen{}
	var file string
	now.way, file = trace(path)
	info, err := os.Stat(file)
	if err != nil {
		now.err = cause(err)
		return now
	}
	now.info = info
	if !reread && before.info != nil && before.err == "" && unmoved(before.info, info) {
		now.sum = before.sum
		return now
	}
	if !info.Mode().IsRegular() {
		now.err = "is not a regular file" // a pipe would block
		return now
	}
	if now.sum, err = sum(file, info.Size()); err != nil {
		now.err = cause(err)
	}
	return now
}

// unmoved reports whether two looks found one file that was not written since.
func unmoved(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode()
}

// sum returns the hash of a file's contents.
func sum(file string, size int64) (digest [sha256.Size]byte, err error) {
	f, err := os.Open(file)
	if err != nil {
		return digest, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, maxRead))
	if err != nil {
		return digest, err
	}
	if n == maxRead {
		h.Write([]byte(strconv.FormatInt(size, 10)))
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// cause is an error without the path, which a link may change.
func cause(err error) string {
	if p, ok := err.(*os.PathError); ok {
		err = p.Err
	}
	return err.Error()
}

// trace follows an absolute path through all symbolic links. It returns the
// steps at which it may come to lead elsewhere, and where it ends. Of a path
// that leads nowhere the last step is the name that is missing, so that its
// directory exists.
func trace(path string) (way []step, end string) {
	root := filepath.VolumeName(path) + string(filepath.Separator)
	dir, todo := root, split(path)
	for links := 0; len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			dir = filepath.Dir(dir)
			continue
		}
		full := filepath.Join(dir, name)
		info, err := os.Lstat(full)
		if err != nil || info.Mode()&os.ModeSymlink == 0 && len(todo) == 0 {
			return append(way, step{dir, name}), filepath.Join(append([]string{full}, todo...)...)
		}
		if info.Mode()&os.ModeSymlink == 0 {
			dir = full
			continue
		}
		way = append(way, step{dir, name})
		target, err := os.Readlink(full)
		if links++; err != nil || links > maxLinks {
			return way, path
		}
		if filepath.IsAbs(target) {
			dir = filepath.VolumeName(target) + string(filepath.Separator)
		}
		todo = append(split(target), todo...)
	}
	return way, dir
}

// split returns the names in a path, those of volumes left out.
func split(path string) []string {
	return strings.Split(filepath.ToSlash(path[len(filepath.VolumeName(path)):]), "/")
}
