// Package replay runs a recorded log of sign-in attempts through the real
// engine, on the log's own clock: what would these limits have done, and to
// whom?
//
// Open a log with [Open] and read its events with [Reader.Next], which
// understands JSON lines and the lines of an SSH server. [NewEngine] makes an
// engine of a policy; [Engine.Step] decides one event and lets the engine learn
// how it ended. [Run] does both for one policy or two, and fills a [Report],
// which prints as a table, as JSON and as a page of HTML.
//
// Everything is streamed: what is held in memory is bounded by the options,
// whatever the length of the log. The same log and policy always give the same
// decisions.
//
// The package knows nothing of configuration files or of the command line.
package replay
