// Package watch tells when one of a set of files has other contents than
// before: the configuration and the lists that it names.
//
// Call [New], then [Watcher.Watch] with the files, and receive from
// [Watcher.Changed]. Before files are read anew, [Watcher.Sync] says that their
// present contents are known, and afterwards [Watcher.Confirm] that they have
// been read.
//
// # What counts as a change
//
// The contents, and nothing else. Notifications of the system only say when to
// look: which of them an editor, a ConfigMap or a network file system sends
// differs, and some send none. So the directories of the files are watched, of
// every symbolic link on the way to them and of what these lead to; and the
// files are looked at every few seconds in any case. A file that is touched, or
// replaced by an equal one, is no change. One that appears, vanishes or cannot
// be read any more is.
//
// # When it is told
//
// Once the files are at rest: two looks in a row, a short while apart, found the
// same. So a burst of writes is one change, and so are the two steps of an
// editor that moves the old file away and writes a new one. A file that is
// missing or empty is given longer, since it is mostly about to be written.
// Nothing can tell a file that was written by halves, with a pause in between,
// from a finished one: its reader must refuse what is not whole, and is told
// again when the rest has come. So it is when a file was written while it was
// read, though its contents are those of before when it is done.
//
// The package reads the files to compare them, keeps none of their contents,
// and knows nothing of what they mean.
package watch
