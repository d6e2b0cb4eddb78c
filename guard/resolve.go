package guard

import (
	"cmp"
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"loginguard/keys"
	"loginguard/netprefix"
	"loginguard/policy"
)

// Bounds of what a caller sends, in bytes.
const (
	mostAccount = 1024
	mostID      = 128
	mostTag     = 128
)

// resolved is a request whose every part was derived or verified.
type resolved struct {
	policy.Attempt
	client netprefix.Client
	route  policy.Route
}

// resolve turns a request into an attempt. Its errors are *Error and contain
// nothing that the caller sent.
func resolve(ring *keys.Ring, rules *Rules, caller Caller, q Request) (resolved, error) {
	var r resolved
	r.Realm, r.Route = q.names()
	r.Caller = caller.Name
	if err := mayUse(rules, caller, r.Realm); err != nil {
		return r, err
	}
	var ok bool
	if r.route, ok = rules.Policy.Route(r.Route); !ok {
		return r, invalid("route", "is not configured")
	}
	switch {
	case len(q.ID) > mostID:
		return r, invalid("id", "is longer than 128 bytes")
	case len(q.PasswordTag) > mostTag:
		return r, invalid("password_tag", "is longer than 128 bytes")
	}
	if err := r.locate(rules, q); err != nil {
		return r, err
	}
	r.Shard = rand.Uint32() // for attempts that have no account
	r.ChallengePassed = q.ChallengePassed
	if q.PasswordTag != "" && !q.RepeatOnly {
		r.PasswordTag = ring.Fingerprint("password", r.Realm, q.PasswordTag)
	}
	if r.route.NoAccount || q.NetworksOnly && q.Account == "" {
		return r, nil
	}
	name, err := account(rules, q.Account)
	if err != nil {
		return r, err
	}
	r.Account = ring.Account(r.Realm, name)
	r.Shard = shard(r.Account)
	if q.PasswordTag != "" {
		r.RepeatTag = ring.Fingerprint("tag", r.Realm, r.Account, q.PasswordTag)
	}
	if q.Device != "" {
		r.Device = verifyDevice(ring, r.Realm, name, q.Device)
	}
	return r, nil
}

// names returns realm and route with their defaults filled in.
func (q Request) names() (realm, route string) {
	return cmp.Or(q.Realm, policy.DefaultRealm), cmp.Or(q.Route, "login")
}

// mayUse checks that the realm exists and the caller may use it. Both answers
// are the same, so that a caller learns nothing of other realms.
func mayUse(rules *Rules, caller Caller, realm string) error {
	if !rules.Policy.Realm(realm) || !slices.Contains(caller.Realms, realm) {
		return &Error{Kind: KindForbidden, Field: "realm", Detail: "is not one this caller may use"}
	}
	return nil
}

// account returns the canonical name.
func account(rules *Rules, typed string) (string, error) {
	switch {
	case typed == "":
		return "", invalid("account", "is missing")
	case len(typed) > mostAccount:
		return "", invalid("account", "is longer than 1024 bytes")
	}
	name := rules.Names.Canonical(typed)
	if name == "" {
		return "", invalid("account", "is empty once blanks and invisible characters are removed")
	}
	return name, nil
}

// locate derives the client's address and its networks.
func (r *resolved) locate(rules *Rules, q Request) error {
	var err error
	switch {
	case (q.IP == "") == (q.Forwarded == nil):
		return invalid("ip", "exactly one of ip and forwarded is needed")
	case q.IP != "":
		if r.client, err = rules.Clients.FromIP(q.IP); err != nil {
			return &Error{Kind: KindInvalid, Field: "ip", Detail: "is not an address", Err: err}
		}
	default:
		if r.client, err = rules.Clients.FromForwarded(q.Forwarded.Peer, q.Forwarded.Header, q.Forwarded.Lines); err != nil {
			return &Error{Kind: KindInvalid, Field: "forwarded.peer", Detail: "is not an address", Err: err}
		}
	}
	r.Class, r.Networks = rules.Networks.Classify(r.client.Addr)
	return nil
}

// address returns the client's address for logs and bindings.
func (r *resolved) address() string { return r.client.Addr.String() }

func invalid(field, detail string) *Error {
	return &Error{Kind: KindInvalid, Field: field, Detail: detail}
}

// shard picks the shard of global by the account, so that the population that
// sizes a shard is that of the accounts it serves.
func shard(account string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(account)) // a hash does not fail
	return h.Sum32()
}
