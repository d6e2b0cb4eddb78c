// Package proxy is a TCP proxy that is a bad network for tests: [Start] puts it
// in front of a server, its methods delay what passes, swallow it, cut replies
// short or reset connections, and heal it again. Each change holds for open
// connections and new ones. It knows nothing of what passes.
package proxy
