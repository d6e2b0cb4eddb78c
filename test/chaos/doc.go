// Package chaos holds the tests that take the store apart while attempts are
// decided: Redis Cluster and Sentinel with their failovers, TLS and least
// rights, and a network that is slow, deaf or cuts replies short. None of it
// may let an attempt through that a healthy store would deny, and none may need
// a restart. The long editions have the build tag slow.
package chaos
