package watch

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

const patience = 10 * time.Second

// quick is a watcher for tests: it never polls unless told, so that what is
// found is found by notifications.
func quick() Options {
	return Options{Poll: time.Hour, Quiet: 20 * time.Millisecond, Absent: 300 * time.Millisecond, Most: time.Second}
}

// bench is a folder with a watcher.
type bench struct {
	*Watcher
	t   *testing.T
	dir string
}

func newBench(t *testing.T, o Options) *bench {
	t.Helper()
	b := &bench{Watcher: New(o), t: t, dir: t.TempDir()}
	t.Cleanup(b.Close)
	return b
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) write(name, text string) {
	b.t.Helper()
	b.must(os.WriteFile(b.path(name), []byte(text), 0o600))
}

func (b *bench) rename(from, to string) {
	b.t.Helper()
	b.must(os.Rename(b.path(from), b.path(to)))
}

func (b *bench) link(target, name string) {
	b.t.Helper()
	b.must(os.Symlink(target, b.path(name)))
}

// told waits for a change.
func (b *bench) told() {
	b.t.Helper()
	select {
	case <-b.Changed():
	case <-time.After(patience):
		b.t.Fatal("the change is not told")
	}
}

// silent checks that nothing is told for as long as a change would take.
func (b *bench) silent() {
	b.t.Helper()
	select {
	case <-b.Changed():
		b.t.Fatal("a change is told, want none")
	case <-time.After(200 * time.Millisecond):
	}
}

func TestEveryWayToReplaceAFileIsOneChange(t *testing.T) {
	for name, change := range map[string]func(b *bench){
		"written in place": func(b *bench) { b.write("config.yaml", "new") },
		"renamed over": func(b *bench) {
			b.write(".config.yaml.swp", "new")
			b.rename(".config.yaml.swp", "config.yaml")
		},
		"moved to a backup, then written": func(b *bench) {
			b.rename("config.yaml", "config.yaml~")
			b.write("config.yaml", "new")
		},
		"removed, then written": func(b *bench) {
			b.must(os.Remove(b.path("config.yaml")))
			b.write("config.yaml", "new")
		},
		"written in pieces": func(b *bench) {
			f, err := os.Create(b.path("config.yaml"))
			b.must(err)
			for range 50 {
				_, err := f.WriteString("a piece\n")
				b.must(err)
			}
			b.must(f.Close())
		},
		"a link in its place": func(b *bench) {
			b.write("other.yaml", "new")
			b.link("other.yaml", "link")
			b.rename("link", "config.yaml")
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, quick())
			b.write("config.yaml", "old")
			b.Watch([]string{b.path("config.yaml")})
			change(b)
			b.told()
			b.silent()
			b.write("config.yaml", "and once more")
			b.told()
			b.silent()
		})
	}
}

// A ConfigMap is a folder of links through ..data, which is replaced in one
// step by a link to a new folder; the old one is removed.
func TestSwappedDataFolderIsOneChange(t *testing.T) {
	b := newBench(t, quick())
	b.must(os.Mkdir(b.path("..1"), 0o700))
	b.write("..1/config.yaml", "old")
	b.write("..1/list.txt", "old")
	b.link("..1", "..data")
	b.link("..data/config.yaml", "config.yaml")
	b.link("..data/list.txt", "list.txt")
	b.Watch([]string{b.path("config.yaml"), b.path("list.txt")})
	for i, text := range []string{"new", "newer"} {
		old, next := "..1", "..2"
		if i == 1 {
			old, next = "..2", "..1"
		}
		b.must(os.Mkdir(b.path(next), 0o700))
		b.write(next+"/config.yaml", text)
		b.write(next+"/list.txt", text)
		b.link(next, "..data_tmp")
		b.rename("..data_tmp", "..data")
		b.must(os.RemoveAll(b.path(old)))
		b.told()
		b.silent()
	}
	// The folder that is in use now is watched, too.
	b.write("..1/list.txt", "in place")
	b.told()
}

