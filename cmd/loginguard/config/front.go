package config

import (
	"slices"
	"strings"
)

// Checks of the front's own values. The program sets them to those of the
// front, which this package does not know. Their errors must not contain the
// address of the upstream, which may have a password.
var (
	CheckUpstream  = func(string) error { return nil }
	CheckFrontPath = func(string) error { return nil }
	CheckPointer   = func(string) error { return nil }
)

// validateFront checks the reverse proxy's part in full, so that a file can be
// written and checked before it is used.
func (r *report) validateFront(c *Config) {
	f := &c.Front
	if f.Upstream != "" {
		if err := CheckUpstream(f.Upstream); err != nil {
			r.wrong("front.upstream", "%v", err)
		}
	}
	if !validName.MatchString(f.Realm) {
		r.wrong("front.realm", "%s %s", quote(f.Realm), badName)
	}
	if f.DeviceCookie != "" && !isToken(f.DeviceCookie) {
		r.wrong("front.device_cookie", "%s cannot be the name of a cookie", quote(f.DeviceCookie))
	} else if f.DeviceCookie != "" && !strings.HasPrefix(f.DeviceCookie, "__Host-") {
		r.wrong("front.device_cookie", "must begin with __Host-, or other hosts of the domain could set it")
	}
	if listen := c.Server.Front.Listen; listen != "" {
		r.validateListen("server.front.listen", listen)
		if f.Upstream == "" {
			r.wrong("front.upstream", "is missing, though server.front.listen is set")
		}
	} else if f.Upstream != "" || len(f.Rules) > 0 {
		// In silence it would leave a login open that its operator believes
		// to be covered.
		r.wrong("server.front.listen", "is missing, though front.upstream or front.rules is set")
	}
	taken := make(map[string]bool)
	for i := range f.Rules {
		path := item("front.rules", i)
		r.validateRule(path, &f.Rules[i], c.Routes)
		for j, m := range f.Rules[i].Methods {
			if key := m + " " + f.Rules[i].Path; taken[key] {
				r.wrong(item(path+".methods", j), "an earlier rule has %s of this path already", quote(m))
			} else {
				taken[key] = true
			}
		}
	}
	switch h := c.ForwardAuth.AccountHeader; {
	case h == "":
	case !isToken(h):
		r.wrong("forward_auth.account_header", "%s cannot be the name of a header", quote(h))
	case slices.ContainsFunc(takenHeaders, func(t string) bool { return strings.EqualFold(t, h) }):
		r.wrong("forward_auth.account_header", "%s says something else already: use one of its own, such as X-Login", quote(h))
	}
}

// takenHeaders have a meaning of their own in the question of a proxy.
var takenHeaders = []string{"Authorization", "X-API-Key", "X-Forwarded-For", "Forwarded", "Host", "Cookie", "Content-Length"}

// validateRule checks one rule: which requests, where the account stands, and
// how a response is told to be a success or a failure.
func (r *report) validateRule(path string, rule *FrontRule, routes map[string]Route) {
	if len(rule.Methods) == 0 {
		r.wrong(path+".methods", "is missing: write [POST]")
	}
	for i, m := range rule.Methods {
		if !isToken(m) || m != strings.ToUpper(m) {
			r.wrong(item(path+".methods", i), "%s is not a method such as POST", quote(m))
		}
	}
	if !strings.HasPrefix(rule.Path, "/") || strings.ContainsAny(rule.Path, "?# ") {
		r.wrong(path+".path", "must be a path that begins with /, without query, not %s", quote(rule.Path))
	} else if err := CheckFrontPath(rule.Path); err != nil {
		r.wrong(path+".path", "%v", err)
	}
	route, ok := routes[rule.Route]
	if !ok {
		r.wrong(path+".route", "there is no route %s", quote(rule.Route))
	}
	r.validateAccount(path+".account", rule.Account, ok && route.Account == noAccount)
	r.validateResponse(path+".success", rule.Success)
	r.validateResponse(path+".failure", rule.Failure)
	for _, status := range rule.Success.Status {
		// With a header to tell them apart, one status may mean both.
		if slices.Contains(rule.Failure.Status, status) && rule.Success.Header.Name == "" && rule.Failure.Header.Name == "" {
			r.wrong(path+".failure.status", "%d means success, too", status)
		}
	}
}

// validateAccount wants exactly one place, and none for a route without
// accounts.
func (r *report) validateAccount(path string, a FrontAccount, none bool) {
	set := 0
	for _, given := range []bool{a.JSON != "", a.Form != "", a.Basic, a.Header != ""} {
		if given {
			set++
		}
	}
	switch {
	case none && set > 0:
		r.wrong(path, "is set, though the route has no account")
	case !none && set != 1:
		r.wrong(path, "must be exactly one of json, form, basic and header, there are %d", set)
	}
	if a.JSON != "" && !strings.HasPrefix(a.JSON, "/") {
		r.wrong(path+".json", "must be a JSON pointer such as /username, not %s", quote(a.JSON))
	} else if a.JSON != "" {
		if err := CheckPointer(a.JSON); err != nil {
			r.wrong(path+".json", "%v", err)
		}
	}
	if a.Header != "" && !isToken(a.Header) {
		r.wrong(path+".header", "%s cannot be the name of a header", quote(a.Header))
	}
}

func (r *report) validateResponse(path string, f FrontResponse) {
	if len(f.Status) == 0 && f.Header.Name == "" {
		r.wrong(path, "recognises nothing: give status or header")
	}
	for i, s := range f.Status {
		if s < 100 || s > 599 {
			r.wrong(item(path+".status", i), "must be 100 to 599, is %d", s)
		}
	}
	switch h := f.Header; {
	case h.Name == "" && h.Contains != "":
		r.wrong(path+".header.name", "is missing, though contains is set")
	case h.Name != "" && !isToken(h.Name):
		r.wrong(path+".header.name", "%s cannot be the name of a header", quote(h.Name))
	}
}

// isToken reports whether s is a token of RFC 9110, section 5.6.2: what names
// of headers, methods and cookies are made of.
func isToken(s string) bool {
	const marks = "!#$%&'*+-.^_`|~"
	for i := range len(s) {
		c := s[i]
		if c >= 0x80 || !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte(marks, c) >= 0) {
			return false
		}
	}
	return s != ""
}
