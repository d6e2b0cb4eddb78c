// Command caddy is Caddy with all its standard modules and the directive
// edge_limit of loginguard.
package main

import (
	_ "time/tzdata" // log formats name zones, and a small image has none

	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	_ "github.com/caddyserver/caddy/v2/modules/standard" // registers what Caddy comes with

	_ "loginguard/deploy/caddy/edge" // registers edge_limit
)

func main() { caddycmd.Main() }
