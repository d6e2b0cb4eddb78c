package handlers

import (
	"net/http"
	"slices"

	"loginguard/guard"
	"loginguard/policy"
)

// Bounds of the members of a check. Lengths are in bytes.
const (
	maxAccount   = 1024
	maxID        = 128
	maxTag       = 128
	maxLines     = 64
	maxLineBytes = 8 << 10
)

// Names that stand in for members left out.
const (
	defaultRealm = policy.DefaultRealm
	defaultRoute = "login"
)

// checkBody is the body of a check, of an explanation and, with more members
// around it, of a report.
type checkBody struct {
	account, ip, realm, route, id, device, tag text
	canChallenge, challengePassed              flag
	forwarded                                  forwardedBody
}

// forwardedBody is the raw material of a client address: who connected to the
// caller, and every line of the one header that its proxies write.
type forwardedBody struct {
	set                 bool
	peer                text
	xForwardedFor, list lines
}

// members names the places that the decoder may fill.
func (b *checkBody) members() members {
	return members{
		"account":          &b.account,
		"ip":               &b.ip,
		"forwarded":        &b.forwarded,
		"realm":            &b.realm,
		"route":            &b.route,
		"id":               &b.id,
		"device":           &b.device,
		"password_tag":     &b.tag,
		"can_challenge":    &b.canChallenge,
		"challenge_passed": &b.challengePassed,
	}
}

// read makes forwardedBody a value of the decoder.
func (f *forwardedBody) read(c *cursor, name string) error {
	f.set = true
	return members{
		"peer":            &f.peer,
		"x_forwarded_for": &f.xForwardedFor,
		"forwarded":       &f.list,
	}.read(c, name)
}

// request checks the values and returns what the guard is asked. The error is
// a *problem: 403 for the realm, 422 for any other value. Addresses and tokens
// are the guard's to read, so that every way in reads them alike.
//
// The order is that of a caller's mistakes: a wrong realm or route explains the
// complaints that would follow. An account is required here and not defaulted:
// an empty one would put everybody in the same bucket.
func (b *checkBody) request(p *policy.Policy, c guard.Caller) (guard.Request, error) {
	realm, err := realmOf(b.realm, c)
	if err != nil {
		return guard.Request{}, err
	}
	route := defaultRoute
	if b.route.set {
		route = b.route.s
	}
	rules, ok := p.Route(route)
	if !ok {
		return guard.Request{}, invalid("route", "There is no route of this name.")
	}
	if !b.account.set && !rules.NoAccount {
		return guard.Request{}, invalid("account", "The account is missing, and attempts on this route are made for one.")
	}
	for _, m := range []struct {
		name string
		text
		max int
	}{
		{"account", b.account, maxAccount},
		{"id", b.id, maxID},
		{"password_tag", b.tag, maxTag},
	} {
		if m.set && m.s == "" {
			return guard.Request{}, invalid(m.name, "This member must not be empty.")
		}
		if len(m.s) > m.max {
			return guard.Request{}, invalid(m.name, "This member is too long.")
		}
	}
	if b.ip.set == b.forwarded.set {
		return guard.Request{}, invalid("ip", "Exactly one of ip and forwarded must say where the attempt comes from.")
	}
	forwarded, err := b.forwarded.value()
	if err != nil {
		return guard.Request{}, err
	}
	return guard.Request{
		Realm:           realm,
		Route:           route,
		Account:         b.account.s,
		IP:              b.ip.s,
		Forwarded:       forwarded,
		ID:              b.id.s,
		Device:          b.device.s,
		PasswordTag:     b.tag.s,
		CanChallenge:    b.canChallenge.b,
		ChallengePassed: b.challengePassed.b,
	}, nil
}

// value checks the bounds and returns nil for an absent member. An empty list
// is right: it says that the proxy sent no such header.
func (f *forwardedBody) value() (*guard.Forwarded, error) {
	switch {
	case !f.set:
		return nil, nil
	case f.peer.s == "":
		return nil, invalid("forwarded.peer", "The address of the peer is missing.")
	case f.xForwardedFor.set == f.list.set:
		return nil, invalid("forwarded", "Exactly one of x_forwarded_for and forwarded must be given.")
	}
	v := &guard.Forwarded{Peer: f.peer.s, Header: "x-forwarded-for", Lines: f.xForwardedFor.list}
	field := "forwarded.x_forwarded_for"
	if f.list.set {
		v.Header, v.Lines = "forwarded", f.list.list
		field = "forwarded.forwarded"
	}
	if len(v.Lines) > maxLines {
		return nil, invalid(field, "There may be at most 64 lines.")
	}
	for _, l := range v.Lines {
		if len(l) > maxLineBytes {
			return nil, invalid(field, "A line may have at most 8192 bytes.")
		}
	}
	return v, nil
}

// realmOf returns the realm a request is about, if the caller may use it. A
// realm that does not exist gets the same answer as one of somebody else.
func realmOf(t text, c guard.Caller) (string, error) {
	realm := defaultRealm
	if t.set {
		realm = t.s
	}
	if !slices.Contains(c.Realms, realm) {
		p := plain(http.StatusForbidden, "realm", "There is no realm of this name for this caller.")
		p.Field = "realm"
		return "", p
	}
	return realm, nil
}
