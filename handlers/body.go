package handlers

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// maxBody is the largest body that is read, in bytes, however it is framed.
const maxBody = 16 << 10

const typeJSON = "application/json"

// decodeBody reads the body of a request into m. The error is a *problem: 415
// for a wrong type or coding, 413 for too much, 400 for anything that is not
// the JSON that was asked for.
func decodeBody(c echo.Context, m value) error {
	r := c.Request()
	if err := checkType(r.Header); err != nil {
		return err
	}
	if r.ContentLength > maxBody {
		return tooLarge()
	}
	// The unwrapped writer lets net/http close the connection of a client
	// that sends on.
	body, err := io.ReadAll(http.MaxBytesReader(c.Response().Writer, r.Body, maxBody))
	if err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return tooLarge()
		}
		// Broken framing: what follows on this connection may be a request
		// that somebody smuggled, so it ends here.
		c.Response().Header().Set(echo.HeaderConnection, "close")
		return plain(http.StatusBadRequest, "framing", "The body could not be read to its end.")
	}
	if err := decodeObject(body, m); err != nil {
		return plain(http.StatusBadRequest, "json", err.Error())
	}
	return nil
}

// checkType refuses what does not say that it is plain JSON. A type that is
// guessed wrong would read an empty account out of every form.
func checkType(h http.Header) error {
	coding := strings.Join(h.Values(echo.HeaderContentEncoding), ",")
	if coding != "" && !strings.EqualFold(coding, "identity") {
		return plain(http.StatusUnsupportedMediaType, "content_encoding", "The body must be sent without a Content-Encoding.")
	}
	values := h.Values(echo.HeaderContentType)
	if len(values) == 1 {
		t, params, err := mime.ParseMediaType(values[0])
		charset, ok := params["charset"]
		if err == nil && t == typeJSON &&
			(len(params) == 0 || len(params) == 1 && ok && strings.EqualFold(charset, "utf-8")) {
			return nil
		}
	}
	return plain(http.StatusUnsupportedMediaType, "content_type",
		"The Content-Type must be application/json. (curl -d sends a form; curl --json sends JSON.)")
}

// tooLarge says the bound, so that a caller can keep to it.
func tooLarge() error {
	return plain(http.StatusRequestEntityTooLarge, "size", "The body may have at most 16384 bytes.")
}
