package watch

import (
	"fmt"
	"os"

	"github.com/fsnotify/fsnotify"
)

// maxDirs bounds the directories that are watched; files in others are found
// by polling. The system bounds them, too, for all processes of a user.
const maxDirs = 256

// dirs are the directories of which the system sends notifications.
type dirs struct {
	notify *fsnotify.Watcher // nil when there are no notifications
	events <-chan fsnotify.Event
	errors <-chan error

	watched map[string]os.FileInfo
	told    map[string]bool // troubles
	tell    func(error)
}

// openDirs asks the system for notifications.
func openDirs(trouble func(error)) *dirs {
	d := closedDirs(trouble)
	n, err := fsnotify.NewWatcher()
	if err != nil {
		d.trouble(err)
		return d
	}
	d.notify, d.events, d.errors = n, n.Events, n.Errors
	return d
}

// closedDirs never notify.
func closedDirs(trouble func(error)) *dirs {
	return &dirs{watched: make(map[string]os.FileInfo), told: make(map[string]bool), tell: trouble}
}

// trouble tells of each trouble once.
func (d *dirs) trouble(err error) {
	if text := err.Error(); !d.told[text] && len(d.told) < maxDirs {
		d.told[text] = true
		d.tell(fmt.Errorf("no notifications of changed files: %w", err))
	}
}

// has reports whether a path is that of a watched directory.
func (d *dirs) has(path string) bool {
	_, ok := d.watched[path]
	return ok
}

// gone forgets a directory that was removed or moved away, for which nothing is
// sent any more. Another one of its name may even have its number on the disk.
func (d *dirs) gone(path string) {
	_ = d.notify.Remove(path) // the system may have done so
	delete(d.watched, path)
}

// set watches these directories and no other, and reports whether there is one
// that was not watched before. A directory that another one has replaced, under
// the same name, is watched anew: notifications follow the old one.
func (d *dirs) set(want []string) (added bool) {
	if d.notify == nil {
		return false
	}
	wanted := make(map[string]bool, len(want))
	for _, path := range want[:min(len(want), maxDirs)] {
		info, err := os.Stat(path)
		if err != nil {
			continue // it has just gone: the next look does not go through it
		}
		wanted[path] = true
		old, watched := d.watched[path]
		if watched && os.SameFile(old, info) {
			continue
		}
		if watched {
			d.gone(path)
		}
		if err := d.notify.Add(path); err != nil {
			d.trouble(fmt.Errorf("%s: %w", path, err))
			continue
		}
		d.watched[path] = info
		added = true
	}
	for path := range d.watched {
		if !wanted[path] {
			d.gone(path)
		}
	}
	return added
}

func (d *dirs) close() {
	if d.notify != nil {
		_ = d.notify.Close() // it closes nothing that could fail to be written
	}
}
