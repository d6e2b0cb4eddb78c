// Package config reads loginguard's configuration: the file, the environment
// and the command line, laid over the defaults in that order.
//
// Call [Load] first. It returns a [Config] that has been checked in whole, or
// [Mistakes]: everything that is wrong, each with its path and the line of the
// file, so that an operator mends a file in one go. From a Config come the
// parts of the running service: [Config.Ring] the secrets, [Config.Rules]
// everything a decision depends on. [Config.Print] writes the effective
// configuration with its secrets masked.
//
// # How a file is read
//
// A protection limiter that reads its configuration generously protects
// nothing: a misspelt key leaves the default in force, `60` becomes 60
// nanoseconds, a second document is never looked at. So the YAML node tree is
// compared with the schema before any value is used. The schema is the Config
// type itself: a field's name, kind and bounds are read from it once, and
// reading, environment names, printing and the tests all walk that one tree.
// Only what passed is given to viper, which merges the layers; decoding is
// exact and never converts.
//
// # What it leaves alone
//
// It opens no listener and connects to no store. It does not watch the file: a
// reload calls Load again, has [Config.Under] lay the result over what a running
// process cannot change, and swaps the Rules in one step, or keeps the old ones
// when any of it fails. [Config.Expire] ends overrides with their last day.
// Policy, networks and account names are validated by the packages that use them
// (policy, netprefix, keys); their complaints come back here to be given a line.
package config
