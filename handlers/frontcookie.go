package handlers

import (
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

// cookiePrefix makes browsers keep a cookie from being set by other hosts of
// the domain, by pages without TLS, or for a part of the site only (RFC 6265bis,
// section 4.1.3.2): a stranger cannot plant his own device.
const cookiePrefix = "__Host-"

// deviceCookie returns the device token that a request carries, "" for none.
// Of two cookies of the name one may be planted: then neither is believed.
func deviceCookie(h http.Header, name string) string {
	found, token := 0, ""
	eachCookie(h, func(n, v, _ string) {
		if name != "" && n == name {
			found++
			token = v
		}
	})
	if found != 1 {
		return ""
	}
	return strings.Trim(token, `"`)
}

// eachCookie goes through the cookies of a request, as they were written.
func eachCookie(h http.Header, f func(name, value, text string)) {
	for _, line := range h.Values(echo.HeaderCookie) {
		for text := range strings.SplitSeq(line, ";") {
			text = strings.TrimSpace(text)
			name, value, _ := strings.Cut(text, "=")
			f(strings.TrimSpace(name), strings.TrimSpace(value), text)
		}
	}
}

// dropCookie takes a cookie out of a request. The application has no use for
// it, and could only lose it.
func dropCookie(h http.Header, name string) {
	if name == "" {
		return
	}
	var kept []string
	dropped := false
	eachCookie(h, func(n, _, text string) {
		if n == name {
			dropped = true
		} else if text != "" {
			kept = append(kept, text)
		}
	})
	switch {
	case !dropped: // byte for byte as it came
	case len(kept) == 0:
		h.Del(echo.HeaderCookie)
	default:
		h.Set(echo.HeaderCookie, strings.Join(kept, "; "))
	}
}

// dropSetCookie keeps the application from setting the cookie.
func dropSetCookie(h http.Header, name string) {
	lines := h.Values(echo.HeaderSetCookie)
	if name == "" || len(lines) == 0 {
		return
	}
	h.Del(echo.HeaderSetCookie)
	for _, line := range lines {
		pair, _, _ := strings.Cut(line, ";")
		if n, _, _ := strings.Cut(pair, "="); strings.TrimSpace(n) != name {
			h.Add(echo.HeaderSetCookie, line)
		}
	}
}

// setDeviceCookie gives a device its token.
func setDeviceCookie(h http.Header, name, token string, ttl time.Duration) {
	c := http.Cookie{
		Name: name, Value: token, Path: "/", MaxAge: int(ttl / time.Second),
		Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
	h.Add(echo.HeaderSetCookie, c.String())
}
