package handlers

import (
	"encoding/base64"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/textproto"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/labstack/echo/v4"
)

// FrontAccount says where a request names its account: at most one is set, and
// none for a route without accounts.
type FrontAccount struct {
	JSON   string // JSON pointer into the body (RFC 6901)
	Form   string // field of a form, urlencoded or multipart
	Basic  bool   // user name of Authorization: Basic
	Header string // header that has the account as its only value
}

// place is a FrontAccount made ready.
type place struct {
	FrontAccount
	pointer pointer
	field   fieldName // of JSON too: the one that a query must not have
}

func newPlace(a FrontAccount) (place, error) {
	p := place{FrontAccount: a, field: newFieldName(a.Form)}
	if a.JSON != "" {
		var err error
		if p.pointer, err = parsePointer(a.JSON); err != nil {
			return p, fmt.Errorf("account.json: %w", err)
		}
		p.field = newFieldPath(strings.Join(p.pointer, "."), p.pointer)
	}
	return p, nil
}

// refusedAccount makes the 400 for a request whose account the application may
// read in another way than the guard. Nothing of it reaches the application.
func refusedAccount(detail string) *problem { return plain(http.StatusBadRequest, "account", detail) }

// account returns the account that a guarded request names, "" for a place
// that names none. The error is a *problem.
func (a *place) account(r *http.Request, body []byte) (string, error) {
	var s string
	var err error
	switch {
	case a.pointer != nil:
		s, err = a.fromJSON(r, body)
	case a.Form != "":
		s, err = a.fromForm(r, body)
	case a.Basic:
		s, err = fromBasic(r.Header)
	case a.Header != "":
		s, err = fromHeader(r.Header, a.Header)
	default:
		return "", nil
	}
	var m malformed
	switch {
	case errors.As(err, &m):
		return "", refusedAccount(string(m))
	case err != nil:
		return "", err
	case strings.TrimSpace(s) == "":
		return "", refusedAccount(string(errNoAccount))
	case !utf8.ValidString(s):
		return "", refusedAccount("The account is not UTF-8.")
	case strings.ContainsFunc(s, unicode.IsControl):
		// The guard's own spelling has none, and an application may end a
		// text at NUL: it would see another account.
		return "", refusedAccount("The account has a control character.")
	case len(s) > maxAccount:
		return "", refusedAccount("The account is too long.")
	}
	return s, nil
}

func (a *place) fromJSON(r *http.Request, body []byte) (string, error) {
	t, params, err := contentType(r.Header)
	if err != nil {
		return "", err
	}
	if t != typeJSON && !(strings.HasPrefix(t, "application/") && strings.HasSuffix(t, "+json")) || len(params) > 0 {
		return "", malformed("The Content-Type must be application/json.")
	}
	if queryNames(r.URL.RawQuery, a.field) {
		return "", malformed("The account is named in the query, too.")
	}
	return a.pointer.read(body)
}

func (a *place) fromForm(r *http.Request, body []byte) (string, error) {
	list, files, err := formPairs(r.Header, body)
	if err != nil {
		return "", err
	}
	if queryNames(r.URL.RawQuery, a.field) {
		return "", malformed("The account is named in the query, too.")
	}
	for _, f := range files {
		if a.field.clashes(f) {
			return "", malformed("The account is a file.")
		}
	}
	for _, p := range list {
		// The one field that changes how the others are read (HTML, 4.10.21.5).
		if sameWord(p.name, "_charset_") && !strings.EqualFold(p.value, "utf-8") {
			return "", malformed("The form is not UTF-8.")
		}
	}
	return onlyField(list, a.field)
}

// formPairs reads a form of either type.
func formPairs(h http.Header, body []byte) (list []pair, files []string, err error) {
	t, params, err := contentType(h)
	if err != nil {
		return nil, nil, err
	}
	boundary, multi := params["boundary"]
	switch {
	case t == echo.MIMEApplicationForm && len(params) == 0:
		list, err = urlencodedPairs(body)
	case t == echo.MIMEMultipartForm && multi && len(params) == 1:
		list, files, err = multipartPairs(body, boundary)
	default:
		err = malformed("The Content-Type must be application/x-www-form-urlencoded or multipart/form-data.")
	}
	return list, files, err
}

// contentType reads the one Content-Type of a request. A charset must be UTF-8
// and is not among the parameters.
func contentType(h http.Header) (string, map[string]string, error) {
	values := h.Values(echo.HeaderContentType)
	if len(values) != 1 {
		return "", nil, malformed("There must be exactly one Content-Type.")
	}
	lower := strings.ToLower(values[0])
	// Continuations and encoded values (RFC 2231) are read by few.
	if strings.ContainsAny(lower, "*\\,") || strings.Count(lower, "boundary=") > 1 {
		return "", nil, malformed("The Content-Type can be read in more than one way.")
	}
	t, params, err := mime.ParseMediaType(values[0])
	if err != nil {
		return "", nil, malformed("The Content-Type cannot be read.")
	}
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return "", nil, malformed("The body must be UTF-8.")
	}
	delete(params, "charset")
	return t, params, nil
}

// fromBasic reads the user name of Basic (RFC 7617). A request without any
// credentials tries none, and is asked for them: browsers send them only then.
func fromBasic(h http.Header) (string, error) {
	values := h.Values(echo.HeaderAuthorization)
	if len(values) == 0 {
		return "", plain(http.StatusUnauthorized, "no_credentials", "User name and password are needed, as Authorization: Basic.")
	}
	if len(values) > 1 {
		return "", malformed("There are two Authorization headers.")
	}
	scheme, rest, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "basic") {
		return "", malformed("The Authorization must be Basic.")
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(strings.Trim(rest, " "))
	user, _, found := strings.Cut(string(raw), ":")
	if err != nil || !found {
		return "", malformed("The Authorization is not user name and password in Base64.")
	}
	return user, nil
}

// fromHeader reads the account from a header of its own.
func fromHeader(h http.Header, name string) (string, error) {
	values := h.Values(name)
	switch len(values) {
	case 0:
		return "", errNoAccount
	case 1:
	default:
		return "", malformed("The account is named twice.")
	}
	for other := range h {
		if other != textproto.CanonicalMIMEHeaderKey(name) && plainHeader(other) == plainHeader(name) {
			return "", malformed("A header differs from that of the account in its spelling only.")
		}
	}
	return values[0], nil
}
