// Package deploy holds the tests of what users copy from the folders deploy and
// docs: that every configuration loads in the real program, that the files of one
// example fit together (ports, paths, names), and, where the other program cannot
// be had in a test, that its rules do what they say before a stand-in that answers
// as it does. What runs against the real nginx, HAProxy, Caddy and Dovecot is in
// test/clients. There is nothing to import here.
package deploy