// git-sync links the whole tree.
func TestLinkedFolderIsFollowed(t *testing.T) {
	b := newBench(t, quick())
	for _, rev := range []string{"rev1", "rev2"} {
		b.must(os.MkdirAll(b.path(rev+"/etc"), 0o700))
		b.write(rev+"/etc/config.yaml", rev)
	}
	b.link(b.path("rev1"), "current")
	b.Watch([]string{b.path("current/etc/config.yaml")})
	b.link(b.path("rev2"), "tmp")
	b.rename("tmp", "current")
	b.told()
	b.write("rev2/etc/config.yaml", "in place")
	b.told()
}

func TestEqualContentsAreNoChange(t *testing.T) {
	b := newBench(t, quick())
	b.write("config.yaml", "same")
	b.Watch([]string{b.path("config.yaml")})
	now := time.Now().Add(time.Minute)
	b.must(os.Chtimes(b.path("config.yaml"), now, now))
	b.write("tmp", "same")
	b.rename("tmp", "config.yaml")
	b.write("neighbour", "new")
	b.silent()
}

func TestHalfAFileIsToldAgainWhenItIsWhole(t *testing.T) {
	b := newBench(t, quick())
	b.write("config.yaml", "old")
	b.Watch([]string{b.path("config.yaml")})
	b.write("config.yaml", "half")
	b.told()
	b.write("config.yaml", "half and half")
	b.told()
	b.silent()
}

func TestEmptyFileIsWaitedFor(t *testing.T) {
	o := quick()
	o.Absent, o.Most = time.Hour, 2*time.Hour
	b := newBench(t, o)
	b.write("config.yaml", "old")
	b.Watch([]string{b.path("config.yaml")})
	b.write("config.yaml", "")
	b.silent()
	b.must(os.Remove(b.path("config.yaml")))
	b.silent()
	b.write("config.yaml", "old")
	b.silent()
	b.write("config.yaml", "new")
	b.told()
}

func TestVanishedFileIsAChangeAndSoIsItsReturn(t *testing.T) {
	b := newBench(t, quick())
	b.write("config.yaml", "old")
	b.Watch([]string{b.path("config.yaml")})
	b.must(os.Remove(b.path("config.yaml")))
	b.told()
	b.silent()
	b.write("config.yaml", "old")
	b.told()
}

func TestFileThatWasNeverThereAppears(t *testing.T) {
	b := newBench(t, quick())
	b.Watch([]string{b.path("etc/loginguard/config.yaml")})
	b.silent()
	b.must(os.MkdirAll(b.path("etc/loginguard"), 0o700))
	b.write("etc/loginguard/config.yaml", "new")
	b.told()
}

func TestRemovedFolderIsFollowedWhenItIsMadeAgain(t *testing.T) {
	b := newBench(t, quick())
	for _, remove := range []func(){
		func() { b.must(os.RemoveAll(b.path("etc"))) },
		func() { b.rename("etc", "etc.old") },
	} {
		b.must(os.Mkdir(b.path("etc"), 0o700))
		b.write("etc/config.yaml", "old")
		b.Watch([]string{b.path("etc/config.yaml")})
		b.Sync()
		remove()
		b.told()
		b.must(os.Mkdir(b.path("etc"), 0o700))
		b.write("etc/config.yaml", "old")
		b.told()
		b.write("etc/config.yaml", "new")
		b.told()
		b.must(os.RemoveAll(b.path("etc")))
		b.told()
	}
}

func TestFileThatIsWrittenAllTheTimeIsToldOf(t *testing.T) {
	b := newBench(t, quick())
	b.write("config.yaml", "old")
	b.Watch([]string{b.path("config.yaml")})
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for text := "x"; ; text += "x" {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				_ = os.WriteFile(b.path("config.yaml"), []byte(text), 0o600)
			}
		}
	}()
	b.told()
	close(stop)
	<-stopped
}

