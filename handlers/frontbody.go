package handlers

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"loginguard/guard"
)

// Bounds of a guarded request's body, which is held in memory until the guard
// has decided. A login is a few hundred bytes; the larger ones share few places,
// so that all together take at most 2048 x 64 KiB + 64 x 1 MiB.
const (
	maxFrontBody = 1 << 20 // bytes
	smallBody    = 64 << 10
	maxLarge     = 64

	// bodyTime is how long the whole body of a guarded request may take.
	bodyTime = 15 * time.Second
)

// readBody reads the body of a guarded request to its end. What it took is
// given back by release.
func (f *Front) readBody(c echo.Context, r *http.Request) (body []byte, release func(), err error) {
	release = func() {}
	if r.ContentLength > maxFrontBody {
		return nil, release, frontTooLarge(c)
	}
	w, control := writerOf(c), http.NewResponseController(writerOf(c))
	// Without support for deadlines there is no connection to hold, either.
	_ = control.SetReadDeadline(time.Now().Add(bodyTime))
	var b bytes.Buffer
	from := http.MaxBytesReader(w.ResponseWriter, r.Body, maxFrontBody)
	n, err := io.CopyN(&b, from, smallBody+1)
	if err == nil && n > smallBody {
		select {
		case f.large <- struct{}{}:
			release = func() { <-f.large }
		default:
			c.Response().Header().Set(echo.HeaderConnection, "close")
			return nil, release, busy(guard.Decision{Reason: guard.ReasonOverloaded})
		}
		_, err = io.Copy(&b, from)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		release()
		return nil, func() {}, bodyProblem(c, err)
	}
	_ = control.SetReadDeadline(time.Time{})
	return b.Bytes(), release, nil
}

// bodyProblem tells why a body was not read to its end. What follows on the
// connection may be the rest of it, so the connection ends.
func bodyProblem(c echo.Context, err error) error {
	c.Response().Header().Set(echo.HeaderConnection, "close")
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return frontTooLarge(c)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return plain(http.StatusRequestTimeout, "slow_body", "The body did not arrive in time.")
	}
	return plain(http.StatusBadRequest, "framing", "The body could not be read to its end.")
}

func frontTooLarge(c echo.Context) error {
	c.Response().Header().Set(echo.HeaderConnection, "close")
	return plain(http.StatusRequestEntityTooLarge, "size", "The body may have at most 1048576 bytes.")
}

// overrides are the headers and fields by which a request asks to be treated
// as one of another method, in the spelling of [plainHeader].
var overrides = []string{"x-http-method-override", "x-http-method", "x-method-override", "-method"}

// plainRequest refuses what an application may read as another request than
// the front does. It is asked about every request to the path of a rule, also
// those of other methods, which an override would turn into an attempt.
func plainRequest(r *http.Request) error {
	if r.Method != strings.ToUpper(r.Method) {
		return plain(http.StatusBadRequest, "method", "The method must be in upper case.")
	}
	coding := strings.Join(r.Header.Values(echo.HeaderContentEncoding), ",")
	if coding != "" && !strings.EqualFold(coding, "identity") {
		return plain(http.StatusBadRequest, "content_encoding", "The body must be sent without a Content-Encoding.")
	}
	for name := range r.Header {
		if strings.ContainsAny(name, "_.") && strictHeaders[plainHeader(name)] {
			return plain(http.StatusBadRequest, "header", "A header differs from one that is read here in its spelling only.")
		}
	}
	for _, line := range r.Header.Values(echo.HeaderConnection) {
		for name := range strings.SplitSeq(line, ",") {
			// The application would not get a header that was read here.
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "", "close", "keep-alive", "upgrade", "http2-settings", "te":
			default:
				return plain(http.StatusBadRequest, "connection", "The Connection header names a header that must arrive.")
			}
		}
	}
	return nil
}

// strictHeaders are those of a guarded request that must not come in a second
// spelling, which CGI and its heirs (WSGI, Rack, PHP) take for the first.
var strictHeaders = map[string]bool{
	"content-type": true, "content-length": true, "content-encoding": true, "transfer-encoding": true,
	"authorization": true, "cookie": true, "x-http-method-override": true, "x-http-method": true, "x-method-override": true,
}

// foreignForm looks for an override in the form of a request whose method no
// rule has, and leaves it readable: it is in memory until it was sent on, and
// release says that it was. Rules read theirs anyway.
func (f *Front) foreignForm(c echo.Context, r *http.Request) (release func(), err error) {
	t := strings.ToLower(strings.Join(r.Header.Values(echo.HeaderContentType), ","))
	if r.ContentLength == 0 || !strings.Contains(t, "form") {
		return func() {}, checkOverride(r, nil)
	}
	body, release, err := f.readBody(c, r)
	if err != nil {
		return release, err
	}
	if err := checkOverride(r, body); err != nil {
		release()
		return func() {}, err
	}
	r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	return release, nil
}

// checkOverride refuses a request that asks for another method than its own.
func checkOverride(r *http.Request, body []byte) error {
	list := queryPairs(r.URL.RawQuery)
	t := strings.ToLower(strings.Join(r.Header.Values(echo.HeaderContentType), ","))
	if len(body) > 0 && strings.Contains(t, "form") {
		if form, _, err := formPairs(r.Header, body); err == nil {
			list = append(list, form...)
		} else if !strings.Contains(t, "multipart") {
			list = append(list, queryPairs(string(body))...)
		} else {
			return refusedAccount(err.Error())
		}
	}
	for name, values := range r.Header {
		for _, v := range values {
			list = append(list, pair{name, v})
		}
	}
	for _, p := range list {
		if slices.ContainsFunc(overrideNames(p.name), isOverride) && !strings.EqualFold(p.value, r.Method) {
			return plain(http.StatusBadRequest, "override", "The method of this request cannot be overridden.")
		}
	}
	return nil
}

// overrideNames returns a name as it is, and without what is in front of its
// first word and behind it, which is how PHP and Rack repair names ([fieldName]).
func overrideNames(name string) []string {
	first := ""
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool {
		return !wordRune(r) && r != '_' && r != '-' && r != '.'
	}) {
		first = word
		break
	}
	return []string{plainHeader(name), plainHeader(first)}
}

func isOverride(name string) bool { return slices.Contains(overrides, name) }

// plainHeader is the name of a header as CGI and its heirs (WSGI, Rack, PHP)
// know it: they do not tell - from _, and some not from a dot.
func plainHeader(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '.' {
			return '-'
		}
		return r
	}, foldWord(name))
}
