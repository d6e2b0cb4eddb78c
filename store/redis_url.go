package store

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// target is where and as whom to connect: what a store URL says.
type target struct {
	kind     string   // single, unix, sentinel, cluster
	tls      bool     // rediss
	addrs    []string // host:port, or the path of a socket
	master   string   // name that the sentinels know
	db       int
	user     string
	password string

	sentinelUser, sentinelPassword string
}

// errURL is what a malformed URL comes to. net/url's own errors quote the
// text, and with it the password, so they are not passed on.
var errURL = errors.New("is not a URL of the form redis://[user:password@]host:port[/db]")

// schemes maps the scheme of a store URL to kind and TLS.
var schemes = map[string]target{
	"redis":           {kind: "single"},
	"rediss":          {kind: "single", tls: true},
	"unix":            {kind: "unix"},
	"redis+sentinel":  {kind: "sentinel"},
	"rediss+sentinel": {kind: "sentinel", tls: true},
	"redis+cluster":   {kind: "cluster"},
	"rediss+cluster":  {kind: "cluster", tls: true},
}

// parseTarget reads a store URL:
//
//	redis://user:password@host:6379/0
//	rediss://...                                       the same over TLS
//	unix://user:password@/run/redis.sock?db=0
//	redis+sentinel://user:password@h1:26379,h2:26379/master/0
//	redis+cluster://user:password@h1:6379,h2:6379
//
// Parameters: db (unix), sentinel_user and sentinel_password (sentinel).
// Nothing else: time-outs, retries and pools follow from store.timeout.
// Several hosts are not what net/url parses, so the host list is taken apart
// here. Errors never contain the URL, for its password.
func parseTarget(raw string) (target, error) {
	scheme, rest, ok := strings.Cut(raw, "://")
	t, known := schemes[scheme]
	if !ok || !known {
		return target{}, fmt.Errorf("has a scheme that is not one of %s", strings.Join(Schemes(), ", "))
	}
	rest, query, _ := strings.Cut(rest, "?")
	if strings.Contains(rest, "#") || strings.Contains(query, "#") {
		return target{}, errors.New("contains # (write it as %23 within a password)")
	}
	if strings.Contains(query, "@") {
		// Most likely a password with a ? in it; what follows is part of it.
		return target{}, errors.New("contains @ after ? (within a password write ? as %3F and @ as %40)")
	}
	params, err := url.ParseQuery(query)
	if err != nil {
		return target{}, errURL
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		if t.user, t.password, err = userinfo(rest[:at]); err != nil {
			return target{}, err
		}
		rest = rest[at+1:]
	}
	hosts, path, _ := strings.Cut(rest, "/")
	if err := t.place(hosts, path); err != nil {
		return target{}, err
	}
	return t, t.parameters(params)
}

// CheckURL reports what [OpenRedis] would object to in a store URL, and opens
// nothing. Its errors never contain the URL.
func CheckURL(raw string) error {
	_, err := parseTarget(raw)
	return err
}

// Schemes returns the URL schemes of a Redis store, sorted.
func Schemes() []string {
	var names []string
	for name := range schemes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func userinfo(s string) (user, password string, err error) {
	user, password, _ = strings.Cut(s, ":")
	u, err1 := url.PathUnescape(user)
	p, err2 := url.PathUnescape(password)
	if err1 != nil || err2 != nil {
		return "", "", errors.New("has a user or password that is not percent-encoded")
	}
	return u, p, nil
}

// place reads hosts and path.
func (t *target) place(hosts, path string) error {
	if t.kind == "unix" {
		if hosts != "" || path == "" {
			return errors.New("names no socket: write unix:///path/to/redis.sock")
		}
		t.addrs = []string{"/" + path}
		return nil
	}
	for h := range strings.SplitSeq(hosts, ",") {
		addr, err := hostPort(h, t.kind)
		if err != nil {
			return err
		}
		t.addrs = append(t.addrs, addr)
	}
	if t.kind == "single" && len(t.addrs) > 1 {
		return errors.New("names several hosts: use redis+sentinel:// or redis+cluster://")
	}
	db := path
	if t.kind == "sentinel" {
		t.master, db, _ = strings.Cut(path, "/")
		if t.master == "" {
			return errors.New("lacks the master's name: redis+sentinel://host:26379/master")
		}
	}
	if t.kind == "cluster" && path != "" {
		return errors.New("has a path, but a cluster has one database only")
	}
	return t.database(db)
}

// hostPort completes and checks one host.
func hostPort(h, kind string) (string, error) {
	if !strings.Contains(h, ":") || strings.HasSuffix(h, "]") {
		if kind == "sentinel" {
			h += ":26379"
		} else {
			h += ":6379"
		}
	}
	host, port, err := net.SplitHostPort(h)
	if err != nil || host == "" {
		return "", errURL
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return "", errURL
	}
	return net.JoinHostPort(host, strconv.FormatUint(n, 10)), nil
}

func (t *target) database(s string) error {
	if s == "" {
		return nil
	}
	n, err := strconv.ParseUint(s, 10, 20)
	if err != nil {
		return errors.New("has a database that is not a number")
	}
	t.db = int(n)
	return nil
}

func (t *target) parameters(params url.Values) error {
	for name, values := range params {
		if len(values) > 1 {
			return errors.New("has a parameter twice")
		}
		switch {
		case name == "db" && t.kind == "unix":
			if err := t.database(values[0]); err != nil {
				return err
			}
		case name == "sentinel_user" && t.kind == "sentinel":
			t.sentinelUser = values[0]
		case name == "sentinel_password" && t.kind == "sentinel":
			t.sentinelPassword = values[0]
		default:
			// The name is not shown: it may be the rest of a password with
			// a ? or & in it.
			return errors.New("has a parameter that is not one of db (unix), sentinel_user and sentinel_password (sentinel): time-outs, retries and pool follow from store.timeout")
		}
	}
	return nil
}
