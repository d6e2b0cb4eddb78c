// Package handlers speaks HTTP: it turns requests into questions to the guard
// and decisions into answers, headers, log lines and metrics.
//
// Make a [Metrics] with [NewMetrics] first, because the guard wants it as its
// observer, then a [Server] with [New]. [Server.API] serves the callers of the
// API (check, report, forget, explain, limits) and, in their own protocols,
// reverse proxies (forwardauth.go) and mail servers (wforce.go);
// [Server.Admin] serves probes, metrics and operators. [NewFront] makes a
// reverse proxy that guards the login of an application which asks nothing
// itself (front.go). All are plain http.Handlers; listeners, TLS and timeouts
// belong to the program.
//
// What a caller may send is read by one strict decoder (decode.go), what goes
// wrong is written by one function (problem.go), for other protocols than the
// API in their dialect (dialect.go). Nothing that a client chose
// reaches a log line or a metric label except through a closed set of words: an
// account appears as its keyed hash, an address as the address that was parsed.
//
// The package decides nothing about attempts, knows no limits, and reads no
// address: who the client is, the body says or, for reverse proxies, the guard
// finds in the header that they wrote.
package handlers
