// Package service runs the real program in tests: [Start] starts a process of
// it on free ports and returns when it serves, a [Service] is asked through
// its methods and stopped by its own pid when the test ends. Every service
// that a test does not kill must end well on SIGTERM, and none may have a data
// race or a panic in its log: both fail the test. Tests that use it call [Main]
// from their TestMain.
//
// It starts no store: see redisd.
package service
