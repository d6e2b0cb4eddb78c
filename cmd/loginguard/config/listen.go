package config

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// validateListen wants host:port with a literal address, localhost or nothing
// as host, so that what is listened on does not depend on a name server.
func (r *report) validateListen(path, listen string) bool {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		r.wrong(path, "must be host:port such as 127.0.0.1:8080, not %s", quote(listen))
		return false
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 || port != strconv.Itoa(n) {
		r.wrong(path, "the port must be a number from 0 to 65535, not %s", quote(port))
		return false
	}
	if _, err := netip.ParseAddr(host); err != nil && host != "" && host != localhost {
		r.wrong(path, "the host must be an IP address or localhost, not %s", quote(host))
		return false
	}
	return true
}

const localhost = "localhost"

// loopback reports whether only this machine can reach a valid listen address.
// An empty host means all addresses.
func loopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	if host == localhost {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// anyPort reports whether the system picks the port.
func anyPort(listen string) bool { return strings.HasSuffix(listen, ":0") }
