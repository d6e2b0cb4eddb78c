// Package storetest is the conformance suite of package store: what every
// implementation of [store.Store] must do, whatever it keeps its values in.
//
// A test of an implementation calls [Run] with a function that opens an empty
// store, and [Attack] and [Clock] with the number of steps that it can afford:
// they are long runs on a virtual clock, and prove what an attacker gets in
// days. What only one implementation can get wrong (an unreachable server, a
// full memory) is left to its own tests.
package storetest
