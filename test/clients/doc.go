// Package clients holds the tests of real programs that ask loginguard: nginx,
// HAProxy and Caddy in front of a login, and Dovecot. Each runs the examples in
// deploy as they are, with nothing but addresses, paths and keys put in, so that
// what users copy is what is tested. The programs are the system's own and have
// to be installed; a test says how when one is missing. Dovecot must be started
// by root. There is nothing to import here.
package clients
