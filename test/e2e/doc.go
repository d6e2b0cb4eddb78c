// Package e2e holds the tests of what a caller and an operator of loginguard
// can see from outside: each starts the real program, on the memory store or
// on a redis-server of its own, and asks it over HTTP. A file is about one
// promise and named after it. There is nothing to import here.
package e2e
