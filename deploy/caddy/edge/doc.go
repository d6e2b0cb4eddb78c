// Package edge is a module for Caddy that limits how often each client network
// may ask, so that a flood ends at the proxy and costs what stands behind it
// nothing. Caddy as it comes has no such limit. In a Caddyfile it is the
// directive edge_limit, which runs before basic_auth, forward_auth and
// reverse_proxy:
//
//	edge_limit @attempt {
//		rate  5/s
//		burst 20
//	}
//
// The module is [Limit], with the id http.handlers.edge_limit; its fields are
// the settings. Importing the package registers it, and the program in
// cmd/caddy is a Caddy with all standard modules and this one.
//
// It counts requests and does not know whether they were guesses, which
// account they were for, or how they ended: that is for loginguard behind it.
// Each Caddy counts for itself, in memory, and afresh after a reload.
package edge
