// Package efficacy measures what a login limiter lets through and whom it
// turns away: traces of owners and attackers, run through the real engine with
// its default configuration and through models of what other products document
// as theirs.
//
// A [Scenario] says who signs in and who attacks. [Run] plays it once, with one
// seed and one [Variant], against a policy of [Contenders], and counts: guesses
// that reached the credential check, valid pairs found, and sign-ins with the
// right password that were denied. [Measure] does so for many of each, and
// [WritePage] makes docs/efficacy.md of the result. The command in cmd/efficacy
// does all of it.
//
// Everybody in a trace is an actor that learns how its last attempt was
// answered before it makes the next: people wait as long as they are told, and
// attackers adapt to the policy they face. What is drawn by chance is drawn
// before, from the seed alone, so every policy meets the same people.
//
// The package measures decisions only. What they cost in time is for the
// benchmarks of the engine.
package efficacy
