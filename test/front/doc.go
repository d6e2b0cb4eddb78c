// Package front holds the tests of the reverse proxy: a login application that
// knows nothing of loginguard, behind the real program, attacked from outside.
package front
