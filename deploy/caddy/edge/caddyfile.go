package edge

import (
	"strconv"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// Rewrites come first, so that a matcher of edge_limit sees the path that the
// matchers of forward_auth and reverse_proxy see. Everything that costs
// something comes after: the hashing of basic_auth, questions, and uploads.
func init() {
	httpcaddyfile.RegisterHandlerDirective("edge_limit", parseDirective)
	httpcaddyfile.RegisterDirectiveOrder("edge_limit", httpcaddyfile.After, "try_files")
}

func parseDirective(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	l := new(Limit)
	if err := l.UnmarshalCaddyfile(h.Dispenser); err != nil {
		return nil, err
	}
	return l, nil
}

// UnmarshalCaddyfile reads the directive. All settings may be left out:
//
//	edge_limit [<matcher>] {
//		rate         <requests>/<span>
//		burst        <requests>
//		max_networks <networks>
//		ipv4_prefix  <bits>
//		ipv6_prefix  <bits>
//	}
//
// An unknown setting, one that stands twice, and one that is not a single
// value are errors, with file and line. Whether values are in their bounds is
// for [Limit.Provision] to say.
func (l *Limit) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the directive's own name
	if d.NextArg() {
		return d.ArgErr()
	}
	numbers := map[string]*int{
		"burst": &l.Burst, "max_networks": &l.MaxNetworks,
		"ipv4_prefix": &l.IPv4Prefix, "ipv6_prefix": &l.IPv6Prefix,
	}
	seen := make(map[string]bool)
	for d.NextBlock(0) {
		name := d.Val()
		number := numbers[name]
		if number == nil && name != "rate" {
			return d.Errf("edge_limit has no setting %q", name)
		}
		if seen[name] {
			return d.Errf("%s is set twice", name)
		}
		seen[name] = true
		var value string
		if !d.AllArgs(&value) {
			return d.ArgErr()
		}
		if number == nil {
			if _, err := parseRate(value); err != nil {
				return d.Errf("rate: %v", err)
			}
			l.Rate = value
			continue
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 { // a 0 would become the default unnoticed
			return d.Errf("%s: %q is no whole number above 0", name, value)
		}
		*number = n
	}
	return nil
}

var _ caddyfile.Unmarshaler = (*Limit)(nil)
