package config

import (
	"net/url"
	"regexp"
	"strings"
)

// hidden stands for a secret.
const hidden = "xxxxx"

// mask hides what the tag of a key says is secret.
func mask(how, value string) string {
	switch how {
	case "url":
		return maskURL(value)
	case "digest":
		return maskDigest(value)
	case "hook":
		return maskHook(value)
	case "secret":
		return maskSecret(value)
	default:
		return value
	}
}

// maskDigest keeps enough of the digest of a key to recognise it, and makes
// the rest zeros: it still loads, but nobody can test guesses against it.
func maskDigest(hex string) string {
	const shown = 8
	if len(hex) <= shown {
		return hex
	}
	return hex[:shown] + strings.Repeat("0", len(hex)-shown)
}

// maskSecret hides all of a secret but that there is one. What it leaves is
// refused when it is loaded: it must not become a secret that everybody knows.
func maskSecret(s string) string {
	if s == "" {
		return ""
	}
	return hidden
}

// maskHook hides all of an address but the host: the path of a webhook is
// often the very key to it.
func maskHook(s string) string {
	masked := maskURL(s)
	scheme, rest, ok := strings.Cut(masked, "://")
	if !ok {
		return masked
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 || rest[end:] == "/" {
		return masked
	}
	return scheme + "://" + rest[:end] + "/" + hidden
}

// hostList is the authority of an address without credentials: hosts, with
// ports or without, and commas between them.
var hostList = regexp.MustCompile(`^([A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]*\])(:[0-9]*)?(,([A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]*\])(:[0-9]*)?)*$`)

// maskURL hides the password of a URL, and parameters that are named like one.
// The addresses of sentinels and clusters are not URLs to net/url, and a
// password may contain anything: wherever the parts cannot be told apart for
// sure, everything behind the scheme is hidden.
func maskURL(s string) string {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		return s
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, tail := rest[:end], rest[end:]
	at := strings.LastIndexByte(authority, '@')
	if strings.Contains(tail, "@") || !hostList.MatchString(authority[at+1:]) {
		return scheme + "://" + hidden
	}
	if at >= 0 {
		user, _, password := strings.Cut(authority[:at], ":")
		if !password {
			user = "" // a password, put where the user belongs
		}
		authority = user + ":" + hidden + authority[at:]
	}
	path, query, ok := strings.Cut(tail, "?")
	if ok {
		path += "?" + maskQuery(query)
	}
	return scheme + "://" + authority + path
}

// maskQuery hides the values of parameters such as sentinel_password.
func maskQuery(query string) string {
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		name, _, _ := strings.Cut(pair, "=")
		plain, err := url.QueryUnescape(name)
		plain = strings.ToLower(plain)
		if err != nil || strings.Contains(plain, "pass") || strings.Contains(plain, "secret") || strings.Contains(plain, "token") {
			pairs[i] = name + "=" + hidden
		}
	}
	return strings.Join(pairs, "&")
}
