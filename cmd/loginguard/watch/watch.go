package watch

import (
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Options set up a [Watcher]. The zero value is ready for use.
type Options struct {
	// Poll is how often the files are looked at without any notification; five
	// seconds when 0. On a file system that sends none it is how late a change
	// is noticed.
	Poll time.Duration

	// Quiet is how long the files must be at rest; 150 ms when 0. A change is
	// told after two of these.
	Quiet time.Duration

	// Absent is how long a missing or empty file is waited for before that is
	// taken for the change; a second when 0.
	Absent time.Duration

	// Most is how long files that do not come to rest are waited for; five
	// seconds when 0.
	Most time.Duration

	// Trouble is told that the system sends no notifications, for all or for
	// one directory, so that Poll alone finds changes there. Each reason is
	// told once. Nil for nobody.
	Trouble func(error)
}

// Watcher watches a set of files. It is safe for concurrent use;
// [Watcher.Close] stops its one goroutine.
type Watcher struct {
	o       Options
	changed chan struct{} // holds at most one
	asked   chan func()   // to be run by the goroutine, which owns all below
	stop    chan struct{}
	once    sync.Once
	done    sync.WaitGroup

	files map[string]*file // by absolute path
	dirs  *dirs

	begun time.Time // of the unrest, zero while there is none
	quiet *time.Timer
}

// file is one file of the set.
type file struct {
	told seen // last
	last seen // at the last look
}

// New returns a watcher of no file.
func New(o Options) *Watcher { return newWatcher(o, openDirs) }

// newWatcher is [New] with notifications from elsewhere.
func newWatcher(o Options, open func(func(error)) *dirs) *Watcher {
	for _, d := range []struct {
		value *time.Duration
		usual time.Duration
	}{{&o.Poll, 5 * time.Second}, {&o.Quiet, 150 * time.Millisecond}, {&o.Absent, time.Second}, {&o.Most, 5 * time.Second}} {
		if *d.value <= 0 {
			*d.value = d.usual
		}
	}
	if o.Trouble == nil {
		o.Trouble = func(error) {}
	}
	w := &Watcher{
		o: o, changed: make(chan struct{}, 1), asked: make(chan func()), stop: make(chan struct{}),
		files: make(map[string]*file), dirs: open(o.Trouble), quiet: time.NewTimer(o.Quiet),
	}
	w.quiet.Stop()
	w.done.Go(w.run)
	return w
}

// Changed receives when the files have changed since they were last told of,
// or since [Watcher.Sync]. Changes that nobody receives are told as one.
func (w *Watcher) Changed() <-chan struct{} { return w.changed }

// Watch replaces the set. Files that were in it before go on to be compared
// with what was known of them; new ones with what they are now. A relative name
// is that of a file in the working directory. A file need not exist.
func (w *Watcher) Watch(files []string) {
	w.do(func() {
		set := make(map[string]*file, len(files))
		for _, name := range files {
			path, err := filepath.Abs(name)
			if err != nil {
				path = name // there is no working directory, so no file either
			}
			if set[path] = w.files[path]; set[path] == nil {
				now := look(path, seen{}, true)
				set[path] = &file{told: now, last: now}
			}
		}
		w.files = set
		w.follow()
	})
}

// Sync takes all files as they are now for known. It is called before they are
// read: what changes during or after that is told.
func (w *Watcher) Sync() {
	w.do(func() {
		w.lookAtAll(true)
		for _, f := range w.files {
			f.told = f.last
		}
		w.rest()
		select {
		case <-w.changed:
		default:
		}
	})
}

// Confirm is called when the files that [Watcher.Sync] took for known have been
// read. One that was written meanwhile may have been read by halves, and may
// come to be again what it was before: it is told of in any case.
func (w *Watcher) Confirm() {
	w.do(func() {
		for path, f := range w.files {
			now := look(path, f.last, false)
			if f.told.info == nil || now.info == nil || unmoved(f.told.info, now.info) {
				continue // what is not there now is told of as for any change
			}
			f.told = seen{err: errMoved}
			w.stir()
		}
	})
}

// errMoved is what a reader may have found instead of the contents.
const errMoved = "was written while it was read"

// Close stops watching. Nothing is told afterwards.
func (w *Watcher) Close() {
	w.once.Do(func() { close(w.stop) })
	w.done.Wait()
}

// do has the goroutine run f, and returns when it has.
func (w *Watcher) do(f func()) {
	ran := make(chan struct{})
	select {
	case w.asked <- func() { f(); close(ran) }:
		<-ran
	case <-w.stop:
	}
}

// run is the goroutine.
func (w *Watcher) run() {
	defer w.dirs.close()
	defer w.quiet.Stop()
	poll := time.NewTicker(w.o.Poll)
	defer poll.Stop()
	for {
		select {
		case <-w.stop:
			return
		case f := <-w.asked:
			f()
		case e := <-w.dirs.events:
			if w.concerns(e) {
				w.stir()
			}
		case err := <-w.dirs.errors:
			w.dirs.trouble(err)
			w.stir() // notifications were lost, perhaps
		case <-poll.C:
			// Unless it is about to be looked anyway.
			if w.begun.IsZero() && (w.lookAtAll(false) || w.differs()) {
				w.stir()
			}
		case <-w.quiet.C:
			w.settle()
		}
	}
}

// concerns reports whether a notification is about something on the way to a
// file, or about a directory on it.
func (w *Watcher) concerns(e fsnotify.Event) bool {
	if w.dirs.has(e.Name) {
		if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
			w.dirs.gone(e.Name)
		}
		return true
	}
	for _, f := range w.files {
		for _, s := range f.last.way {
			if filepath.Join(s.dir, s.name) == e.Name {
				return true
			}
		}
	}
	return false
}

