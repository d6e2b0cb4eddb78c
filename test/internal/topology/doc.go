// Package topology starts groups of real redis-servers for tests, as plain
// processes on free loopback ports, each in a folder of its own and stopped by
// its own pid when the test ends: [StartSentinel] a master, a replica and three
// sentinels, [StartDividedSentinel] the same with networks between them that
// fail; [StartCluster] three masters with a replica each; [StartSecure] one
// server with TLS, a unix socket and a user that may do no more than the
// service needs; [StartSecureSentinel] and [StartSecureCluster] groups that talk
// nothing but TLS. Each has the store URL that names it.
//
// Single servers are started by redisd.
package topology
