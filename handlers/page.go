package handlers

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"path"
	"strings"

	"github.com/labstack/echo/v4"
)

// pagePolicy lets a page of ours load, send and be framed by nothing.
const pagePolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// consolePolicy is that of the operators' page: its own script and style from
// files, its own requests, and nothing written into the page or from elsewhere.
// Its script makes text only, and the browser holds it to that.
const consolePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// pageFiles is the operators' page: a template, and files that are served as
// they are. There is nothing to build, and nothing is loaded from elsewhere.
//
//go:embed page/page.html page/*.css page/*.js
var pageFiles embed.FS

var pageTemplate = template.Must(template.ParseFS(pageFiles, "page/page.html"))

// pageRoutes serves the page at / and its files below /page/.
func (s *Server) pageRoutes(e *echo.Echo) {
	get(e, "/", s.page)
	readers := atMost(maxReaders)
	get(e, "/v1/status", readers(s.status))
	get(e, "/v1/status/history", readers(s.pastStatus))
	entries, err := pageFiles.ReadDir("page")
	if err != nil {
		panic(err) // the directory is part of the program
	}
	for _, entry := range entries {
		if name := "page/" + entry.Name(); path.Ext(name) != ".html" {
			get(e, "/"+name, func(c echo.Context) error { return s.pageFile(c, name) })
		}
	}
}

// page answers / with the page for operators. What it says without a script is
// where to look instead.
func (s *Server) page(c echo.Context) error {
	recordOf(c).silent = true
	up, _ := s.engine.StoreUp()
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, struct {
		Version string
		Up      bool
	}{s.config.Version, up}); err != nil {
		return err
	}
	pageHeaders(c.Response().Header())
	return c.HTMLBlob(http.StatusOK, b.Bytes())
}

// pageFile answers with one of the files of the page.
func (s *Server) pageFile(c echo.Context, name string) error {
	recordOf(c).silent = true
	b, err := pageFiles.ReadFile(name)
	if err != nil {
		return err
	}
	kind := "text/css; charset=utf-8"
	if strings.HasSuffix(name, ".js") {
		kind = "text/javascript; charset=utf-8"
	}
	pageHeaders(c.Response().Header())
	return c.Blob(http.StatusOK, kind, b)
}

// pageHeaders keep the page to itself: no frame around it, no address of it
// sent anywhere, no part of it in a page from elsewhere.
func pageHeaders(h http.Header) {
	h.Set("Content-Security-Policy", consolePolicy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
}

// maxReaders bounds the readings of the metrics in progress, as for /metrics:
// nobody needs a key for them.
const maxReaders = 8

// atMost refuses more than n requests at once.
func atMost(n int) echo.MiddlewareFunc {
	slots := make(chan struct{}, n)
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
				return next(c)
			default:
				return plain(http.StatusServiceUnavailable, "readers", "Too many are reading the status at once. Try again.")
			}
		}
	}
}

// ownPage refuses what a browser says a page from elsewhere made it send. The
// key, or the checks of the Host and the Origin where there is none, would stop
// it, too; this needs neither, and counts for pages on other ports of this
// machine. What is no browser does not send the header.
func ownPage(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		for _, site := range c.Request().Header.Values("Sec-Fetch-Site") {
			if site != "same-origin" && site != "none" {
				return plain(http.StatusForbidden, "origin", "Pages from elsewhere are refused.")
			}
		}
		return next(c)
	}
}
