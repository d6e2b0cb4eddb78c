// Command loginguard is the service and its tools.
//
//	loginguard [serve]     answers checks and reports until SIGTERM or SIGINT;
//	                          reads its configuration again when it changes, and on SIGHUP
//	loginguard config check   finds everything that is wrong in a configuration
//	loginguard config print   shows the configuration in force, secrets masked
//	loginguard callers add    makes a key for a client of the API
//	loginguard limits         shows the limits, to be published
//	loginguard explain        says how a running service would decide, and why
//	loginguard forget         lets an account or a network in now
//	loginguard overrides list shows who has other limits, and until when
//	loginguard lists check    says what is in list files of networks
//	loginguard lists import   makes one of what a provider publishes
//	loginguard completion     makes a shell complete commands
//	loginguard version        says what this is
//
// It exits with 0 when all went well, 1 when something failed, 2 when it was
// called wrongly, and 3 when explain or overrides list found what one looks for.
// What a person or a script reads goes to standard output; the log, warnings and
// errors go to standard error.
//
// This package only wires: [config] reads the configuration, package store
// keeps the counters, package guard decides and package handlers speaks HTTP.
// [run] is the whole program with its surroundings as arguments, so that tests
// call what users call.
//
// [config]: loginguard/cmd/loginguard/config
package main