// stir notes unrest: the files are looked at when they have been left alone
// for a while, or have not been for too long.
func (w *Watcher) stir() {
	if w.begun.IsZero() {
		w.begun = time.Now()
	}
	w.quiet.Reset(min(w.o.Quiet, max(0, w.o.Most-time.Since(w.begun))))
}

// rest ends the unrest.
func (w *Watcher) rest() {
	w.begun = time.Time{}
	w.quiet.Stop()
}

// settle looks whether the files are at rest, and tells of them if they are
// not what they were.
func (w *Watcher) settle() {
	moved, age := w.lookAtAll(true), time.Since(w.begun)
	if moved && age < w.o.Most {
		w.stir()
		return
	}
	if !w.differs() {
		w.rest()
		return
	}
	for _, f := range w.files {
		if !f.last.same(f.told) && f.last.unfinished() && age < w.o.Absent {
			w.stir()
			return
		}
	}
	for _, f := range w.files {
		f.told = f.last
	}
	w.rest()
	select {
	case w.changed <- struct{}{}:
	default: // nobody has heard of the last change yet
	}
}

// differs reports whether some file is not what was last told of.
func (w *Watcher) differs() bool {
	for _, f := range w.files {
		if !f.last.same(f.told) {
			return true
		}
	}
	return false
}

// lookAtAll looks at all files, reports whether one is not what it was at the
// look before, and watches the directories that they are found in now.
func (w *Watcher) lookAtAll(reread bool) (moved bool) {
	for path, f := range w.files {
		now := look(path, f.last, reread)
		moved = moved || !now.same(f.last)
		f.last = now
	}
	w.follow()
	return moved
}

// follow watches the directories on the way to all files. What happens in a new
// one before it is watched is seen by another look, which has to follow only a
// path that is being changed all the time; so there is an end to it.
func (w *Watcher) follow() {
	for range 3 {
		var want []string
		for _, f := range w.files {
			for _, s := range f.last.way {
				want = append(want, s.dir)
			}
		}
		slices.Sort(want)
		if !w.dirs.set(slices.Compact(want)) {
			return
		}
		for path, f := range w.files {
			now := look(path, f.last, false)
			if !now.same(f.last) {
				w.stir()
			}
			f.last = now
		}
	}
}
