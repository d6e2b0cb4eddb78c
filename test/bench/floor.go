package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"

	"github.com/labstack/echo/v4"
)

// floorCheck and floorDecision are the JSON of a check, as plain structures.
type floorCheck struct {
	Account string `json:"account"`
	IP      string `json:"ip"`
	Route   string `json:"route"`
	Device  string `json:"device"`
	Tag     string `json:"password_tag"`
}

type floorDecision struct {
	Decision string `json:"decision"`
	Attempt  string `json:"attempt"`
	Expires  int    `json:"expires_in"`
	Familiar bool   `json:"familiar"`
}

// floorAttempt has the length of a real one.
const floorAttempt = "yQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// serveFloor answers until it is killed: /v1/check decodes and encodes the JSON
// of a check and decides nothing, /login is an application that is told a name
// and a password, and every other listener passes requests on to it.
func serveFloor() error {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.POST("/v1/check", func(c echo.Context) error {
		var q floorCheck
		if err := c.Bind(&q); err != nil {
			return err
		}
		h := c.Response().Header()
		h.Set("Cache-Control", "no-store")
		h.Set("RateLimit-Policy", `"account";q=10;w=21600, "network-host";q=30;w=3600`)
		h.Set("RateLimit", `"account";r=9;t=2160, "network-host";r=29;t=120`)
		return c.JSON(http.StatusOK, floorDecision{"allow", floorAttempt, 120, false})
	})
	e.POST("/login", func(c echo.Context) error {
		var q struct {
			Username string `json:"username"`
			Password string `json:"password"`
		}
		if err := c.Bind(&q); err != nil {
			return err
		}
		return c.JSON(http.StatusOK, map[string]string{"welcome": q.Username})
	})
	direct, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	proxied, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	upstream := &url.URL{Scheme: "http", Host: direct.Addr().String()}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 512
	proxy := echo.New()
	proxy.HideBanner, proxy.HidePort = true, true
	proxy.Any("/*", echo.WrapHandler(&httputil.ReverseProxy{
		Transport: transport,
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(upstream); r.SetXForwarded() },
	}))
	failed := make(chan error, 2)
	go func() { failed <- http.Serve(direct, e) }()
	go func() { failed <- http.Serve(proxied, proxy) }()
	fmt.Printf("floor %s %s\n", direct.Addr(), proxied.Addr())
	return <-failed
}
