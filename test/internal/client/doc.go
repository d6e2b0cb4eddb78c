// Package client asks a running loginguard over HTTP, the way an application
// does: [New] makes a client for one listener, its methods send a check, a
// report and what an operator sends, and return typed answers. A refusal is an
// answer, too; an error means that none came. Nothing is repeated: a test must
// see every answer exactly once.
package client
