// Command bench measures what a check costs: processor time of the guard plus
// Redis, latency, memory a bucket, and how all of it moves with load and with
// the number of accounts. test/bench/run builds and runs it.
//
// Everything is started here on free loopback ports: redis-server, loginguard
// and two floors to compare with, an Echo handler that decodes and encodes the
// same JSON and decides nothing (floor.go), and the same script on the same
// keys straight through the store's client (storefloor.go). All cases take
// turns, several rounds of them, so that a machine that slows down does so for
// all; figures are medians, and only ratios of one run mean anything.
//
// Processor time is that of the operating system's accounting for the processes
// under test; the load's own is left out. Nothing here asserts a time.
package main