// Some file systems send no notifications, and a system may have no more.
func TestPollingFindsWhatIsNotNotified(t *testing.T) {
	o := quick()
	o.Poll = 10 * time.Millisecond
	b := &bench{Watcher: newWatcher(o, closedDirs), t: t, dir: t.TempDir()}
	t.Cleanup(b.Close)
	b.write("config.yaml", "old")
	b.Watch([]string{b.path("config.yaml")})
	b.silent()
	b.write("config.yaml", "new, and longer")
	b.told()
	b.silent()
	b.must(os.Remove(b.path("config.yaml")))
	b.told()
	b.write("config.yaml", "new, and longer")
	b.told()
}

func TestSyncTakesTheFilesForKnown(t *testing.T) {
	b := newBench(t, quick())
	b.write("config.yaml", "old")
	b.Watch([]string{b.path("config.yaml")})
	b.write("config.yaml", "new")
	b.Sync()
	b.silent()
	b.write("config.yaml", "newer")
	b.told()
}

// A reader may have met a file that is being written again, with the contents
// that it had: it is told of, and once.
func TestFileThatWasWrittenWhileItWasReadIsTold(t *testing.T) {
	b := newBench(t, quick())
	b.write("config.yaml", "old")
	b.write("list.txt", "old")
	b.Watch([]string{b.path("config.yaml"), b.path("list.txt"), b.path("none")})
	b.Sync()
	b.Confirm()
	b.silent()
	b.write("list.txt", "")
	b.write("list.txt", "old")
	b.Confirm()
	b.told()
	b.Sync()
	b.Confirm()
	b.silent()
	b.write("new", "old")
	b.rename("new", "config.yaml")
	b.Confirm()
	b.told()
	b.silent()
}

// What changes between its last look and the next Watch of the same file is
// not taken for known.
func TestWatchKeepsWhatIsKnownOfAFile(t *testing.T) {
	b := newBench(t, quick())
	b.write("config.yaml", "old")
	b.write("list.txt", "old")
	b.Watch([]string{b.path("config.yaml")})
	b.write("config.yaml", "new")
	b.Watch([]string{b.path("config.yaml"), b.path("list.txt")})
	b.told()
	b.write("list.txt", "new")
	b.told()
	b.Watch([]string{b.path("config.yaml")})
	b.write("list.txt", "newer")
	b.silent()
}

func TestUnreadableThingsAreNotReadForEver(t *testing.T) {
	b := newBench(t, quick())
	b.must(os.Mkdir(b.path("folder"), 0o700))
	b.link("loop", "loop")
	b.Watch([]string{b.path("folder"), b.path("loop"), "/dev/zero", ""})
	b.silent()
	b.must(os.Remove(b.path("loop")))
	b.write("loop", "a file now")
	b.told()
}

func TestTroubleIsToldOnceAndChangesAreStillFound(t *testing.T) {
	told := make(chan error, 10)
	o := quick()
	o.Poll, o.Trouble = 10*time.Millisecond, func(err error) { told <- err }
	b := &bench{t: t, dir: t.TempDir()}
	b.Watcher = newWatcher(o, func(tell func(error)) *dirs {
		d := closedDirs(tell)
		for range 3 {
			d.trouble(errors.New("too many open files"))
		}
		return d
	})
	t.Cleanup(b.Close)
	if err := <-told; !strings.Contains(err.Error(), "too many open files") {
		t.Errorf("told %v", err)
	}
	if len(told) != 0 {
		t.Errorf("told once more: %v", <-told)
	}
	b.Watch([]string{b.path("config.yaml")})
	b.write("config.yaml", "new")
	b.told()
}

func TestCloseEndsEverything(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 10 {
		w := New(quick())
		w.Watch([]string{filepath.Join(t.TempDir(), "config.yaml")})
		w.Close()
		w.Close()
		w.Watch(nil) // nothing happens, and it returns
		w.Sync()
	}
	for end := time.Now().Add(patience); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}
