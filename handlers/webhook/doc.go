// Package webhook tells another service what happened, over HTTP, signed as
// Standard Webhooks lays down (https://www.standardwebhooks.com).
//
// Make a [Sender] with [New] and hand it events with [Sender.Send], which never
// waits: events stand in a bounded queue, one goroutine sends them in turn, and
// what does not fit is dropped, of which Send tells. [Sender.Close] sends what
// is left within the time that it is given.
//
// A message is a POST with a JSON body
//
//	{"type":"login.global_exhausted","timestamp":"2026-11-30T12:00:00Z","data":{...}}
//
// and the headers webhook-id (the same for every try of one event),
// webhook-timestamp (Unix seconds, of this try) and webhook-signature: "v1,"
// and the base64 of HMAC-SHA256 over id.timestamp.body.
//
// The package knows nothing of logins: the names of events and what is in them
// are those of package handlers. It follows no redirect, since a signed message
// belongs to nobody but the address that it was configured for.
package webhook
