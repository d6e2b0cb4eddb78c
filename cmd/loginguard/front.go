package main

import (
	"loginguard/cmd/loginguard/config"
	"loginguard/handlers"
)

// frontConfig lays the configuration of the front out as the handlers want it.
func frontConfig(c *config.Config) handlers.FrontConfig {
	f := handlers.FrontConfig{
		Upstream: c.Front.Upstream, Realm: c.Front.Realm, PassThrough: c.Front.PassThrough,
		DeviceCookie: c.Front.DeviceCookie, MaxInFlight: c.Server.MaxInFlight,
	}
	for _, r := range c.Front.Rules {
		f.Rules = append(f.Rules, handlers.FrontRule{
			Methods: r.Methods, Path: r.Path, Route: r.Route,
			Account: handlers.FrontAccount(r.Account),
			Success: frontMatch(r.Success), Failure: frontMatch(r.Failure),
		})
	}
	return f
}

func frontMatch(r config.FrontResponse) handlers.FrontMatch {
	return handlers.FrontMatch{Status: r.Status, Header: r.Header.Name, Contains: r.Header.Contains}
}

func init() {
	config.CheckUpstream = handlers.CheckUpstream
	config.CheckFrontPath = handlers.CheckFrontPath
	config.CheckPointer = handlers.CheckPointer
}
