// Package feed sends a recorded log of sign-in attempts through a running
// service, one attempt after the other, the way a login does: a check, and the
// recorded outcome as the report of what was admitted. [Run] does it and
// returns what became of them. What was denied has no outcome and is not
// reported.
//
// The service decides by its own clock, so the times of the log do not matter:
// a log of a day is fed in seconds, and is denied more than it would have been.
package feed
