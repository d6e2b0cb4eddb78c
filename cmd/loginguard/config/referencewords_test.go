package config

import (
	"regexp"
	"strings"
)

// sectionWords introduce a top-level key.
var sectionWords = map[string]string{
	"callers":        "Who may ask. Without any, every program on this machine may, as admin, and no other address is listened on.",
	"client_address": "How the client's address is found for callers that hand on a header (`forwarded` in place of `ip`), for the front and for forward auth. [networks.md](networks.md) has classes of networks.",
	"routes":         "Kinds of attempts, by the name that a caller sends as `route`. `login`, `signup`, `password_reset` and `mfa` exist, with the values of [config.yaml](../config.yaml); others may be added. The defaults here are those of an added one.",
	"limits":         "All that apply count at the same time. A capacity must be at least the largest `cost` where routes count, and so many tokens must come back within an hour, also after `networks.hosting.scale`, overrides, shards and `store.instances`: longer would be a lockout.",
	"networks":       "Classes of networks; [networks.md](networks.md) says what each is for, and how lists are kept up to date.",
	"overrides":      "Other limits for some; the first entry that matches wins, at most 1000. [tune.md](tune.md#5-raise-one-limit-for-somebody) has an example.",
	"front":          "The reverse proxy for logins that cannot be changed. [integrations.md](integrations.md) has examples.",
	"forward_auth":   "For reverse proxies that ask before they hand a request on. [integrations.md](integrations.md) has an example for each.",
	"events":         "Who else is told of what the log says at once: [events.md](events.md).",
}

// takenWords are for the keys of which a restart changes one thing and a reload
// another.
var takenWords = map[string]string{
	"server.api.tls.cert":   "reload (whether there is TLS: restart)",
	"server.api.tls.key":    "reload (whether there is TLS: restart)",
	"server.front.tls.cert": "reload (whether there is TLS: restart)",
	"server.front.tls.key":  "reload (whether there is TLS: restart)",
}

var oneLimit = regexp.MustCompile(`^limits\.(network\.)?\w+\.`)

// meaningOf returns what a key means, and under which entry that stands: its
// own, or the one that all limits share.
func meaningOf(path string) (meaning, key string) {
	if m, ok := meanings[path]; ok {
		return m, path
	}
	if oneLimit.MatchString(path) {
		path = "limits.*." + oneLimit.ReplaceAllString(path, "")
	}
	path = strings.ReplaceAll(strings.ReplaceAll(path, ".success.", ".*."), ".failure.", ".*.")
	return meanings[path], path
}

