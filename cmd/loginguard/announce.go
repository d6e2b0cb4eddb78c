package main

import (
	"fmt"
	"io"
	"net"

	"loginguard/cmd/loginguard/config"
)

// announce says in plain lines where the service is, and how to try it. A
// reader that has gone away is no reason not to serve, so errors are dropped.
func announce(w io.Writer, l *listeners, c *config.Config) {
	scheme := "http"
	if l.tls {
		scheme = "https"
	}
	key := ""
	if len(c.Callers) > 0 {
		key = " -H 'Authorization: Bearer KEY'"
	}
	if l.tls {
		key += " --cacert CA.pem"
	}
	front := ""
	if l.front != nil {
		front = "  front  http://" + reachable(l.front.Addr()) + "\n"
		if l.frontTLS {
			front = "  front  https://" + reachable(l.front.Addr()) + "\n"
		}
	}
	api := scheme + "://" + reachable(l.api.Addr())
	fmt.Fprintf(w, `loginguard is serving
  api    %s
  admin  http://%s
%stry it:
  curl%s --json '{"account":"alice","ip":"203.0.113.7"}' %s/v1/check
`, api, reachable(l.admin.Addr()), front, key, api)
}

// reachable returns an address to connect to: who listens on all addresses is
// found on this machine.
func reachable(a net.Addr) string {
	tcp, ok := a.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return a.String()
	}
	return net.JoinHostPort("localhost", fmt.Sprint(tcp.Port))
}
