package main

import "fmt"

// exitStatus ends a command that has said all there is to say with a status of
// its own, for scripts: [run] prints nothing for it. It is an error only so that
// a command can return it.
type exitStatus int

// exitFound is the status of a command that did what it was asked to and found
// what one looks for with it: an attempt that would be denied, an override that
// expires.
const exitFound exitStatus = 3

// Error implements error.
func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }
