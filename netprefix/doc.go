// Package netprefix answers two questions about a login attempt: which address does it come
// from, and which networks does that address belong to.
//
// # Client addresses
//
// A [Resolver] knows how many proxies stand in front of the service, which addresses they have
// and which one header they write. [Resolver.FromForwarded] walks from the TCP peer to the left
// through X-Forwarded-For or Forwarded (RFC 7239), and takes a step only when the address it is
// about to leave is a trusted proxy: whatever the client wrote itself lies further left and is
// never reached. [Resolver.FromIP] reads an address that the caller already knows. Both give one
// spelling per client: ::ffff:192.0.2.1 is 192.0.2.1, zones and ports are dropped, configured
// NAT64 prefixes are translated.
//
// # Networks
//
// A [Table] holds the address blocks of the configuration and its list files.
// [Table.Classify] gives the class of the longest block that contains an address (exempt, a
// carrier pool, hosting or none) and the networks it counts towards, from fine to coarse:
//
//	203.0.113.9      host 203.0.113.9/32, subnet 203.0.113.0/24
//	2001:db8:1:2::9  host 2001:db8:1:2::/64, site 2001:db8:1::/56, subnet 2001:db8:1::/48
//	100.64.7.7       host 100.64.7.7/32, pool shared
//
// # Where to begin
//
// Build both with [NewResolver] and [NewTable] from the configuration. Each reports every fault
// at once as [Errors], with the configuration path, and for list files the file and line. Both
// values are immutable and safe for concurrent use: to reload, build new ones and swap them.
//
// # What it leaves alone
//
// It does not read HTTP requests (callers pass the lines of the configured header), does not
// watch files ([Table.Files] says which), makes no network calls, and knows nothing of limits.
package netprefix