// meanings say of each key, in a sentence or two, what it means for who sets it.
var meanings = map[string]string{
	"mode":        "`enforce`: limits deny. `log_only`: everything is counted and logged, nobody is denied. `off`: nothing is counted either.",
	"support_url": "Where somebody who was denied can ask for help, in denials and `/v1/limits`: an https, http or mailto address.",

	"server.api.listen":        "Where callers ask, IP and port. Port 0 takes a free one. Without callers a loopback address.",
	"server.api.tls.cert":      "PEM file; `cert` and `key` or none. Read again when it changes.",
	"server.api.tls.key":       "PEM file of its key.",
	"server.api.tls.client_ca": "PEM file of authorities: a client certificate of theirs, with a caller's name as common name, serves in place of that caller's key.",
	"server.front.listen":      "Where the reverse proxy listens; empty for none.",
	"server.front.tls.cert":    "PEM file; `cert` and `key` or none. Read again when it changes.",
	"server.front.tls.key":     "PEM file of its key.",
	"server.admin.listen":      "Probes, metrics and the operators' page. What acts needs an admin key from other machines; probes and metrics need none.",
	"server.max_in_flight":     "Attempts decided at the same time; more get 503 `overloaded` at once.",
	"server.shutdown_grace":    "How long requests in progress may take to finish at SIGTERM.",
	"server.readiness":         "`process`: `/readyz` stays 200 while the store is down. `store`: it turns 503.",

	"callers":              "One entry for each program that asks; `loginguard callers add` makes one.",
	"callers[].name":       "In logs, metrics and `overrides[].match.caller`.",
	"callers[].key_sha256": "SHA-256 of the key, 64 hexadecimal digits.",
	"callers[].realms":     "The only realms that it may use. Accounts of one realm are strangers to those of another.",
	"callers[].role":       "`check` decides about attempts; `admin` may also explain and forget.",

	"client_address.hops":            "Proxies between the client and the login; 0: no header is believed. One too many lets everybody choose their address, one too few has everybody share the proxy's.",
	"client_address.trusted_proxies": "Addresses or blocks of all these proxies. Needed for hops.",
	"client_address.header":          "The one header that is read.",
	"client_address.nat64":           "Prefixes of your own NAT64, such as `64:ff9b::/96`.",

	"store.url":            "`memory:` for one instance, or `redis://`, `rediss://`, `unix://`, `redis+sentinel://`, `redis+cluster://`, `rediss+sentinel://`, `rediss+cluster://`: [redis.md](redis.md).",
	"store.timeout":        "For one question to the store, the wait for a connection included. A login waits no longer for it.",
	"store.on_failure":     "When the store does not answer: `closed` denies (503), `open` lets everybody guess freely, `local` counts in each instance alone.",
	"store.instances":      "With `local`: how many instances share the work; limits are divided by it.",
	"store.allow_eviction": "Accept a Redis that drops counters when it is full: who fills it gets his guesses back.",
	"store.ca_file":        "PEM file of authorities for TLS to the store; empty: those of the system.",

	"identity.email":             "Providers whose spellings of an address reach one mailbox. Only for those that really work like this, or strangers share their limits.",
	"identity.email[].domain":    "The part behind the @.",
	"identity.email[].drop_plus": "What follows a + before the @ does not count.",
	"identity.email[].drop_dots": "Dots before the @ do not count.",
	"identity.email[].aliases":   "Other domains of the same mailboxes.",

	"attempt_ttl":       "How long an attempt may wait for its report. Without one it stays charged, like a wrong password.",
	"familiar.remember": "How long after the last sign-in a network is familiar to an account.",
	"familiar.sources":  "Networks remembered per account; the one that was not used longest goes first.",
	"device.ttl":        "How long a device token holds.",

	"routes.NAME.cost":       "What networks and the global limit are charged for one attempt. An account's own limits pay 1.",
	"routes.NAME.success":    "What a reported success means. `full`: it was the owner; nothing is charged and the network becomes familiar. `refund`: nothing is charged, nothing learned. `none`: it stays charged.",
	"routes.NAME.account":    "`none` for a route whose attempts name no account.",
	"routes.NAME.on_failure": "For this route; left out: `store.on_failure`.",

	"limits.*.mode":            "`log_only`: counted, denies nobody. `off`: not counted.",
	"limits.*.capacity":        "Attempts in a row when nothing happened for long.",
	"limits.*.refill":          "How fast they come back; at least one in an hour.",
	"limits.*.on_exhausted":    "`challenge`: callers that can are asked for a CAPTCHA or the like in place of a denial.",
	"limits.*.backoff.base":    "The first wait when the limit is used up.",
	"limits.*.backoff.factor":  "By how much the wait grows each time; above 1 unless `base` is `max`.",
	"limits.*.backoff.max":     "The longest wait; at least as long as one token takes to come back.",
	"limits.*.backoff.forget":  "So much peace, and the waits begin at `base` again; at least the time it takes to get from `base` to `max`.",
	"limits.*.per_user":        "So many more for every person who really signs in from there.",
	"limits.*.max_capacity":    "The most that `per_user` brings it to.",
	"limits.*.ipv4":            "Length of the level's blocks in bits.",
	"limits.*.ipv6":            "Length of the level's blocks in bits.",
	"limits.*.shards":          "Parts into which it is split on Redis Cluster.",
	"limits.repeat.mode":       "The same wrong password again from the same place is charged here. `log_only`: counted, denies nobody. `off`: not counted.",
	"limits.password.mode":     "Works only for callers that send a `password_tag`. `log_only`: counted, denies nobody. `off`: not counted.",
	"limits.challenged.mode":   "Attempts that passed a challenge are charged here. `log_only`: counted, denies nobody. `off`: not counted.",
	"limits.pool.mode":         "A pool is one network, in place of site and subnet. `log_only`: counted, denies nobody. `off`: not counted.",
	"limits.global.mode":       "Attempts of one realm from places unfamiliar to their accounts. `log_only`: counted, denies nobody. `off`: not counted.",
	"limits.account.mode":      "An account, from where it has never signed in. `log_only`: counted, denies nobody. `off`: not counted.",
	"limits.device.mode":       "An account on a device with a valid token. `log_only`: counted, denies nobody. `off`: not counted.",
	"limits.familiar.mode":     "An account from a network that it has signed in from. `log_only`: counted, denies nobody. `off`: not counted.",
	"limits.network.host.mode": "Networks are charged for failures only. `log_only`: counted, denies nobody. `off`: not counted.",

	"limits.repeat.on_exhausted":     "`deny` only: no challenge may stand in for it.",
	"limits.challenged.on_exhausted": "`deny` only: no challenge may stand in for it.",

	"networks.exempt.cidrs":  "Your own health checks and services: no network and no global limit is used up by them.",
	"networks.exempt.files":  "The same from files, one block a line, # begins a comment. Read again when they change.",
	"networks.pools":         "Carriers who put thousands behind few addresses: all blocks of one name are one network.",
	"networks.pools[].name":  "In explain, and for `loginguard forget --network`.",
	"networks.pools[].cidrs": "Its blocks.",
	"networks.pools[].files": "The same from files.",
	"networks.pool_files":    "Files of such blocks without names: adjacent ones are merged, and each range is a pool.",
	"networks.hosting.scale": "The share of a network's capacity that data centres and VPN exits get.",
	"networks.hosting.cidrs": "Blocks of data centres and VPN exits. They never become familiar.",
	"networks.hosting.files": "The same from files.",

	"overrides":                 "In their order, the first that matches wins.",
	"overrides[].limit":         "Name of a limit.",
	"overrides[].level":         "Of `network`; left out: all of them. A level is raised only if `match.network` covers its whole block.",
	"overrides[].match.network": "A block.",
	"overrides[].match.realm":   "A realm.",
	"overrides[].match.route":   "A route.",
	"overrides[].match.caller":  "A caller.",
	"overrides[].match.account": "An account. Those on account, device and familiar can match realm and account only.",
	"overrides[].capacity":      "Left out: the limit's own.",
	"overrides[].refill":        "Left out: the limit's own.",
	"overrides[].reason":        "Needed: who asked, and why. Shown by explain. At most 256 bytes.",
	"overrides[].expires":       "After this day (UTC) it is ignored, and the log says so. Left out: never.",

	"front.upstream":                  "Where the login really is: http:// or https://, host and port.",
	"front.realm":                     "Of its accounts.",
	"front.pass_through":              "Requests that no rule matches are handed on as they are; false: 404.",
	"front.device_cookie":             "Name of the cookie with the device token; begins with `__Host-`. Empty for none.",
	"front.rules":                     "Which requests are attempts.",
	"front.rules[].methods":           "Such as `[POST]`.",
	"front.rules[].path":              "As the application shows it; other spellings of it are guarded alike.",
	"front.rules[].route":             "A route of the configuration.",
	"front.rules[].account.json":      "Pointer into a body in JSON: `/username`. Exactly one of the four, none for a route without accounts.",
	"front.rules[].account.form":      "Field of a form.",
	"front.rules[].account.basic":     "The name in an `Authorization: Basic` header.",
	"front.rules[].account.header":    "Name of a header.",
	"front.rules[].*.status":          "Status codes of an answer that means this, 100 to 599.",
	"front.rules[].*.header.name":     "And this header is there.",
	"front.rules[].*.header.contains": "And contains this.",

	"forward_auth.account_header": "Header with the account, set by the proxy. Believed only with a caller's key.",
	"forward_auth.reports":        "True only if every outcome is reported: else each good request counts against its owner.",

	"events.webhook.url":    "https, or http for this machine only. Empty: nothing is sent.",
	"events.webhook.secret": "`whsec_` and 24 to 64 bytes in base64. Better in the variable, or a file.",
	"events.webhook.kinds":  "Which events are sent.",

	"log.level":  "Allowed attempts are at `debug`, denied ones at `info`, failures of the store at `warn`.",
	"log.format": "`json`, or `text` for reading in a terminal.",
}
